"""Documented values and edges of the functional forms, by hand or by plain loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F


def _tensor(array: object, **kwargs: object) -> pyqref.Tensor:
    return pyqref.tensor(array, **kwargs)


@pytest.mark.parametrize(
    ("function", "points", "slopes"),
    [
        (F.relu, [-1.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
        (F.relu6, [0.0, 3.0, 6.0], [0.0, 1.0, 0.0]),
        (F.hardtanh, [-1.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
        (F.hardswish, [-3.0, 0.0, 3.0], [0.0, 0.5, 1.0]),
        (F.hardsigmoid, [-3.0, 3.0], [0.0, 0.0]),
        (F.leaky_relu, [-1.0, 0.0], [0.01, 0.01]),
        (F.hardshrink, [-0.5, 0.5], [0.0, 0.0]),
        (F.softshrink, [-0.5, 0.5], [0.0, 0.0]),
    ],
)
def test_slopes_at_kinks(function, points: list, slopes: list) -> None:
    """At a kink the slope is that of the side which torch 2.13 takes."""
    x = _tensor(points, requires_grad=True)
    function(x).sum().backward()
    assert np.float32(slopes).tolist() == x.grad.tolist()


def test_activations_do_not_overflow() -> None:
    """Large arguments give the limits, without a warning."""
    x = _tensor([-1e4, -200.0, 200.0, 1e4])
    assert [0.0, 0.0, 1.0, 1.0] == F.sigmoid(x).tolist()
    assert [0.0, 0.0, 200.0, 1e4] == F.softplus(x).tolist()
    assert [-1e4, -200.0, 0.0, 0.0] == F.logsigmoid(x).tolist()
    assert [0.0, 0.0, 0.0, 1.0] == F.softmax(x, 0).tolist()
    assert [-2e4, -10200.0, -9800.0, 0.0] == F.log_softmax(x, 0).tolist()


def test_relu_passes_nan_and_integers() -> None:
    """Nan stays nan; integers stay integers."""
    assert np.isnan(F.relu(_tensor(float("nan"))).item())
    assert [0, 2] == F.relu(_tensor([-1, 2])).tolist()


def test_inplace_changes_the_input_and_its_gradient() -> None:
    """``inplace=True`` stores the result in the input, and gradients flow through it."""
    leaf = _tensor([-1.0, 2.0, 7.0], requires_grad=True)
    x = leaf * 2
    y = F.relu6(x, inplace=True)
    assert y is x
    assert [0.0, 4.0, 6.0] == x.tolist()
    y.sum().backward()
    assert [0.0, 2.0, 0.0] == leaf.grad.tolist()


def _conv2d_loops(x, w, stride, padding, dilation, groups):
    """The definition, one product at a time, in double."""
    x = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    n, _, height, width = x.shape
    out, per_group, kh, kw = w.shape
    rows = (height - dilation * (kh - 1) - 1) // stride + 1
    columns = (width - dilation * (kw - 1) - 1) // stride + 1
    y = np.zeros((n, out, rows, columns))
    for b, o, i, j in itertools.product(range(n), range(out), range(rows), range(columns)):
        first = o // (out // groups) * per_group
        for c, k, m in itertools.product(range(per_group), range(kh), range(kw)):
            pixel = x[b, first + c, i * stride + k * dilation, j * stride + m * dilation]
            y[b, o, i, j] += pixel * w[o, c, k, m]
    return y


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (1, 2, 2)])
def test_conv2d_is_its_definition(groups: int, stride: int, padding: int, dilation: int) -> None:
    """Equation of the convolution, with groups, against a plain loop; exact on small integers."""
    rng = np.random.default_rng(groups)
    x = rng.integers(-4, 5, (2, 4, 6, 5)).astype(np.float32)
    w = rng.integers(-4, 5, (4, 4 // groups, 3, 2)).astype(np.float32)
    y = F.conv2d(
        pyqref.from_numpy(x), pyqref.from_numpy(w), None, stride, padding, dilation, groups
    )
    assert np.array_equal(_conv2d_loops(x, w, stride, padding, dilation, groups), y.numpy())


@pytest.mark.parametrize("groups", [1, 2])
def test_conv_transpose_is_the_adjoint(groups: int) -> None:
    """``<conv(x), y> == <x, conv_transpose(y)>``; exact on small integers."""
    rng = np.random.default_rng(groups)
    x = pyqref.from_numpy(rng.integers(-4, 5, (2, 4, 7, 5)).astype(np.float32))
    w = pyqref.from_numpy(rng.integers(-4, 5, (6, 4 // groups, 3, 3)).astype(np.float32))
    convolved = F.conv2d(x, w, None, 2, 1, 1, groups)
    y = pyqref.from_numpy(rng.integers(-4, 5, tuple(convolved.shape)).astype(np.float32))
    back = F.conv_transpose2d(y, w, None, 2, 1, 0, groups)
    assert back.shape == x.shape
    assert (convolved * y).sum().item() == (x * back).sum().item()


@pytest.mark.parametrize("batch", [0, 1])
@pytest.mark.parametrize("size", [3, 4])
def test_convolution_at_the_edges(batch: int, size: int) -> None:
    """An empty batch, and an input of just the kernel's size or one more."""
    x = pyqref.zeros(batch, 2, size, size, requires_grad=True)
    w = pyqref.ones(4, 2, 3, 3, requires_grad=True)
    y = F.conv2d(x, w)
    assert (batch, 4, size - 2, size - 2) == tuple(y.shape)
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert w.grad.shape == w.shape
    z = F.conv_transpose2d(y, w)
    assert (batch, 2, size, size) == tuple(z.shape)


def test_same_padding_puts_the_odd_one_after() -> None:
    """``padding="same"`` with an even kernel pads one more on the right."""
    y = F.conv1d(_tensor([[[1.0, 2.0, 3.0]]]), _tensor([[[1.0, 10.0]]]), padding="same")
    assert [[[21.0, 32.0, 3.0]]] == y.tolist()


def test_max_pool_keeps_nan_and_the_first_of_equals() -> None:
    """Nan wins; among equals the first place is returned and gets the gradient."""
    x = _tensor([[1.0, 1.0, float("nan"), 2.0]], requires_grad=True)
    y, places = F.max_pool1d(x, 2, return_indices=True)
    assert [0, 2] == places[0].tolist()
    assert y[0, 0].item() == 1.0
    assert np.isnan(y[0, 1].item())
    y[0, 0].backward()
    assert [[1.0, 0.0, 0.0, 0.0]] == x.grad.tolist()


def test_max_pool_padding_never_wins() -> None:
    """The padding of max pooling is minus infinity, also for integers."""
    x = _tensor([[[-5.0, -6.0, -7.0]]])
    assert [[[-5.0, -6.0]]] == F.max_pool1d(x, 2, 2, 1).tolist()
    assert [[[-5, -6]]] == F.max_pool1d(x.to(pyqref.int32), 2, 2, 1).tolist()


@pytest.mark.parametrize(
    ("length", "ceil_mode", "expected"),
    [(4, False, 2), (4, True, 2), (5, False, 2), (5, True, 3), (6, True, 3)],
)
def test_ceil_mode(length: int, ceil_mode: bool, expected: int) -> None:
    """A last window reaches past the end only with ``ceil_mode``."""
    x = pyqref.zeros(1, 1, length)
    assert expected == F.max_pool1d(x, 2, ceil_mode=ceil_mode).shape[-1]
    assert expected == F.avg_pool1d(x, 2, ceil_mode=ceil_mode).shape[-1]


def test_ceil_mode_window_must_start_inside() -> None:
    """A window that would start in the right padding is left out."""
    assert 2 == F.max_pool1d(pyqref.zeros(1, 1, 3), 2, 2, 1, ceil_mode=True).shape[-1]


def test_avg_pool_counts() -> None:
    """The padding counts, or not, or the divisor is given."""
    x = pyqref.ones(1, 2, 2)
    assert 0.25 == F.avg_pool2d(x, 2, 2, 1)[0, 0, 0].item()
    assert 1.0 == F.avg_pool2d(x, 2, 2, 1, count_include_pad=False)[0, 0, 0].item()
    assert 0.5 == F.avg_pool2d(x, 2, 2, 1, divisor_override=2)[0, 0, 0].item()


def test_adaptive_windows() -> None:
    """Window ``i`` of ``n`` goes from ``floor(i L / n)`` to ``ceil((i + 1) L / n)``."""
    x = pyqref.arange(5, dtype=pyqref.float32).reshape(1, 5)
    assert [[0.5, 2.0, 3.5]] == F.adaptive_avg_pool1d(x, 3).tolist()
    assert [[1.0, 3.0, 4.0]] == F.adaptive_max_pool1d(x, 3).tolist()
    assert [[0.0, 1.0, 2.0, 3.0, 4.0]] == F.adaptive_avg_pool1d(x, 5).tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_adaptive_max_pool_finds_the_last_nan(size: int) -> None:
    """A nan wins over everything and over nan before it, in equal and in unequal windows."""
    nan = float("nan")
    x = pyqref.tensor([[nan, 5.0, nan, 1.0, 9.0]], requires_grad=True)
    y, places = F.adaptive_max_pool1d(x, size, return_indices=True)
    assert np.isnan(y.tolist()[0][0])
    assert places.tolist()[0] == [2, 2][:size]
    y[0, 0].backward()
    assert [[0.0, 0.0, 1.0, 0.0, 0.0]] == x.grad.tolist()


def test_adaptive_windows_of_one_element() -> None:
    """Each is its own mean: an infinite neighbour makes no nan of it, and a zero keeps its sign."""
    x = pyqref.tensor([[-0.0, float("inf"), 2.0], [1.0, 2.0, 4.0]], requires_grad=True)
    y = F.adaptive_avg_pool2d(x[None], (2, 3))
    assert pyqref.equal(x[None], y)
    assert math.copysign(1, y[0, 0, 0].item()) == -1
    y.sum().backward()
    assert pyqref.equal(pyqref.ones(2, 3), x.grad)
    half = F.adaptive_avg_pool2d(pyqref.tensor([[[1.0, 3.0], [5.0, 9.0]]]), (1, 2))
    assert [[[3.0, 6.0]]] == half.tolist()


def test_batch_norm_running_statistics() -> None:
    """``(1 - momentum) * running + momentum * batch``, with the unbiased variance."""
    mean, var = pyqref.zeros(1), pyqref.ones(1)
    x = _tensor([[1.0], [3.0]])
    y = F.batch_norm(x, mean, var, training=True, momentum=0.25, eps=3.0)
    assert [[-0.5], [0.5]] == y.tolist()
    assert [0.5] == mean.tolist()
    assert [0.75 + 0.25 * 2.0] == var.tolist()
    assert [[1.0], [3.0]] == F.batch_norm(x, pyqref.zeros(1), pyqref.ones(1), eps=0.0).tolist()


@pytest.mark.parametrize(("training", "eps"), [(True, 0.0), (True, -1.0), (False, -1.0)])
def test_batch_norm_refuses_an_eps_that_is_too_small(training: bool, eps: float) -> None:
    """An ``eps`` of 0 is refused, as in torch: a batch of equal values would divide by zero."""
    moments = pyqref.zeros(1), pyqref.ones(1)
    with pytest.raises(ValueError, match=rf"eps must be .*, got {eps}"):
        F.batch_norm(_tensor([[1.0], [3.0]]), *moments, training=training, eps=eps)
    assert [0.0] == moments[0].tolist()


def test_momentum_none_is_the_plain_average() -> None:
    """With ``momentum=None`` the running mean is the mean of all batches."""
    layer = pyqref.nn.BatchNorm1d(1, momentum=None)
    for batch in ([[1.0], [3.0]], [[5.0], [7.0]], [[0.0], [0.0]]):
        layer(_tensor(batch))
    assert abs(layer.running_mean.item() - 8 / 3) <= 4 * np.finfo(np.float32).eps
    assert 3 == layer.num_batches_tracked.item()
    layer.reset_running_stats()
    assert (0.0, 1.0, 0) == (
        layer.running_mean.item(),
        layer.running_var.item(),
        layer.num_batches_tracked.item(),
    )


def test_batch_norm_state_of_before_version_2() -> None:
    """A state without ``num_batches_tracked`` and version loads; the count starts at 0."""
    layer = pyqref.nn.BatchNorm1d(2)
    state = layer.state_dict()
    del state["num_batches_tracked"]
    old = dict(state)
    other = pyqref.nn.BatchNorm1d(2)
    other.load_state_dict(old)
    assert 0 == other.num_batches_tracked.item()


def test_cross_entropy_forms() -> None:
    """Indices and one-hot probabilities agree; ignored places count nowhere; none left is nan."""
    x = _tensor([[1.0, 2.0, 0.5], [0.1, 0.2, 3.0]])
    target = _tensor([1, 2])
    by_index = F.cross_entropy(x, target)
    by_probability = F.cross_entropy(x, F.one_hot(target, 3).to(pyqref.float32))
    assert abs(by_index.item() - by_probability.item()) <= 4 * np.finfo(np.float32).eps
    first = F.cross_entropy(x[:1], target[:1]).item()
    assert first == F.cross_entropy(x, _tensor([1, -100])).item()
    assert np.isnan(F.cross_entropy(x, _tensor([-100, -100])).item())
    unbatched = F.cross_entropy(x[0], target[0]).item()
    assert abs(first - unbatched) <= 2 * np.finfo(np.float32).eps


def test_dropout() -> None:
    """Kept elements are divided by ``1 - p``; whole channels go together; eval changes nothing."""
    pyqref.manual_seed(0)
    x = pyqref.ones(1000, requires_grad=True)
    y = F.dropout(x, 0.75)
    assert {0.0, 4.0} == set(y.tolist())
    y.sum().backward()
    assert y.tolist() == x.grad.tolist()
    channels = F.dropout2d(pyqref.ones(8, 8, 3, 3), 0.5)
    assert {0.0, 18.0} == set(channels.sum((2, 3)).reshape(-1).tolist())
    assert F.dropout(x, 0.5, training=False) is x
    assert 0.0 == F.dropout(x, 1.0).sum().item()


def test_embedding_gradients() -> None:
    """Rows gather the gradients of all their look-ups; the padding row gets none."""
    weight = pyqref.ones(4, 2, requires_grad=True)
    F.embedding(_tensor([1, 1, 3]), weight, padding_idx=3).sum().backward()
    assert [[0, 0], [2, 2], [0, 0], [0, 0]] == weight.grad.tolist()


def test_embedding_max_norm_changes_the_table() -> None:
    """Rows that are looked up and too long are shortened in the table itself."""
    weight = _tensor([[3.0, 4.0], [3.0, 4.0], [0.3, 0.4]])
    F.embedding(_tensor([0, 2]), weight, max_norm=1.0)
    lengths = weight.norm(2, 1).tolist()
    assert abs(lengths[0] - 1.0) <= 1e-6
    assert [5.0, 0.5] == lengths[1:]


def test_one_hot() -> None:
    """One at the index, zero elsewhere, int64."""
    assert [[0, 1, 0], [0, 0, 1]] == F.one_hot(_tensor([1, 2])).tolist()
    assert pyqref.int64 is F.one_hot(_tensor([1]), 4).dtype


def test_nearest_index_is_computed_in_float32() -> None:
    """Nearest neighbour: ``floor(i * scale)``, with the scale given or the ratio of the sizes."""
    x = pyqref.arange(3, dtype=pyqref.float32).reshape(1, 1, 3)
    assert [0, 0, 1, 1, 2] == F.interpolate(x, size=5)[0, 0].tolist()
    assert [0, 0, 0, 1, 1, 2, 2] == F.interpolate(x, scale_factor=2.4)[0, 0].tolist()


def test_pixel_shuffle_round_trip() -> None:
    """Unshuffling undoes shuffling; shuffling channels by 2 and then C/2 undoes itself."""
    x = pyqref.arange(48, dtype=pyqref.float32).reshape(1, 12, 2, 2)
    assert x.tolist() == F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2).tolist()
    assert x.tolist() == F.channel_shuffle(F.channel_shuffle(x, 2), 6).tolist()


def test_fold_is_the_adjoint_of_unfold() -> None:
    """Folding what was unfolded multiplies each pixel by the number of its windows."""
    x = pyqref.ones(1, 1, 3, 3)
    counts = F.fold(F.unfold(x, 2), (3, 3), 2)
    assert [[1, 2, 1], [2, 4, 2], [1, 2, 1]] == counts[0, 0].tolist()


def test_normalize_and_similarity() -> None:
    """Vectors of length 1; parallel vectors have similarity 1; zero vectors stay zero."""
    x = _tensor([[3.0, 4.0], [0.0, 0.0]])
    expected = np.float32([[0.6, 0.8], [0.0, 0.0]])
    np.testing.assert_allclose(F.normalize(x).numpy(), expected, rtol=2e-7)
    assert [1.0, 0.0] == F.cosine_similarity(x, 2 * x).tolist()


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3), (0, 3)])
def test_linear_of_one_output_without_axis(shape: tuple[int, ...]) -> None:
    """A weight of one axis: sums along the last one, and their gradients."""
    weight = pyqref.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = pyqref.ones(shape)
    y = F.linear(x, weight, pyqref.tensor(0.5))
    assert np.full(shape[:-1], 6.5).tolist() == y.tolist()
    y.sum().backward()
    assert [float(y.numel())] * 3 == weight.grad.tolist()


@pytest.mark.parametrize("no", [False, 0])
@pytest.mark.filterwarnings("ignore:size_average")
def test_deprecated_arguments_of_losses(no: bool) -> None:
    """Whatever is false is no average; no reduction is each loss."""
    x, y = _tensor([1.0, 3.0]), _tensor([0.0, 0.0])
    assert 10.0 == F.mse_loss(x, y, size_average=no).item()
    assert [1.0, 9.0] == F.mse_loss(x, y, reduce=no).tolist()
    assert 5.0 == F.mse_loss(x, y, size_average=True).item()


def test_divergence_of_a_negative_target_is_none() -> None:
    """A probability has a logarithm, or is 0."""
    x, target = _tensor([0.0, 0.0]), _tensor([-0.5, 0.0])
    y = F.kl_div(x, target, reduction="none").tolist()
    assert (True, 0.0) == (np.isnan(y[0]), y[1])


def test_upsample_takes_a_list_of_scale_factors() -> None:
    """It gives what a tuple gives, the only sequence that torch takes."""
    x = pyqref.rand(1, 2, 2, 3)
    of_list, of_tuple = (
        pyqref.nn.Upsample(scale_factor=kind([2.0, 1.0])) for kind in (list, tuple)
    )
    assert (1, 2, 4, 3) == of_list(x).shape
    assert of_list(x).equal(of_tuple(x))
