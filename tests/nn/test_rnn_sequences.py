"""Packed sequences, directions and cells: recurrent layers against each other."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.nn.utils import rnn as sequences

LENGTHS = [2, 5, 3]
#: A step has at most 8 features and 10 roundings, a sequence 5 steps.
BOUND = 5 * 20 * float(np.finfo(np.float32).eps)


def _sequences() -> list[pyqref.Tensor]:
    rng = np.random.default_rng(0)
    return [pyqref.from_numpy(rng.standard_normal((n, 4)).astype(np.float32)) for n in LENGTHS]


def _close(expected: pyqref.Tensor, actual: pyqref.Tensor) -> None:
    assert expected.shape == actual.shape
    assert float((expected - actual).abs().max()) <= BOUND


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_packed_sequences_run_as_if_alone(kind: str) -> None:
    """Each sequence of a packed batch gives what it gives alone, in both directions."""
    pyqref.manual_seed(0)
    layer = getattr(nn, kind)(4, 3, num_layers=2, bidirectional=True)
    alone = _sequences()
    packed = sequences.pack_sequence(alone, enforce_sorted=False)
    output, state = layer(packed)
    padded, lengths = sequences.pad_packed_sequence(output)
    assert LENGTHS == lengths.tolist()
    for index, x in enumerate(alone):
        expected, expected_state = layer(x)
        _close(expected, padded[: LENGTHS[index], index])
        pairs = zip(expected_state, state) if kind == "LSTM" else [(expected_state, state)]  # noqa: B905
        for theirs, ours in pairs:
            _close(theirs, ours[:, index])


def test_packed_gradients_reach_only_real_steps() -> None:
    """The padding gets no gradient, every real step does."""
    x = pyqref.ones(3, 5, 4, requires_grad=True)
    packed = sequences.pack_padded_sequence(x, LENGTHS, batch_first=True, enforce_sorted=False)
    output, _ = nn.LSTM(4, 3)(packed)
    output.data.sum().backward()
    reached = (x.grad.abs().sum(2) > 0).tolist()
    assert [[step < n for step in range(5)] for n in LENGTHS] == reached


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_cell_is_one_step(kind: str) -> None:
    """A cell with the weights of a layer, stepped by hand, gives the layer's output."""
    pyqref.manual_seed(0)
    layer, cell = getattr(nn, kind)(4, 3), getattr(nn, f"{kind}Cell")(4, 3)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x = pyqref.from_numpy(np.random.default_rng(0).standard_normal((5, 2, 4)).astype(np.float32))
    expected, _ = layer(x)
    state = None
    for step in range(5):
        state = cell(x[step], state)
        _close(expected[step], state[0] if kind == "LSTM" else state)


def test_initial_state_is_used_and_gets_gradients() -> None:
    """The output depends on the first state, and the gradient reaches it."""
    layer = nn.GRU(4, 3, bidirectional=True)
    h = pyqref.ones(2, 2, 3, requires_grad=True)
    x = pyqref.zeros(5, 2, 4)
    output, _ = layer(x, h)
    assert not pyqref.equal(output, layer(x)[0])
    output.sum().backward()
    assert bool((h.grad != 0).all())


def test_dropout_lies_between_layers() -> None:
    """With ``dropout=1`` the second layer sees zeros, in training only."""
    pyqref.manual_seed(0)
    layer = nn.LSTM(4, 3, 2, dropout=1.0)
    first, second = pyqref.zeros(5, 2, 4), pyqref.ones(5, 2, 4)
    assert pyqref.equal(layer(first)[0], layer(second)[0])
    layer.eval()
    assert not pyqref.equal(layer(first)[0], layer(second)[0])


def test_pad_sequence_sides() -> None:
    """Padding goes to the right, or to the left."""
    parts = [pyqref.tensor([1, 2]), pyqref.tensor([3])]
    assert [[1, 3], [2, 0]] == sequences.pad_sequence(parts).tolist()
    left = sequences.pad_sequence(parts, batch_first=True, padding_value=9, padding_side="left")
    assert [[1, 2], [9, 3]] == left.tolist()


def test_unpack_is_the_inverse_of_pack() -> None:
    """Sequences come back in their order."""
    parts = _sequences()
    back = sequences.unpack_sequence(sequences.pack_sequence(parts, enforce_sorted=False))
    assert all(pyqref.equal(a, b) for a, b in zip(parts, back, strict=True))


@pytest.mark.parametrize(
    ("lengths", "message"),
    [([1, 3], "sorted"), ([3, 0], "greater than 0"), ([4, 1], "up to the 3"), ([3], "batch_size")],
)
def test_bad_lengths(lengths: list[int], message: str) -> None:
    """Lengths that are unsorted, zero, too long or too few are named."""
    with pytest.raises(RuntimeError, match=message):
        sequences.pack_padded_sequence(pyqref.zeros(3, 2, 4), lengths)


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_the_same_bits_without_gradients(kind: str) -> None:
    """Without gradients nothing is kept for them, and that changes no result."""
    pyqref.manual_seed(0)
    layer = getattr(nn, kind)(4, 3, num_layers=2, bidirectional=True)
    packed = sequences.pack_sequence(_sequences(), enforce_sorted=False)
    expected, _ = layer(packed)
    with pyqref.no_grad():
        actual, _ = layer(packed)
    assert np.array_equal(expected.data.detach().numpy(), actual.data.numpy())


@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_steps_of_other_types_have_the_same_equation(kind: str) -> None:
    """Steps of float32 are worked out by kernels, those of float64 by NumPy."""
    pyqref.manual_seed(0)
    layer, x = getattr(nn, kind)(4, 3), _sequences()[1]
    expected, _ = layer(x)
    actual, _ = layer.double()(x.double())
    _close(expected.double(), actual)
