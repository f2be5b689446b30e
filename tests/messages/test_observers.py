"""Following the messages of observers, fake quantizers and qconfigs works."""

from __future__ import annotations

import math
from typing import Any

import pytest
from bad_input.engine import floats, quint8
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q


def test_an_observer_without_data() -> None:
    """Calibration gives it a range; a fake quantizer takes one from a state, too."""
    x, model = floats(4, 3), nn.Sequential(nn.Linear(3, 2)).eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    observer = prepared[0].activation_post_process
    with says("run the prepared model on calibration data before convert"):
        observer.calculate_qparams()
    prepared(x)
    observer.calculate_qparams()
    q.convert(prepared)

    frozen = q.FusedMovingAvgObsFakeQuantize()
    frozen.disable_observer()
    empty = q.FusedMovingAvgObsFakeQuantize()
    empty.disable_observer()
    with says("call enable_observer() and run data, or load a state"):
        frozen(x)
    frozen.enable_observer()
    frozen(x)
    frozen.disable_observer()
    frozen(x)
    empty.load_state_dict(frozen.state_dict())
    empty(x)


@pytest.mark.parametrize("kind", [q.MinMaxObserver, q.FakeQuantize])
def test_a_range_of_integers(kind: Any) -> None:
    """Both ends are given, or the ends of the dtype hold."""
    with says("give quant_min and quant_max both or neither"):
        kind(quant_min=0)
    kind(quant_min=0, quant_max=15)
    kind()


def test_wrong_observers_of_fake_quantizers() -> None:
    """FakeQuantize takes any observer, and by default the range of its dtype."""
    with says("leave them out to use the dtype's range"):
        q.FakeQuantize(dtype=pyqref.qint8, quant_min=0, quant_max=300)
    made = q.FakeQuantize(dtype=pyqref.qint8)
    assert (-128, 127) == (made.quant_min, made.quant_max)
    for cls in (q.FixedQParamsFakeQuantize, q.FusedMovingAvgObsFakeQuantize):
        with says("use FakeQuantize with it"):
            cls(observer=q.MinMaxObserver)
    q.FakeQuantize(observer=q.MinMaxObserver)(floats(3))


def test_data_that_cannot_be_observed() -> None:
    """Numbers that are finite and float are; a module with another output is left alone."""
    observer = q.MinMaxObserver()
    with says("remove them, or set the qconfig of this module to None"):
        observer(pyqref.tensor([1.0, math.nan]))
    observer(pyqref.tensor([1.0]))
    with says("observe the float model, before convert"):
        observer(quint8(3))
    observer(quint8(3).dequantize())

    class Pair(nn.Module):
        def forward(self, x: Any) -> Any:
            return x, x

    model = nn.Sequential(nn.Linear(3, 2), Pair()).eval()
    model.qconfig = q.default_qconfig
    with says("set its qconfig to None"):
        q.prepare(model, observer_non_leaf_module_list=[Pair], allow_list={Pair})(floats(4, 3))
    model[1].qconfig = None
    q.prepare(model, allow_list={Pair, nn.Linear})(floats(4, 3))
    broken = nn.Sequential(nn.Linear(3, 2)).eval()
    broken[0].bias.data.fill_(math.nan)
    for broken[0].qconfig in (q.default_qconfig, None):
        prepared = q.prepare(
            nn.ModuleList([broken]), {"0": q.default_qconfig, "0.0": broken[0].qconfig}
        )
        if broken[0].qconfig is None:
            prepared[0](floats(4, 3))
        else:
            with says("set the qconfig of this module to None"):
                prepared[0](floats(4, 3))


def test_observers_that_are_not_for_this() -> None:
    """The observer that a message names does it."""
    with says("use MinMaxObserver for static quantization"):
        q.PlaceholderObserver().calculate_qparams()
    with says("use MinMaxObserver to quantize"):
        q.RecordingObserver().calculate_qparams()
    for cls in (q.HistogramObserver, q.PerChannelMinMaxObserver):
        with says("use MinMaxObserver(is_dynamic=True)"):
            cls(is_dynamic=True)
    observer = q.MinMaxObserver(is_dynamic=True)
    observer(floats(3))
    observer.calculate_qparams()
    reduced: dict[str, Any] = {"dtype": pyqref.quint8, "qscheme": pyqref.per_tensor_symmetric}
    with says("use qint8, or reduce_range=False"):
        q.MinMaxObserver(**reduced, reduce_range=True)
    q.MinMaxObserver(**reduced, reduce_range=False)
    q.MinMaxObserver(**{**reduced, "dtype": pyqref.qint8}, reduce_range=True)
    with says("give quant_min and quant_max by name"):
        q.HistogramObserver(2048, pyqref.quint8, pyqref.per_tensor_affine, False, 0, 15)
    q.HistogramObserver(
        2048, pyqref.quint8, pyqref.per_tensor_affine, False, quant_min=0, quant_max=15
    )


def test_an_observer_that_saw_something_else_before() -> None:
    """reset_min_max_vals() makes it new."""
    observer = q.PerChannelMinMaxObserver()
    observer(floats(2, 3))
    with says("call reset_min_max_vals() first"):
        observer(floats(4, 3))
    observer.reset_min_max_vals()
    observer(floats(4, 3))

    histogram = q.HistogramObserver()
    histogram(floats(3))
    histogram.min_val.fill_(-math.inf)
    with says("call reset_min_max_vals() first"):
        histogram(floats(3))
    histogram.reset_min_max_vals()
    histogram(floats(3))


def test_qconfigs_hold_constructors() -> None:
    """A class, or a class with arguments; a model, not its class."""
    with says(
        "pass observer class instead. Use MyObserver.with_args(x=1) to override arguments to "
        "constructor if needed"
    ):
        q.QConfig(activation=q.MinMaxObserver(), weight=q.default_weight_observer)
    q.QConfig(
        activation=q.MinMaxObserver.with_args(eps=1), weight=q.default_weight_observer
    ).activation()


def test_what_is_no_qconfig() -> None:
    """Each message says how to make one of what was given, in Python that runs."""

    def prepare(qconfig: Any) -> Any:
        model = nn.Sequential(nn.Linear(3, 2)).eval()
        model.qconfig = qconfig
        return q.prepare(model)(floats(4, 3))

    def run(told: Any) -> Any:
        """Run the text behind the last colon, or behind "write"."""
        return eval(told.text.rpartition("; ")[2].partition(": ")[2], vars(q))

    with says("write get_default_qconfig({})") as told:
        prepare("x86")
    prepare(eval(told.text.rpartition("write ")[2], vars(q)))
    mapping = q.get_default_qconfig_mapping()
    with says("give one of its qconfigs, such as its global_qconfig"):
        prepare(mapping)
    prepare(mapping.global_qconfig)
    named = {"": q.default_qconfig}
    with says("give one of its qconfigs, or pass the dictionary as qconfig_dict of prepare"):
        prepare(named)
    prepare(named[""])
    q.prepare(nn.Sequential(nn.Linear(3, 2)).eval(), qconfig_dict=named)
    with says("make one: {}(activation=default_observer, weight=default_weight_observer)") as told:
        prepare(q.QConfig)
    prepare(run(told))
    with says("call it: {}()") as told:
        prepare(lambda: None)
    with says("put it into one: QConfig(activation=..., weight=default_weight_observer)"):
        prepare(q.MinMaxObserver)
    prepare(q.QConfig(activation=q.MinMaxObserver, weight=q.default_weight_observer))
    for wrong in (nn.Linear, 3):
        with says("write default_qconfig, or make one with QConfig"):
            prepare(wrong)
    prepare(q.default_qconfig)
    prepare(q.QConfig(activation=q.default_observer, weight=q.default_weight_observer))


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("end", ["running_min", "running_max"])
def test_a_running_range_of_nan_is_refused(end, rows, symmetric):
    """Neither scale nor zero point is chosen from it; set to empty, it serves again."""
    state = {
        "running_min": pyqref.zeros(rows),
        "running_max": pyqref.ones(rows),
        "scale": pyqref.ones(rows),
        "zero_point": pyqref.zeros(rows, dtype=pyqref.int32),
    }
    x, on = pyqref.ones(rows, 3), pyqref.tensor([1])
    grid = (0.1, 0, 255, 0 if rows > 1 else -1, rows > 1, symmetric)
    state[end].fill_(float("nan"))
    with says("set them to inf and -inf to begin again"):
        pyqref.fused_moving_avg_obs_fake_quant(x, on, on, *state.values(), *grid)
    assert pyqref.ones(rows).tolist() == state["scale"].tolist()
    state["running_min"].fill_(float("inf"))
    state["running_max"].fill_(float("-inf"))
    y = pyqref.fused_moving_avg_obs_fake_quant(x, on, on, *state.values(), *grid)
    assert [1.0] * rows == state["running_max"].tolist()
    assert pyqref.allclose(x, y, atol=1 / 255)
