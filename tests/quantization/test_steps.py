"""Steps that were forgotten, or come too late or in the wrong mode, are named by path."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q


class OwnLinear(nn.Linear):
    pass


class OwnConv(nn.Conv2d):
    pass


class Scale(nn.Module):
    """A leaf with a weight of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(pyqref.ones(1))

    def forward(self, x: Any) -> Any:
        return x * self.factor


class WithToken(nn.Module):
    """Holds layers and, besides, a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.token = nn.Parameter(pyqref.zeros(4))
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return self.layer(x)


def wrapped(*layers: nn.Module, qconfig: Any = q.default_qconfig) -> nn.Module:
    pyqref.manual_seed(0)
    model = q.QuantWrapper(nn.Sequential(*layers)).eval()
    model.qconfig = qconfig
    return model


def calibrated(*layers: nn.Module, shape: tuple[int, ...] = (3, 4)) -> nn.Module:
    prepared = q.prepare(wrapped(*layers))
    prepared(normal(*shape))
    return prepared


def forgotten(strict: bool) -> Any:
    return q.convert(wrapped(nn.Linear(4, 4)), strict=strict)


def thrown_away(strict: bool) -> Any:
    """The documentation's dictionary leaves no trace on the model."""
    model = q.QuantWrapper(nn.Linear(4, 4)).eval()
    q.prepare(model, {"": q.default_qconfig})
    return q.convert(model, strict=strict)


def half_prepared(strict: bool) -> Any:
    model = nn.Sequential(wrapped(nn.Linear(4, 4)), wrapped(nn.Linear(4, 4)))
    q.prepare(model[0], inplace=True)(normal(3, 4))
    return q.convert(model, strict=strict)


def observers_in_training(strict: bool) -> Any:
    return q.prepare_qat(wrapped(nn.Linear(4, 4)).train(), strict=strict)


def observed_weight_in_training(strict: bool) -> Any:
    qconfig = q.QConfig(q.default_fake_quant, q.default_weight_observer)
    return q.prepare_qat(wrapped(nn.Linear(4, 4), qconfig=qconfig).train(), strict=strict)


def trained_leaf(strict: bool) -> Any:
    layer = nn.Linear(4, 4)
    layer.qconfig = q.default_qat_qconfig
    return q.prepare_qat(layer, strict=strict)


def dynamic_leaf(strict: bool) -> Any:
    return q.quantize_dynamic(nn.Linear(4, 4), strict=strict)


def dynamic_recurrent_leaf(strict: bool) -> Any:
    return q.quantize_dynamic(nn.LSTM(4, 4), {"": q.default_dynamic_qconfig}, strict=strict)


def fused_late(strict: bool) -> Any:
    prepared = q.prepare(wrapped(nn.Linear(4, 4), nn.ReLU()))
    return q.fuse_modules(prepared, ["module.0", "module.1"], strict=strict)


def prepared_in_training(strict: bool) -> Any:
    return q.prepare(wrapped(nn.Linear(4, 4), nn.Dropout(0.5)).train(), strict=strict)


def converted_in_training(strict: bool) -> Any:
    return q.convert(calibrated(nn.Linear(4, 4), nn.Dropout(0.5)).train(), strict=strict)


def calibrated_in_training(strict: bool) -> Any:
    prepared = q.prepare(wrapped(nn.Linear(4, 4), nn.LayerNorm(4), nn.Dropout(0.5)))
    prepared.train()(normal(3, 4))
    return q.convert(prepared.eval(), strict=strict)


def left(layer: Callable[[], nn.Module], *shape: int) -> Callable[[bool], Any]:
    def convert(strict: bool) -> Any:
        return q.convert(calibrated(layer(), shape=shape), strict=strict)

    return convert


def trained_group_without_training(strict: bool) -> Any:
    model = wrapped(nn.Conv2d(1, 1, 2), nn.BatchNorm2d(1)).train()
    model = q.fuse_modules_qat(model, ["module.0", "module.1"]).eval()
    prepared = q.prepare(model)
    prepared(normal(1, 1, 3, 3))
    return q.convert(prepared, strict=strict)


def own_linear_among_others(strict: bool) -> Any:
    model = nn.Sequential(nn.Linear(4, 4), OwnLinear(4, 4))
    return q.quantize_dynamic(model, {"": q.default_dynamic_qconfig}, strict=strict)


CASES: dict[str, tuple[Callable[[bool], Any], Any, str]] = {
    "forgotten": (forgotten, q.NotPreparedWarning, r"the model has a qconfig .*module\.0"),
    "thrown away": (thrown_away, q.NotPreparedWarning, r"no module has a qconfig.*returns a copy"),
    "half": (half_prepared, q.NotPreparedWarning, r"1 has a qconfig .* so that 1\.quant"),
    "observers": (
        observers_in_training,
        q.QConfigMismatchWarning,
        r"module\.0 makes observers.* the weight and the activations.*get_default_qat_qconfig",
    ),
    "weight": (observed_weight_in_training, q.QConfigMismatchWarning, r"for the weight:"),
    "trained leaf": (trained_leaf, q.NotQuantizedWarning, "a Linear alone: put it into"),
    "dynamic leaf": (dynamic_leaf, q.NotQuantizedWarning, "a Linear alone: put it into"),
    "recurrent leaf": (dynamic_recurrent_leaf, q.NotQuantizedWarning, "a LSTM alone"),
    "fused late": (fused_late, q.WrongOrderWarning, r"module\.0 \(Linear\) is prepared already"),
    "prepared": (prepared_in_training, q.WrongModeWarning, r"module\.1 \(Dropout\) is in training"),
    "converted": (converted_in_training, q.WrongModeWarning, r"\.1 \(Dropout\).*model\.eval\(\)"),
    "calibrated": (calibrated_in_training, q.WrongModeWarning, r"was calibrated in training mode"),
    "own linear": (
        left(lambda: OwnLinear(4, 4), 3, 4),
        q.NotQuantizedWarning,
        r"module\.0 \(OwnLinear\) .*the very type Linear",
    ),
    "own convolution": (
        left(lambda: OwnConv(1, 1, 2), 1, 1, 3, 3),
        q.NotQuantizedWarning,
        r"\(OwnConv\) .*the very type Conv2d",
    ),
    "recurrent": (left(lambda: nn.RNN(4, 4), 3, 2, 4), q.NotQuantizedWarning, r"0 \(RNN\) has"),
    "batch norm": (
        left(lambda: nn.BatchNorm1d(4), 3, 4),
        q.NotQuantizedWarning,
        r"\(BatchNorm1d\) .*fuse_modules",
    ),
    "root mean square": (left(lambda: nn.RMSNorm(4), 3, 4), q.NotQuantizedWarning, "RMSNorm"),
    "own leaf": (left(Scale, 3, 4), q.NotQuantizedWarning, r"\(Scale\) has a qconfig"),
    "group": (trained_group_without_training, q.NotQuantizedWarning, r"\(ConvBn2d\).*prepare_qat"),
    "dynamic": (own_linear_among_others, q.NotQuantizedWarning, r"1 \(OwnLinear\) has a qconfig"),
}


@pytest.mark.parametrize("name", CASES)
def test_what_went_wrong_is_named_with_its_remedy(name: str) -> None:
    case, category, match = CASES[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        case(False)
    found = [each for each in caught if issubclass(each.category, category)]
    assert 1 == len(found)
    assert found[0].filename == __file__, "the warning must point at the user's line"
    assert re.search(match, str(found[0].message))


@pytest.mark.parametrize("name", CASES)
def test_strict_refuses_it(name: str) -> None:
    case, category, match = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", q.QuantizationWarning)
        with pytest.raises(q.QuantizationError, match=match) as caught:
            case(True)
    assert caught.value.category is category


SOUND: dict[str, Callable[[], nn.Module]] = {
    "activations": lambda: wrapped(
        *(nn.Linear(4, 4), nn.ReLU(), nn.Sigmoid(), nn.Identity(), nn.Flatten(), nn.Dropout(0.5))
    ),
    "token": lambda: wrapped(WithToken()),
    "norms": lambda: wrapped(nn.Linear(4, 4), nn.LayerNorm(4), nn.ReLU()),
    "twice": lambda: q.fuse_modules(
        wrapped(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)), [["module.0", "module.1"]]
    ),
    "float part": lambda: _with_float_part(),
}


def _with_float_part() -> nn.Module:
    model = wrapped(nn.Linear(4, 4))
    model.head = OwnLinear(4, 4)
    model.head.qconfig = None
    return model


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_model_is_silent(name: str) -> None:
    """Layers without weights, parameters of a container, float parts by intention."""
    q.quantize(SOUND[name](), lambda model: model(normal(3, 4)), [], strict=True)


def test_training_is_silent() -> None:
    """Batch norm and dropout are trained there, and the mode is that of training."""
    model = wrapped(
        *(nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(0.5)),
        qconfig=q.default_qat_qconfig,
    ).train()
    model = q.fuse_modules_qat(model, ["module.0", "module.1", "module.2"], strict=True)
    q.quantize_qat(model, lambda prepared: prepared(normal(2, 1, 4, 4)), [], strict=True)


def test_a_fused_group_has_the_mode_of_its_layers() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval()
    assert not q.fuse_modules(model, ["0", "1"])[0].training


@pytest.mark.parametrize("make", [q.QuantStub, q.DeQuantStub])
def test_a_stub_is_no_wrapper(make: Any) -> None:
    model = nn.Linear(4, 4)
    with pytest.raises(TypeError, match=r"takes a tensor, got a Linear.*QuantWrapper\(module\)"):
        make()(model)
    with pytest.raises(TypeError, match=r"qconfig must be a QConfig, got a Linear.*QuantWrapper"):
        make(model)


SWITCHES = (q.disable_fake_quant, q.enable_fake_quant, q.disable_observer, q.enable_observer)


@pytest.mark.parametrize("switch", SWITCHES, ids=lambda switch: switch.__name__)
def test_a_switch_needs_a_fake_quantizer(switch: Any) -> None:
    """One warning for the model, none for its parts, and none where there is one somewhere."""
    for model, state in (
        (wrapped(nn.Linear(4, 4)), "the model has none"),
        (calibrated(nn.Linear(4, 4)), "the model has only observers"),
    ):
        with pytest.warns(q.NoEffectWarning, match=f"{switch.__name__} .*{state}") as caught:
            model.apply(switch)
        assert 1 == len(caught)
        assert caught[0].filename == __file__
    trained = q.prepare_qat(wrapped(nn.Linear(4, 4), qconfig=q.default_qat_qconfig).train())
    trained.apply(switch)
    for each in trained.modules():
        switch(each)


class Twice(nn.Module):
    """One stub and one layer at two places."""

    def __init__(self, layer: nn.Module, stubs: int = 2) -> None:
        super().__init__()
        self.first, self.layer, self.dequant = q.QuantStub(), layer, q.DeQuantStub()
        self.second = q.QuantStub() if stubs == 2 else self.first

    def forward(self, x: Any) -> Any:
        return self.dequant(self.layer(self.layer(self.first(x)))), self.second(2 * x)


OBSERVED = (nn.Linear(4, 4), nn.LayerNorm(4), nn.Hardswish(), nn.ReLU6(), nn.ELU(), nn.PReLU())
UNOBSERVED = (nn.ReLU(), nn.Identity(), nn.Dropout(0.0), nn.Flatten(), nn.Sigmoid(), nn.Tanh())


@pytest.mark.parametrize("is_qat", [False, True], ids=["calibrated", "trained"])
@pytest.mark.parametrize("layer", OBSERVED + UNOBSERVED, ids=lambda each: type(each).__name__)
def test_one_observer_at_two_places(layer: nn.Module, is_qat: bool) -> None:
    """A layer with a range of its own is named; the others, or fixed ranges, may be shared."""
    model = Twice(layer).train(is_qat)
    model.qconfig = q.default_qat_qconfig if is_qat else q.default_qconfig
    prepared = q.prepare_qat(model) if is_qat else q.prepare(model)
    if layer in UNOBSERVED:
        prepared(normal(3, 4))
        return
    name = type(layer).__name__
    with pytest.warns(q.SharedObserverWarning, match=rf"layer \({name}\) is used.* of its own"):
        prepared(normal(3, 4))


def test_one_stub_at_two_places() -> None:
    model = Twice(nn.ReLU(), stubs=1).eval()
    model.qconfig = q.default_qconfig
    with pytest.warns(q.SharedObserverWarning, match=r"first \(QuantStub\) is used more than once"):
        q.prepare(model)(normal(3, 4))


def test_two_passes_are_no_reuse() -> None:
    prepared = calibrated(nn.Linear(4, 4))
    for _ in range(10):
        prepared(normal(3, 4))


def test_parts_of_a_recurrent_layer_are_no_reuse() -> None:
    """Their observers are meant to see all steps."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.lstm = q.QuantStub(), nn.LSTM(4, 3)

        def forward(self, x: Any) -> Any:
            return self.lstm(self.quant(x))[0]

    model = Model()
    for is_qat in (False, True):
        model.train(is_qat).qconfig = q.default_qat_qconfig if is_qat else q.default_qconfig
        prepared = q.prepare_qat(model, strict=True) if is_qat else q.prepare(model, strict=True)
        prepared(normal(5, 2, 4))
