"""``merge``: observers, fake quantizers and whole models that saw parts of the data."""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize
from pyqref.quantization.fx._model_report.model_report_observer import ModelReportObserver

CHANNELS: dict[str, Any] = {"dtype": pyqref.qint8, "qscheme": pyqref.per_channel_symmetric}
#: Those whose merge equals one observer that saw all.
EXACT: dict[str, Callable[[], Any]] = {
    "MinMax": q.MinMaxObserver,
    "per channel": partial(q.PerChannelMinMaxObserver, **CHANNELS),
    "percentile": partial(q.PercentileObserver, 90.0, bins=64),
    "percentile per channel": partial(q.PercentileObserver, 90.0, bins=64, **CHANNELS),
    "entropy": partial(q.EntropyObserver, bins=32, quantized_bins=4, smoothing=1e-4),
    "MSE": partial(q.MSEObserver, steps=5, bins=64),
    "power of two": q.PowerOfTwoObserver,
    "power of two per channel": partial(q.PerChannelPowerOfTwoObserver, **CHANNELS),
    "FakeQuantize": partial(q.FakeQuantize, observer=q.MinMaxObserver),
    "FakeQuantize, percentile": partial(q.FakeQuantize, observer=q.PercentileObserver, bins=64),
    "learnable": partial(_LearnableFakeQuantize, q.MinMaxObserver),
    # These keep nothing of the data.
    "PACT": q.PACTFakeQuantize,
    "fixed": partial(q.FixedQParamsObserver, 0.5, 3),
    "fixed fake quantizer": q.default_fixed_qparams_range_0to1_fake_quant,
    "noop": q.NoopObserver,
    "placeholder": q.PlaceholderObserver,
    "reuse": q.ReuseInputObserver,
}
#: Those whose merge is associative and does not depend on the order, but differs from one observer.
APART: dict[str, Callable[[], Any]] = {
    "moving average": q.MovingAverageMinMaxObserver,
    "moving average per channel": partial(q.MovingAveragePerChannelMinMaxObserver, **CHANNELS),
    "fused": q.FusedMovingAvgObsFakeQuantize,
}
#: Those whose merge is that of one observer within a bound, or in order, or of equal ones alone.
#: Each has a test of its own with random splits and orders: test_<name>_in_any_split.
OWN: dict[str, Callable[[], Any]] = {
    "histogram": partial(q.HistogramObserver, bins=64),
    "lsq": q.LSQObserver,
    "lsq_per_channel": partial(q.LSQObserver, **CHANNELS),
    "lsq_fake_quantizer": q.LSQFakeQuantize,
    "recording": q.RecordingObserver,
    "report": ModelReportObserver,
}

batch = st.lists(st.floats(-1e3, 1e3, width=32), min_size=4, max_size=4)
batches = st.lists(batch, min_size=1, max_size=6)


def saw(make: Callable[[], Any], data: list[list[float]]) -> Any:
    observer = make()
    for each in data:
        observer(pyqref.tensor(each).reshape(2, 2))
    return observer


def split(data: list[list[float]], choice: Any) -> list[list[list[float]]]:
    """Return the batches of up to four parts, drawn, in an order that is drawn."""
    owners = choice.draw(st.lists(st.integers(0, 3), min_size=len(data), max_size=len(data)))
    return [
        [each for each, owner in zip(data, owners, strict=True) if owner == part]
        for part in choice.draw(st.permutations(range(4)))
    ]


def merged_from_left(parts: list[Any]) -> Any:
    """Return a copy of the first part, merged with the others, which stay as they are."""
    left = copy.deepcopy(parts[0])
    for each in parts[1:]:
        before = state(each)
        assert left.merge(each) is left
        assert before == state(each)
    return left


def merged_from_right(parts: list[Any]) -> Any:
    """Return the parts merged in the same order, grouped from the right."""
    right = copy.deepcopy(parts[-1])
    for each in parts[-2::-1]:
        right = copy.deepcopy(each).merge(right)
    return right


def state(observer: Any) -> dict[str, Any]:
    return {key: each.tolist() for key, each in observer.state_dict().items()}


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_parts_make_the_whole(name: str, data: list[list[float]], choice: Any) -> None:
    """Any split, merged in any order, has the state of one observer that saw all, to the bit."""
    parts = [saw(EXACT[name], each) for each in split(data, choice)]
    expected = state(saw(EXACT[name], data))
    assert expected == state(merged_from_left(parts))
    assert expected == state(merged_from_right(parts))


@pytest.mark.parametrize("name", APART)
@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.lists(batch, min_size=3, max_size=3), order=st.permutations(range(3)))
def test_averages_merge_to_the_range_of_both(
    name: str, data: list[list[float]], order: list[int]
) -> None:
    """Documented: the narrowest range that holds all of them, in any order and grouping."""
    parts = [saw(APART[name], [each]) for each in data]
    merged = copy.deepcopy(parts[0]).merge(parts[1]).merge(parts[2])
    first, second, third = (copy.deepcopy(parts[each]) for each in order)
    assert state(merged) == state(first.merge(second.merge(third)))
    range_of = getattr(merged, "activation_post_process", merged)
    if range_of.min_val.numel() == 1:
        numbers = [number for each in data for number in each]
        assert (min(numbers), max(numbers)) == (range_of.min_val.item(), range_of.max_val.item())


@pytest.mark.parametrize("name", ["lsq", "lsq_per_channel"])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_lsq_in_any_split(name: str, data: list[list[float]], choice: Any) -> None:
    """``eq-magnitude-sum``: counts are those of one observer, sums up to rounding in double."""
    parts = [saw(OWN[name], each) for each in split(data, choice)]
    whole = saw(OWN[name], data)
    # Of n magnitudes, each of n - 1 sums is rounded once, in either order.
    bound = 2 * (4 * len(data) - 1) * 2.0**-53
    for each in (merged_from_left(parts), merged_from_right(parts)):
        assert whole.count.tolist() == each.count.tolist()
        assert whole.total.tolist() == pytest.approx(each.total.tolist(), rel=bound, abs=0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_histogram_in_any_split(data: list[list[float]], choice: Any) -> None:
    """Documented: no number is lost, and each lies within ``eq-union-displacement``."""
    parts = [saw(OWN["histogram"], each) for each in split(data, choice)]
    x = np.sort(np.float32(data).ravel()).astype(float)
    low, high = x[0], x[-1]
    # A count moves once a batch and once a part, by at most a bin; one without width has 2 / bins.
    moves, width = len(data) + len(parts), max(high - low, 2.0) / 64
    distance = moves * width + 2.0**-22 * max(abs(low), abs(high))
    for each in (merged_from_left(parts), merged_from_right(parts)):
        counts = each.histogram.numpy().astype(float)
        assert (low, high) == (each.min_val.item(), each.max_val.item())
        assert x.size == pytest.approx(counts.sum(), rel=moves * 64 * 2.0**-24, abs=0)
        ends = low + (high - low) / 64 * np.arange(1, 65)
        for t in x if low < high else ():
            below = (x <= t).sum()
            assert counts[ends <= t - distance].sum() <= below + 1e-3
            assert below <= counts[ends <= t + distance].sum() + 1e-3


@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_recording_in_any_split(data: list[list[float]], choice: Any) -> None:
    """Documented: the tensors of both, in order."""
    parts = split(data, choice)
    recorders = [saw(OWN["recording"], each) for each in parts]
    expected = [each for part in parts for each in part]
    for each in (merged_from_left(recorders), merged_from_right(recorders)):
        assert expected == [tensor.reshape(-1).tolist() for tensor in each.get_tensor_value()]


@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=batches, count=st.integers(2, 4))
def test_lsq_fake_quantizer_in_any_split(data: list[list[float]], count: int) -> None:
    """Documented: the same trained numbers, from any number of copies; others are refused."""
    made = saw(OWN["lsq_fake_quantizer"], data)
    copies = [copy.deepcopy(made) for _ in range(count)]
    assert state(made) == state(merged_from_left(copies)) == state(merged_from_right(copies))
    with pytest.raises(ValueError, match="merge takes a fake quantizer with the same static"):
        made.merge(OWN["lsq_fake_quantizer"]())
    made.scale.data.mul_(2.0)
    with pytest.raises(ValueError, match="the same scale"):
        made.merge(copies[0])


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (q.MinMaxObserver(), q.HistogramObserver(), TypeError, "takes another MinMaxObserver"),
        (q.MinMaxObserver(), 3, TypeError, "takes another MinMaxObserver, got"),
        (q.MinMaxObserver(), q.MinMaxObserver(eps=0.5), ValueError, "eps="),
        (q.PercentileObserver(), q.PercentileObserver(99.0), ValueError, "percentile=99.0"),
        (
            q.FixedQParamsObserver(0.5, 0),
            q.FixedQParamsObserver(0.25, 0),
            ValueError,
            "the same scale",
        ),
        (q.PACTFakeQuantize(3.0), q.PACTFakeQuantize(4.0), ValueError, "the same alpha"),
        (
            saw(partial(q.EntropyObserver, definition="onnxruntime"), [[1.0] * 4]),
            saw(partial(q.EntropyObserver, definition="onnxruntime"), [[1.0] * 4]),
            ValueError,
            "leave definition out",
        ),
    ],
)
def test_what_differs_is_named(first: Any, second: Any, error: Any, message: str) -> None:
    """The error names the argument that differs, and what to do."""
    with pytest.raises(error, match=message):
        first.merge(second)


def test_numbers_of_channels_must_agree() -> None:
    """For each class that has channels."""
    for make in (
        q.PerChannelMinMaxObserver,
        partial(q.MSEObserver, **CHANNELS),
        partial(q.LSQObserver, **CHANNELS),
    ):
        first, second = make(), make()
        first(normal(3, 4))
        second(normal(5, 4))
        with pytest.raises(ValueError, match="as many channels, 3, got 5"):
            first.merge(second)


def test_an_observer_of_your_own_says_how() -> None:
    """A class without ``_merge`` is told to define it."""

    class Mine(q.ObserverBase):
        def forward(self, x: Any) -> Any:
            return x

        def calculate_qparams(self, **kwargs: object) -> Any:
            return None

    with pytest.raises(NotImplementedError, match="define its method _merge"):
        Mine(pyqref.quint8).merge(Mine(pyqref.quint8))


def prepared(qat: bool = False, graph: bool = False) -> nn.Module:
    pyqref.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    if graph:
        mapping = q.get_default_qconfig_mapping("qnnpack")
        mapping.set_global(q.QConfig(q.PercentileObserver, q.default_weight_observer))
        return q.quantize_fx.prepare_fx(model, mapping, (normal(1, 4),))
    wrapped = q.QuantWrapper(model)
    wrapped.qconfig = q.QConfig(q.MinMaxObserver, q.default_weight_observer)
    return q.prepare(wrapped)


@pytest.mark.parametrize("graph", [False, True])
def test_models_merge(graph: bool) -> None:
    """Three models that saw parts give the state of one that saw all; they stay as they were."""
    parts, whole = [prepared(graph=graph) for _ in range(3)], prepared(graph=graph)
    for index, part in enumerate(parts):
        x = normal(5, 4, seed=index) * (index + 1)
        part(x)
        whole(x)
    before = [state(each) for each in parts]
    merged = q.merge(parts)
    assert state(whole) == state(merged)
    assert before == [state(each) for each in parts]


def test_models_that_differ_are_named_by_path() -> None:
    """Modules, observers and weights that differ are named by their path."""
    first, second = prepared(), prepared()
    second.module[0].weight.data[0, 0] = 9.0
    with pytest.raises(ValueError, match=r"models\[1\] differs at 'module.0.weight'"):
        q.merge([first, second])
    third = prepared()
    third.module[2].activation_post_process = q.HistogramObserver()
    with pytest.raises(ValueError, match=r"at 'module.2.activation_post_process': expected MinMax"):
        q.merge([first, third])
    fourth = prepared()
    fourth.module[2].activation_post_process = q.MinMaxObserver(reduce_range=True)
    with pytest.raises(
        ValueError, match=r"'module.2.activation_post_process': .*reduce_range=True"
    ):
        q.merge([first, fourth])
    with pytest.raises(ValueError, match="it lacks"):
        q.merge([first, prepared().module])
    with pytest.raises(ValueError, match="has no observers; call prepare"):
        q.merge([nn.Linear(2, 2)])
    with pytest.raises(ValueError, match="at least one prepared model"):
        q.merge([])
    with pytest.raises(TypeError, match=r"models\[0\] must be a module, got int"):
        q.merge([3])  # type: ignore[list-item]


def classes(base: type) -> set[type]:
    """Return the classes of pyqref below ``base`` that can be made."""
    below = {each for kind in base.__subclasses__() for each in (kind, *classes(kind))}
    return {
        each
        for each in below
        if each.__module__.startswith("pyqref.") and not getattr(each, "__abstractmethods__", None)
    }


def test_every_class_of_the_package_is_merged_here() -> None:
    """Documented: every observer and fake quantizer merges. A new one has to join a table above."""
    for each in pkgutil.walk_packages(q.__path__, f"{q.__name__}."):
        importlib.import_module(each.name)
    tried = {type(make()) for make in (EXACT | APART | OWN).values()}
    assert classes(q.ObserverBase) | classes(q.FakeQuantizeBase) == tried
    tests = [each for each in globals() if each.endswith("_in_any_split")]
    assert {f"test_{name.removesuffix('_per_channel')}_in_any_split" for name in OWN} == set(tests)


#: Batches whose ratios of percentiles have one sign in each channel: no digits cancel.
ratios = st.lists(st.floats(0, 1e3, width=32), min_size=4, max_size=4).map(
    lambda x: [-x[0], *x[1:]]
)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(data=st.lists(ratios, min_size=1, max_size=6), choice=st.data())
def test_report_in_any_split(data: list[list[float]], choice: Any) -> None:
    """Extremes and counts of all batches, and averages by their number, also of one part alone."""
    whole = saw(ModelReportObserver, data)
    parts = [saw(ModelReportObserver, each) for each in split(data, choice)]
    # Each average is rounded to float32 a few times a batch, and when it is merged.
    bound = 4 * (len(data) + len(parts)) * 2.0**-24
    for merged in (merged_from_left(parts), merged_from_right(parts)):
        assert len(data) == merged.num_batches_tracked
        expected, found = state(whole), state(merged)
        average = "average_percentile_ratio"
        assert expected.pop(average) == pytest.approx(found.pop(average), rel=bound)
        assert expected == found
        sizes = [each.average_batch_activation_range for each in (whole, merged)]
        assert sizes[0].tolist() == pytest.approx(sizes[1].tolist(), rel=bound)


def test_reports_that_differ_are_refused() -> None:
    """The error names the number of channels, or the argument."""
    whole = shown_of(2)
    with pytest.raises(ValueError, match="as many channels, 2, got 3"):
        whole.merge(shown_of(3))
    with pytest.raises(ValueError, match=r"comp_percentile=0\.9 as this one, got 0\.5"):
        whole.merge(ModelReportObserver(comp_percentile=0.5))


def shown_of(channels: int) -> Any:
    observer = ModelReportObserver()
    observer(normal(2, channels))
    return observer
