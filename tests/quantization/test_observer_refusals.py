"""Observers refuse data without a range, wrong arguments, questions without an answer."""

from __future__ import annotations

import numpy as np
import pytest
from quantization.samples import PER_CHANNEL, RANGED, normal

import pyqref
from pyqref import quantization as q
from pyqref.quantization.observer import UncalibratedWarning


@pytest.mark.parametrize("make", RANGED)
def test_without_data_there_is_a_warning(make: type) -> None:
    with pytest.warns(UncalibratedWarning, match=f"{make.__name__} has seen no data"):
        scale, zero_point = make().calculate_qparams()
    assert ([1.0], [0]) == (scale.tolist(), zero_point.tolist())


@pytest.mark.parametrize("make", RANGED)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_refused(make: type, bad: float) -> None:
    """The message names the observer and counts; the observer is as it was."""
    observer = make()
    observer(normal(2, 3))
    before = observer.min_val.tolist()
    kind = "1 nan and 0 infinite" if np.isnan(bad) else "0 nan and 1 infinite"
    with pytest.raises(ValueError, match=f"{make.__name__}: calibration data.*{kind} of 6"):
        observer(pyqref.tensor([[1.0, bad, 2.0], [0.0, 1.0, 2.0]]))
    assert before == observer.min_val.tolist()


def test_a_refusal_names_the_module_path() -> None:
    model = pyqref.nn.Sequential(pyqref.nn.Sequential(q.MinMaxObserver()))
    with pytest.raises(ValueError, match=r"MinMaxObserver at '0\.0'"):
        model(pyqref.tensor([np.nan]))


@pytest.mark.parametrize("make", RANGED)
def test_what_is_no_float_tensor_is_refused(make: type) -> None:
    with pytest.raises(TypeError, match="observes tensors, got tuple"):
        make()((normal(2), normal(2)))
    quantized = pyqref.quantize_per_tensor(normal(2, 2), 0.1, 0, pyqref.quint8)
    with pytest.raises(TypeError, match="quantized already"):
        make()(quantized)


@pytest.mark.parametrize("make", PER_CHANNEL)
def test_an_axis_out_of_range_is_refused(make: type) -> None:
    with pytest.raises(IndexError, match=r"ch_axis must be in \[-2, 1\].*got 2"):
        make(ch_axis=2)(normal(2, 3))


@pytest.mark.parametrize("make", PER_CHANNEL)
def test_another_number_of_channels_is_refused(make: type) -> None:
    observer = make()
    observer(normal(3, 2))
    with pytest.raises(ValueError, match="must have 3 channels as before, got 4"):
        observer(normal(4, 2))


@pytest.mark.parametrize("make", PER_CHANNEL)
def test_a_loaded_range_of_a_whole_tensor_is_one_of_one_channel(make: type) -> None:
    observer = make()
    state = {"min_val": pyqref.tensor(0.0), "max_val": pyqref.tensor(1.0)}
    observer.load_state_dict(state, strict=False)
    with pytest.raises(ValueError, match="must have 1 channels as before, got 2"):
        observer(normal(2, 3))
    observer(pyqref.tensor([[-1.0, 1.0]]))
    assert observer.min_val.numel() == 1


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, np.inf), (-np.inf, 1.0), (np.nan, 1.0), (np.inf, np.inf)]
)
def test_a_histogram_over_a_loaded_range_without_an_end_is_refused(low: float, high: float) -> None:
    observer = q.HistogramObserver(bins=4)
    state = observer.state_dict()
    state |= {"min_val": pyqref.tensor(low), "max_val": pyqref.tensor(high)}
    observer.load_state_dict(state)
    with pytest.raises(ValueError, match=f"min_val and max_val must be finite, got {low} and "):
        observer(pyqref.tensor([0.5, 0.25]))
    observer.reset_min_max_vals()
    observer(pyqref.tensor([0.5, 0.25]))
    assert (observer.min_val.item(), observer.max_val.item()) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("make", "options", "error", "match"),
    [
        (q.MinMaxObserver, {"dtype": pyqref.float32}, ValueError, "dtype must be one of"),
        (q.MinMaxObserver, {"dtype": "quint8"}, TypeError, "dtype must be a dtype"),
        (q.MinMaxObserver, {"qscheme": "affine"}, ValueError, "qscheme must be one of"),
        (q.MinMaxObserver, {"qscheme": pyqref.per_channel_affine}, NotImplementedError, "got"),
        (q.HistogramObserver, {"qscheme": pyqref.per_channel_affine}, NotImplementedError, "got"),
        (
            q.PerChannelMinMaxObserver,
            {"qscheme": pyqref.per_tensor_affine},
            NotImplementedError,
            "got",
        ),
        (q.MinMaxObserver, {"quant_min": 1, "quant_max": 9}, ValueError, "must contain 0"),
        (q.MinMaxObserver, {"quant_min": 0, "quant_max": 0}, ValueError, "less than quant_max"),
        (q.MinMaxObserver, {"quant_min": 0, "quant_max": 256}, ValueError, "256 integers"),
        (q.MinMaxObserver, {"quant_min": 0}, ValueError, "both or neither"),
        (
            q.MinMaxObserver,
            {"qscheme": pyqref.per_tensor_symmetric, "reduce_range": True},
            NotImplementedError,
            "use qint8",
        ),
        (q.MinMaxObserver, {"factory_kwargs": {"device": "cuda"}}, RuntimeError, "CPU only"),
        (q.MinMaxObserver, {"factory_kwargs": {"typo": 1}}, TypeError, "got .'typo'"),
        (q.MinMaxObserver, {"factory_kwargs": {"dtype": pyqref.float64}}, ValueError, "float32"),
        (q.MinMaxObserver, {"typo": 1}, TypeError, "typo"),
        (q.MovingAverageMinMaxObserver, {"averaging_constant": 1.5}, ValueError, r"\[0, 1\]"),
        (q.MovingAverageMinMaxObserver, {"averaging_constant": "x"}, TypeError, "number"),
        (q.MovingAverageMinMaxObserver, {"is_dynamic": True}, NotImplementedError, "=1"),
        (q.PerChannelMinMaxObserver, {"is_dynamic": True}, NotImplementedError, "dynamic"),
        (q.PerChannelMinMaxObserver, {"ch_axis": 0.5}, TypeError, "ch_axis must be an int"),
        (q.HistogramObserver, {"is_dynamic": True}, NotImplementedError, "dynamic"),
        (q.HistogramObserver, {"bins": 0}, ValueError, "bins must be in"),
        (q.HistogramObserver, {"bins": 2**40}, ValueError, "bins must be in"),
        (q.HistogramObserver, {"bins": 1.5}, TypeError, "bins must be an int"),
        (q.HistogramObserver, {"bins": 2**20, "upsample_rate": 2**10}, ValueError, r"\[1, 128\]"),
        (q.HistogramObserver, {"upsample_rate": 0}, ValueError, "upsample_rate must be in"),
        (q.FixedQParamsObserver, {"scale": 0.0, "zero_point": 0}, ValueError, "scale must be"),
        (q.FixedQParamsObserver, {"scale": np.nan, "zero_point": 0}, ValueError, "scale must be"),
        (q.FixedQParamsObserver, {"scale": 1.0, "zero_point": 300}, ValueError, "got 300"),
    ],
)
def test_bad_arguments(
    make: type, options: dict[str, object], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        make(**options)


def test_a_range_that_is_upside_down_is_refused() -> None:
    observer = q.MinMaxObserver()
    state = {"min_val": pyqref.tensor(3.0), "max_val": pyqref.tensor(1.0)}
    observer.load_state_dict({**observer.state_dict(), **state})
    with pytest.raises(ValueError, match="min_val must not exceed max_val"):
        observer.calculate_qparams()


@pytest.mark.parametrize(
    "observer",
    [q.RecordingObserver(), q.NoopObserver(), q.PlaceholderObserver(), q.ReuseInputObserver()],
)
def test_observers_without_parameters_say_so(observer: q.ObserverBase) -> None:
    with pytest.raises(RuntimeError, match="calculate_qparams should not be called"):
        observer.calculate_qparams()
