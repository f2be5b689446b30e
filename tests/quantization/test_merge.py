"""``merge``: observers, fake quantizers and whole models that saw parts of the data."""

from __future__ import annotations

import copy
import importlib
import pkgutil
from collections.abc import Callable
from functools import partial
from typing import Any

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
}
#: Those whose merge is associative and does not depend on the order, but differs from one observer.
APART: dict[str, Callable[[], Any]] = {
    "moving average": q.MovingAverageMinMaxObserver,
    "moving average per channel": partial(q.MovingAveragePerChannelMinMaxObserver, **CHANNELS),
    "fused": q.FusedMovingAvgObsFakeQuantize,
}
#: Those that see nothing, or whose sums are rounded.
OTHERS: dict[str, Callable[[], Any]] = {
    "histogram": partial(q.HistogramObserver, bins=64),
    "LSQ": q.LSQObserver,
    "LSQ fake quantizer": q.LSQFakeQuantize,
    "PACT": q.PACTFakeQuantize,
    "recording": q.RecordingObserver,
    "fixed": partial(q.FixedQParamsObserver, 0.5, 3),
    "fixed fake quantizer": q.default_fixed_qparams_range_0to1_fake_quant,
    "noop": q.NoopObserver,
    "placeholder": q.PlaceholderObserver,
    "reuse": q.ReuseInputObserver,
    "report": ModelReportObserver,
}

batch = st.lists(st.floats(-1e3, 1e3, width=32), min_size=4, max_size=4)
batches = st.lists(batch, min_size=1, max_size=6)


def saw(make: Callable[[], Any], data: list[list[float]]) -> Any:
    observer = make()
    for each in data:
        observer(pyqref.tensor(each).reshape(2, 2))
    return observer


def state(observer: Any) -> dict[str, Any]:
    return {key: each.tolist() for key, each in observer.state_dict().items()}


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_parts_make_the_whole(name: str, data: list[list[float]], choice: Any) -> None:
    """Any split, merged in any order, has the state of one observer that saw all, to the bit."""
    owners = choice.draw(st.lists(st.integers(0, 3), min_size=len(data), max_size=len(data)))
    order = choice.draw(st.permutations(range(4)))
    parts = [
        saw(EXACT[name], [each for each, owner in zip(data, owners, strict=True) if owner == part])
        for part in order
    ]
    expected = state(saw(EXACT[name], data))
    left = copy.deepcopy(parts[0])
    for each in parts[1:]:
        before = state(each)
        assert left.merge(each) is left
        assert before == state(each)
    assert expected == state(left)
    # Grouped from the right: associative.
    right = copy.deepcopy(parts[2]).merge(parts[3])
    assert expected == state(copy.deepcopy(parts[0]).merge(copy.deepcopy(parts[1]).merge(right)))


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


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_class_merges(name: str) -> None:
    """With what saw nothing, and with a copy of itself."""
    made = saw(OTHERS[name], [[1.0, 2.0, 3.0, 4.0]])
    before = state(made)
    if name == "LSQ fake quantizer":
        with pytest.raises(ValueError, match="merge takes a fake quantizer with the same static"):
            copy.deepcopy(made).merge(OTHERS[name]())
        assert before == state(made.merge(copy.deepcopy(made)))
        return
    assert before == state(copy.deepcopy(made).merge(OTHERS[name]()))
    assert before == state(OTHERS[name]().merge(made))
    assert copy.deepcopy(made).merge(made) is not made


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(data=batches, choice=st.data())
def test_other_classes_in_any_split_and_order(
    name: str, data: list[list[float]], choice: Any
) -> None:
    """What can be exact is: extremes, counts and what sees nothing; sums have a bound.

    A class with trained numbers merges where these are the same.
    """
    if name == "LSQ fake quantizer":
        parts = [saw(OTHERS[name], data[:1]) for _ in range(3)]
        assert state(parts[0]) == state(copy.deepcopy(parts[0]).merge(parts[1]).merge(parts[2]))
        return
    owners = choice.draw(st.lists(st.integers(0, 3), min_size=len(data), max_size=len(data)))
    order = choice.draw(st.permutations(range(4)))
    split = [
        [each for each, owner in zip(data, owners, strict=True) if owner == part] for part in order
    ]
    left, *rest = [saw(OTHERS[name], each) for each in split]
    for each in rest:
        assert left.merge(each) is left
    whole = saw(OTHERS[name], [each for part in split for each in part])
    expected, found = state(whole), state(left)
    if name == "histogram":
        # Counts are whole, and below 2**24 exact in float32.
        assert sum(expected.pop("histogram")) == sum(found.pop("histogram"))
    if name in ("LSQ", "report"):
        for key, numbers in expected.items():
            # Each of at most 6 partial sums is rounded once: to double, or an average to float32.
            unit = 2.0**-53 if name == "LSQ" else 2.0**-24
            assert numbers == pytest.approx(found[key], rel=12 * unit, abs=0), key
        return
    assert expected == found
    if name == "recording":
        pair = [[x.tolist() for x in each.get_tensor_value()] for each in (whole, left)]
        assert pair[0] == pair[1]


def test_sums_and_recordings_add_up() -> None:
    """The mean magnitude of all numbers; the tensors of both, in order; the counts of both."""
    x, y = [1.0, -2.0, 3.0, 4.0], [8.0, 8.0, -8.0, 0.5]
    merged = saw(q.LSQObserver, [x]).merge(saw(q.LSQObserver, [y]))
    assert state(saw(q.LSQObserver, [x, y])) == state(merged)
    tensors = saw(q.RecordingObserver, [x]).merge(saw(q.RecordingObserver, [y])).get_tensor_value()
    assert [x, y] == [each.reshape(-1).tolist() for each in tensors]
    counts = saw(q.HistogramObserver, [x]).merge(saw(q.HistogramObserver, [y]))
    assert 8.0 == counts.histogram.sum().item()
    assert (-8.0, 8.0) == (counts.min_val.item(), counts.max_val.item())


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
    tried = {type(make()) for make in (EXACT | APART | OTHERS).values()}
    assert classes(q.ObserverBase) | classes(q.FakeQuantizeBase) == tried


def test_reports_merge() -> None:
    """Extremes and counts of all batches, and averages by their number, also of one part alone."""
    data = [[float(each + 1), -2.0, 3.0 * each, 4.0] for each in range(6)]
    whole = saw(ModelReportObserver, data)
    for first in (0, 1, 4):
        merged = saw(ModelReportObserver, data[:first]).merge(
            saw(ModelReportObserver, data[first:])
        )
        assert 6 == merged.num_batches_tracked
        expected, found = state(whole), state(merged)
        average = "average_percentile_ratio"
        # Each average is rounded to float32 once a batch and once when it is merged.
        assert expected.pop(average) == pytest.approx(found.pop(average), rel=7 * 2.0**-24)
        assert expected == found
        ratios = [each.get_batch_to_epoch_ratio().item() for each in (whole, merged)]
        assert ratios[0] == pytest.approx(ratios[1], rel=7 * 2.0**-24)
    with pytest.raises(ValueError, match="as many channels, 2, got 3"):
        whole.merge(shown_of(3))
    with pytest.raises(ValueError, match=r"comp_percentile=0\.9 as this one, got 0\.5"):
        whole.merge(ModelReportObserver(comp_percentile=0.5))


def shown_of(channels: int) -> Any:
    observer = ModelReportObserver()
    observer(normal(2, channels))
    return observer
