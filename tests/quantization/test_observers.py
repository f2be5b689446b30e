"""Observers: the ranges they find, the parameters that follow, the state they keep."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest
from quantization.samples import PER_CHANNEL, PER_TENSOR, RANGED, normal

import pyqref
from pyqref import quantization as q
from pyqref.quantization.observer import UncalibratedWarning


def test_min_max_keeps_the_extremes_of_all_tensors() -> None:
    """Documented: x_min = min(x_min, min(X)), x_max = max(x_max, max(X))."""
    observer = q.MinMaxObserver()
    for low, high in ((-1.0, 2.0), (0.0, 5.0), (-0.5, 0.5)):
        observer(pyqref.tensor([low, high]))
    assert (-1.0, 5.0) == (observer.min_val.item(), observer.max_val.item())


def test_min_max_affine_parameters() -> None:
    """``eq-affine-qparams``: a range of 256 steps of 1 around zero."""
    observer = q.MinMaxObserver()
    observer(pyqref.tensor([-2.5, 252.5]))
    scale, zero_point = observer.calculate_qparams()
    assert ([1.0], [2]) == (scale.tolist(), zero_point.tolist())
    assert (pyqref.float32, pyqref.int32) == (scale.dtype, zero_point.dtype)


@pytest.mark.parametrize(("dtype", "zero_point"), [(pyqref.qint8, 0), (pyqref.quint8, 128)])
def test_min_max_symmetric_parameters(dtype: pyqref.dtype, zero_point: int) -> None:
    """``eq-symmetric-scale``: half of the whole range divides, 127.5."""
    observer = q.MinMaxObserver(dtype=dtype, qscheme=pyqref.per_tensor_symmetric)
    observer(pyqref.tensor([-255.0, 1.0]))
    scale, found = observer.calculate_qparams()
    assert ([2.0], [zero_point]) == (scale.tolist(), found.tolist())
    assert pyqref.int64 == found.dtype


def test_moving_average_follows_the_formula() -> None:
    """Documented: x_min = (1 - c) x_min + c min(X), the first tensor as it is."""
    observer = q.MovingAverageMinMaxObserver(averaging_constant=0.25)
    observer(pyqref.tensor([0.0, 4.0]))
    observer(pyqref.tensor([-4.0, 8.0]))
    assert (-1.0, 5.0) == (observer.min_val.item(), observer.max_val.item())


def test_per_channel_keeps_a_range_for_each_channel() -> None:
    """Documented: as MinMaxObserver, along ch_axis."""
    observer = q.PerChannelMinMaxObserver(ch_axis=1)
    observer(pyqref.tensor([[0.0, 10.0], [1.0, -20.0]]))
    observer(pyqref.tensor([[-3.0, 0.0], [0.0, 0.0]]))
    assert ([-3.0, -20.0], [1.0, 10.0]) == (observer.min_val.tolist(), observer.max_val.tolist())


def test_a_negative_axis_counts_from_the_end() -> None:
    observer = q.PerChannelMinMaxObserver(ch_axis=-1)
    observer(pyqref.tensor([[1.0, 2.0, 3.0]]))
    assert [1.0, 2.0, 3.0] == observer.min_val.tolist()


@pytest.mark.parametrize("axis", [0, -1, 1])
@pytest.mark.parametrize(
    "kind", [q.PerChannelMinMaxObserver, q.MovingAveragePerChannelMinMaxObserver]
)
def test_one_number_has_no_channels(kind: type[q.PerChannelMinMaxObserver], axis: int) -> None:
    """It is an IndexError, as in torch."""
    observer = kind(ch_axis=axis)
    with pytest.raises(IndexError, match="none of the input, which has no dimensions"):
        observer(pyqref.tensor(1.0))
    assert observer.min_val.numel() == 0


def test_moving_average_per_channel() -> None:
    """``eq-average-range`` in each channel."""
    observer = q.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.5)
    observer(pyqref.tensor([[0.0, 2.0], [1.0, 1.0]]))
    observer(pyqref.tensor([[2.0, 4.0], [0.0, 3.0]]))
    assert ([1.0, 0.5], [3.0, 2.0]) == (observer.min_val.tolist(), observer.max_val.tolist())


def test_histogram_counts_every_element() -> None:
    """``eq-histogram-bin``: the last edge belongs to the last bin."""
    observer = q.HistogramObserver(bins=4)
    observer(pyqref.tensor([0.0, 1.0, 2.0, 4.0, 4.0]))
    assert [1.0, 1.0, 1.0, 2.0] == observer.histogram.tolist()


def test_histogram_gives_up_a_lonely_outlier() -> None:
    """Documented: the range that minimises the quantization error, not the whole one."""
    observer = q.HistogramObserver()
    x = np.linspace(0, 1, 500_000, dtype=np.float32)
    observer(pyqref.from_numpy(np.append(x, np.float32(2.0))))
    scale, _ = observer.calculate_qparams()
    assert 0.99 < 255 * scale.item() < 1.5


def test_histogram_memory_is_bounded() -> None:
    """Whatever the data: the number of bins stays, also when the range explodes."""
    observer = q.HistogramObserver(bins=16)
    for exponent in range(-30, 31, 5):
        observer(pyqref.tensor([-(10.0**exponent), 10.0**exponent]))
        assert (16,) == tuple(observer.histogram.shape)
    assert 26.0 == pytest.approx(observer.histogram.sum().item())


@pytest.mark.parametrize(
    "arguments",
    [
        (8, 128, pyqref.qint8, pyqref.per_tensor_symmetric, True),
        (8, pyqref.qint8, pyqref.per_tensor_symmetric, True),
    ],
    ids=["documented", "torch 2.13"],
)
def test_histogram_takes_both_orders_of_arguments(arguments: tuple[object, ...]) -> None:
    observer = q.HistogramObserver(*arguments)
    expected = (8, pyqref.qint8, pyqref.per_tensor_symmetric, True)
    assert expected == (observer.bins, observer.dtype, observer.qscheme, observer.reduce_range)


@pytest.mark.parametrize("make", RANGED)
def test_constant_data_gives_scale_one(make: type) -> None:
    """Documented: where minimum equals maximum, scale is 1.0 and zero_point 0."""
    observer = make()
    observer(pyqref.full((2, 3), 7.0))
    scale, zero_point = observer.calculate_qparams()
    assert ({1.0}, {0}) == (set(scale.tolist()), set(zero_point.tolist()))


def test_constant_data_under_the_conventions_of_torch() -> None:
    """In torch 2.13 the formula applies: 0..7 in 255 steps."""
    pyqref.backends.quantized.conventions = "torch"
    observer = q.MinMaxObserver()
    observer(pyqref.full((3,), 7.0))
    assert np.float32(7) / np.float32(255) == observer.calculate_qparams()[0].item()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0, 255)),
        ({"reduce_range": True}, (0, 127)),
        ({"dtype": pyqref.qint8}, (-128, 127)),
        ({"dtype": pyqref.qint8, "reduce_range": True}, (-64, 63)),
        ({"dtype": pyqref.qint32}, (-(2**31), 2**31 - 1)),
        ({"dtype": pyqref.qint32, "reduce_range": True}, (-(2**31), 2**31 - 1)),
        ({"quant_min": 0, "quant_max": 15}, (0, 15)),
        ({"quant_min": -127, "quant_max": 127, "reduce_range": True}, (-64, 63)),
    ],
)
def test_range_of_the_integers(options: dict[str, object], expected: tuple[int, int]) -> None:
    """``eq-reduce-range``: reduce_range takes one bit off."""
    observer = q.MinMaxObserver(**options)
    assert expected == (observer.quant_min, observer.quant_max)


@pytest.mark.parametrize("make", RANGED)
def test_an_empty_tensor_changes_nothing(make: type) -> None:
    observer = make()
    observer(normal(3, 4))
    before = copy.deepcopy(observer.state_dict())
    assert (3, 0) == tuple(observer(pyqref.zeros(3, 0)).shape)
    for key, value in observer.state_dict().items():
        assert before[key].tolist() == value.tolist()


@pytest.mark.parametrize("make", RANGED)
def test_state_survives_a_round_trip(make: type) -> None:
    observer = make()
    observer(normal(3, 4))
    other = make()
    other.load_state_dict(observer.state_dict())
    for mine, theirs in zip(observer.calculate_qparams(), other.calculate_qparams(), strict=True):
        assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("make", PER_CHANNEL)
def test_state_of_older_versions_loads(make: type) -> None:
    """Before torch 1.12 the keys were min_vals and max_vals."""
    observer = make()
    state = {
        "eps": observer.eps,
        "min_vals": pyqref.tensor([-1.0, -2.0]),
        "max_vals": pyqref.tensor([1.0, 2.0]),
    }
    observer.load_state_dict(state)
    assert [-1.0, -2.0] == observer.min_val.tolist()


@pytest.mark.parametrize("make", PER_TENSOR)
def test_state_without_eps_loads(make: type) -> None:
    """The observers of the documentation's time had no such buffer."""
    observer = make()
    observer(normal(9))
    state = dict(observer.state_dict())
    del state["eps"]
    other = make()
    other.load_state_dict(state)
    assert observer.min_val.item() == other.min_val.item()


@pytest.mark.parametrize("make", RANGED)
def test_reset_forgets(make: type) -> None:
    observer = make()
    observer(normal(3, 4))
    observer.reset_min_max_vals()
    with pytest.warns(UncalibratedWarning):
        observer.calculate_qparams()


@pytest.mark.parametrize("make", [*RANGED, q.RecordingObserver, q.NoopObserver])
def test_the_tensor_passes_unchanged(make: type) -> None:
    """The tensor passes unchanged in eval() mode, too, where observers go on observing."""
    x = normal(2, 3)
    observer = make().eval()
    assert observer(x) is x


def test_gradients_pass() -> None:
    x = pyqref.tensor([1.0, 2.0], requires_grad=True)
    q.MinMaxObserver()(x).sum().backward()
    assert [1.0, 1.0] == x.grad.tolist()


def test_recording_observer_keeps_copies() -> None:
    observer = q.RecordingObserver()
    x = pyqref.tensor([1.0])
    observer(x)
    x += 1
    observer(x)
    assert [[1.0], [2.0]] == [each.tolist() for each in observer.get_tensor_value()]


def test_placeholder_takes_compute_dtype() -> None:
    """The older spelling of dynamic quantization."""
    observer = q.PlaceholderObserver(compute_dtype=pyqref.quint8)
    assert (pyqref.quint8, True) == (observer.dtype, observer.is_dynamic)


def test_fixed_parameters_stay() -> None:
    observer = q.FixedQParamsObserver(scale=0.5, zero_point=3)
    observer(normal(10))
    scale, zero_point = observer.calculate_qparams()
    assert ([0.5], [3]) == (scale.tolist(), zero_point.tolist())


def test_with_args_makes_a_new_observer_each_time() -> None:
    recipe = q.MinMaxObserver.with_args(dtype=pyqref.qint8).with_args(reduce_range=True)
    first, second = recipe(), recipe()
    assert first is not second
    assert (pyqref.qint8, True) == (first.dtype, first.reduce_range)


def test_with_args_later_arguments_win() -> None:
    recipe = q.default_observer.with_args(dtype=pyqref.qint8)
    assert (-64, 63) == (recipe().quant_min, recipe().quant_max)
    assert 255 == recipe(dtype=pyqref.quint8, reduce_range=False).quant_max


def test_with_callable_args_are_called_each_time() -> None:
    constants = iter([0.25, 0.5])
    recipe = q.MovingAverageMinMaxObserver.with_callable_args(
        averaging_constant=lambda: next(constants)
    )
    assert [0.25, 0.5] == [recipe().averaging_constant, recipe().averaging_constant]


def test_repr_of_a_recipe_names_class_and_arguments() -> None:
    text = repr(q.default_weight_observer)
    assert "MinMaxObserver" in text
    assert "dtype=pyqref.qint8" in text


@pytest.mark.parametrize(
    "name", [n for n in dir(q) if n.startswith("default_") and n.endswith(("observer", "4bit"))]
)
def test_every_default_observer_can_be_made(name: str) -> None:
    made = getattr(q, name)
    if callable(made):
        assert isinstance(made(), q.ObserverBase | q.FakeQuantizeBase)


def test_default_observer_is_the_documented_one() -> None:
    """Documented: the same as MinMaxObserver.with_args(reduce_range=True)."""
    documented = q.QConfig(q.MinMaxObserver.with_args(reduce_range=True), q.MinMaxObserver)
    assert q.qconfig_equals(documented, q.QConfig(q.default_observer, q.MinMaxObserver))


def test_deepcopy_is_independent() -> None:
    observer = q.HistogramObserver(bins=8)
    observer(normal(9))
    twin = copy.deepcopy(observer)
    observer(pyqref.tensor([100.0]))
    assert 9.0 == pytest.approx(twin.histogram.sum().item())


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 31, 32, 33, 1000])
def test_min_max_of_any_size(size: int) -> None:
    """Sizes around the vector lengths of the kernels."""
    x = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    observer = q.MinMaxObserver()
    observer(pyqref.from_numpy(x))
    expected = (x.min(), x.max()) if size else (np.inf, -np.inf)
    assert expected == (observer.min_val.item(), observer.max_val.item())


def test_a_view_is_observed_by_its_own_elements() -> None:
    observer = q.MinMaxObserver()
    observer(pyqref.tensor([[1.0, 99.0], [2.0, -99.0]])[:, 0])
    assert (1.0, 2.0) == (observer.min_val.item(), observer.max_val.item())


@pytest.mark.parametrize("make", RANGED)
@pytest.mark.parametrize("memory_format", [pyqref.contiguous_format, pyqref.channels_last])
def test_batches_in_any_order_of_memory(make: type, memory_format: pyqref.memory_format) -> None:
    """Batch after batch; what was seen stays a tensor that can be changed in place."""
    observer, expected = make(), make()
    for seed in range(4):
        x = normal(2, 3, 4, 5, seed=seed)
        observer(x.contiguous(memory_format=memory_format))
        expected(x)
        for each in (observer, expected):
            each.min_val.sub_(0.5)
    for name, value in expected.state_dict().items():
        assert np.array_equal(value.numpy(), observer.state_dict()[name].numpy())


def test_nothing_else_warns() -> None:
    """Observing and asking, in the ordinary case, is silent."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in RANGED:
            observer = make(reduce_range=True)
            observer(normal(4, 5))
            observer.calculate_qparams()
