"""Packed sequences in the dynamic recurrent layers; states of old versions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

dynamic = nn.quantized.dynamic


def _layer(name: str, **options: Any) -> Any:
    source = getattr(nn, name)(3, 4, **options)
    source.qconfig = pyqref.quantization.default_dynamic_qconfig
    return getattr(dynamic, name).from_float(source)


def _randn(seed: int, *shape: int) -> pyqref.Tensor:
    return pyqref.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}], ids=str)
def test_equal_lengths_are_a_padded_batch(name: str, options: dict[str, Any]) -> None:
    layer, x = _layer(name, **options), _randn(0, 5, 3, 3)
    expected, expected_states = layer(x)
    output, states = layer(pack_padded_sequence(x, pyqref.tensor([5, 5, 5])))
    assert expected.reshape(15, -1).tolist() == output.data.tolist()
    both = (states, expected_states) if name == "GRU" else (states[1], expected_states[1])
    assert both[1].tolist() == both[0].tolist()


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_a_single_sequence_of_each_length(name: str) -> None:
    """The last state of a sequence is that of its last step; order is put back."""
    layer, x = _layer(name), _randn(1, 4, 3, 3)
    lengths = [2, 4, 1]
    packed = pack_padded_sequence(x, pyqref.tensor(lengths), enforce_sorted=False)
    output, states = layer(packed)
    padded, found = pad_packed_sequence(output)
    assert lengths == found.tolist()
    hidden = states[0] if name == "LSTM" else states
    for index, length in enumerate(lengths):
        assert padded[length - 1, index].tolist() == hidden[0, index].tolist()
        assert not padded[length:, index].any().item()


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
def test_a_given_state_belongs_to_its_sequence(name: str) -> None:
    """Permuting sequences and states permutes the results."""
    layer, x, h = _layer(name), _randn(2, 4, 3, 3), _randn(3, 1, 3, 4)
    order = pyqref.tensor([2, 0, 1])
    lengths = pyqref.tensor([4, 2, 3])

    def run(x: Any, lengths: Any, h: Any) -> Any:
        packed = pack_padded_sequence(x, lengths, enforce_sorted=False)
        return pad_packed_sequence(layer(packed, (h, h) if name == "LSTM" else h)[0])[0]

    expected = run(x, lengths, h)
    permuted = run(x[:, order], lengths[order], h[:, order])
    assert expected[:, order].tolist() == permuted.tolist()


def test_errors() -> None:
    packed = pack_padded_sequence(_randn(4, 2, 2, 5), pyqref.tensor([2, 1]))
    with pytest.raises(RuntimeError, match="Expected 3, got 5"):
        _layer("GRU")(packed)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("cls", [nn.quantized.Linear, nn.intrinsic.quantized.LinearReLU])
def test_old_states_of_linear_layers(version: int, cls: Any) -> None:
    """Version 1 has weight and bias beside the scale, version 2 under _packed_params."""
    weight = pyqref.quantize_per_tensor(_randn(5, 2, 3), 0.02, 0, pyqref.qint8)
    layer = cls(3, 2)
    layer.set_weight_bias(weight, pyqref.tensor([1.0, 2.0]))
    layer.scale, layer.zero_point = 0.5, 3
    where = "" if version == 1 else "_packed_params."
    old = {
        "scale": pyqref.tensor(0.5),
        "zero_point": pyqref.tensor(3),
        where + "weight": weight,
        where + "bias": pyqref.tensor([1.0, 2.0]),
    }
    if version == 2:
        old[where + "dtype"] = pyqref.qint8
    other = cls(3, 2)
    assert "<All keys matched successfully>" == str(other.load_state_dict(old))
    assert weight.int_repr().tolist() == other.weight().int_repr().tolist()
    assert ([1.0, 2.0], 0.5, 3) == (other.bias().tolist(), other.scale, other.zero_point)
    below = nn.Sequential(cls(3, 2))
    below.load_state_dict({f"0.{key}": value for key, value in old.items()})
    assert weight.int_repr().tolist() == below[0].weight().int_repr().tolist()


@pytest.mark.parametrize("name", ["LSTM", "GRU"])
@pytest.mark.parametrize("sizes", [[], [5, 5], [2, 3], [4, 0], [6, -1], [1, 1]], ids=str)
def test_batch_sizes_that_do_not_fit_the_data(name: str, sizes: list[int]) -> None:
    """A packed sequence put together by hand is checked before memory is touched."""
    wrong = PackedSequence(_randn(4, 5, 3), pyqref.tensor(sizes, dtype=pyqref.int64))
    with pytest.raises(RuntimeError, match="batch_sizes must be positive, never grow, and add up"):
        _layer(name)(wrong)
