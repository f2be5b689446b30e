"""Graph mode warns of QConfigs and custom configs that leave the model as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.nn import functional as F
from pyqref.quantization import (
    MinMaxObserver,
    QConfig,
    QConfigMapping,
    QuantizationError,
    backend_config,
    default_weight_observer,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.quantization.fx.custom_config import (
    ConvertCustomConfig,
    FuseCustomConfig,
    PrepareCustomConfig,
)
from pyqref.quantization.quantize_fx import convert_fx, fuse_fx, prepare_fx, prepare_qat_fx


class Net(nn.Module):
    """A fused convolution, a sum, a sigmoid and a linear layer, in a block."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU())
        self.head, self.gate, self.spare = nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(1, 1)

    def forward(self, x: Any) -> Any:
        y = self.block(x).mean((2, 3))
        return self.gate(self.head(y) + y)


X = pyqref.ones(2, 3, 4, 4)


def told(step: Callable[[], Any]) -> list[tuple[str, str]]:
    """Category and text of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        step()
    return [(type(each.message).__name__, str(each.message)) for each in caught]


def prepared_by(
    mapping: QConfigMapping, custom: Any = None, prepare: Any = prepare_fx, **options: Any
) -> Any:
    model = Net().train(prepare is prepare_qat_fx)
    return prepare(model, mapping, (X,), custom, **options)


def static(dtype: Any, weight: Any = default_weight_observer, **options: Any) -> QConfig:
    return QConfig(MinMaxObserver.with_args(dtype=dtype, **options), weight)


WEIGHT_ONLY = quantization.float_qparams_weight_only_qconfig
CONV, HEAD = "'block.0' (ConvReLU2d)", "'head' (Linear)"
MISMATCHES = {
    "qint8 activations": (
        static(pyqref.qint8),
        [CONV, HEAD, "'gate' (Sigmoid)", "mean() (node 'mean')", "supported is pyqref.quint8"],
    ),
    "quint8 weights": (
        static(pyqref.quint8, MinMaxObserver.with_args(dtype=pyqref.quint8)),
        [CONV, HEAD, "the weight is pyqref.quint8, supported is pyqref.qint8"],
    ),
    "weight only": (WEIGHT_ONLY, [CONV, "QConfig is weight only, supported is static"]),
    "static float16": (quantization.float16_static_qconfig, [CONV, HEAD, "float16"]),
    "dynamic": (
        quantization.default_dynamic_qconfig,
        [CONV, "the QConfig is dynamic, supported is static quantization"],
    ),
    "dynamic float16": (quantization.float16_dynamic_qconfig, [CONV, "is dynamic"]),
    "fixed": (
        static(pyqref.quint8),
        ["'gate' (Sigmoid)", "must have scale 0.00390625 and zero_point 0"],
    ),
}


@pytest.mark.parametrize("case", MISMATCHES)
def test_a_qconfig_that_does_not_fit(case: str) -> None:
    """One warning a reason names all places, the reason and the remedy; an error if strict."""
    qconfig, parts = MISMATCHES[case]
    mapping = QConfigMapping().set_global(qconfig)
    found = told(lambda: prepared_by(mapping))
    assert {"QConfigMismatchWarning"} == {category for category, _ in found}
    assert len(found) == len({text.partition("the back end")[2] for _, text in found})
    texts = " ".join(text for _, text in found)
    for part in (*parts, "prepare_fx: ", "give a QConfig that fits"):
        assert part in texts
    assert "flatten" not in texts
    with pytest.raises(QuantizationError) as error:
        prepared_by(mapping, strict=True)
    assert found[0][1] == str(error.value)


def executorch_like(**bounds: Any) -> backend_config.BackendConfig:
    """A back end for linear layers with bounds on the activation."""
    activation = backend_config.DTypeWithConstraints(pyqref.quint8, **bounds)
    weighted = backend_config.DTypeConfig(activation, activation, pyqref.qint8, pyqref.float32)
    linear = backend_config.BackendPatternConfig(nn.Linear).add_dtype_config(weighted)
    linear.set_root_module(nn.Linear)
    linear.set_reference_quantized_module(nn.quantized.reference.Linear)
    return backend_config.BackendConfig("bounded").set_backend_pattern_config(linear)


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        ({"quant_max_upper_bound": 31}, "quant_max of the input is 255, supported is at most 31"),
        ({"quant_min_lower_bound": 1}, "quant_min of the input is 0, supported is at least 1"),
        ({"scale_min_lower_bound": 2**-12}, "(eps) of the input is 1.1920928955078125e-07"),
    ],
)
def test_bounds_of_the_back_end(bounds: Any, text: str) -> None:
    """Torch warns of these, too; operations without a pattern are not named."""
    mapping = QConfigMapping().set_global(static(pyqref.quint8))
    found = told(lambda: prepared_by(mapping, backend_config=executorch_like(**bounds)))
    assert 1 == len(found)
    assert f"prepare_fx: {HEAD} stays float, because its QConfig does not fit" in found[0][1]
    assert text in found[0][1]


class Language(nn.Module):
    """Layers that only have dynamic and weight-only forms, and one with a static one."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(5, 4), nn.LSTM(4, 4)
        self.cell, self.last = nn.GRUCell(4, 4), nn.Linear(4, 5)

    def forward(self, x: Any) -> Any:
        y, _ = self.lstm(self.embedding(x))
        return F.relu(self.last(self.cell(y[0]))).softmax(-1)


def is_silent(step: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step()


@pytest.mark.parametrize("back_end", ["native", "fbgemm", "qnnpack", "onednn", "executorch"])
@pytest.mark.parametrize("engine", ["fbgemm", "x86", "qnnpack", "onednn"])
def test_usual_mappings_are_silent(back_end: str, engine: str) -> None:
    """A QConfig for everything is not meant for what can only be quantized in another way."""
    given = getattr(backend_config, f"get_{back_end}_backend_config")()
    words = pyqref.zeros(2, 3, dtype=pyqref.int64)
    mapping = get_default_qconfig_mapping(engine)
    training = get_default_qat_qconfig_mapping(engine)
    is_silent(lambda: prepared_by(mapping, backend_config=given, strict=True))
    is_silent(lambda: prepared_by(training, None, prepare_qat_fx, backend_config=given))
    is_silent(lambda: prepare_fx(Language().eval(), mapping, (words,), backend_config=given))
    if back_end != "executorch":  # which has no dynamic LSTM
        dynamic = QConfigMapping().set_global(quantization.default_dynamic_qconfig)
        is_silent(lambda: prepare_fx(Language().eval(), dynamic, (words,), backend_config=given))


def test_an_entry_for_just_one_operation() -> None:
    """An entry for one operation is always reported, whatever else the operation could be."""
    words = pyqref.zeros(2, 3, dtype=pyqref.int64)
    for mapping in (
        get_default_qconfig_mapping().set_object_type(nn.LSTM, quantization.default_qconfig),
        get_default_qconfig_mapping().set_module_name("lstm", quantization.default_qconfig),
        get_default_qconfig_mapping().set_module_name_object_type_order(
            "", nn.LSTM, 0, quantization.default_qconfig
        ),
    ):
        [(category, text)] = told(lambda m=mapping: prepare_fx(Language().eval(), m, (words,)))
        assert "QConfigMismatchWarning" == category
        assert "'lstm' (LSTM) stays float" in text


@pytest.mark.parametrize("mapping", [QConfigMapping(), QConfigMapping().set_global(None)])
def test_an_empty_mapping(mapping: QConfigMapping) -> None:
    """Nothing is quantized, and the remedy is a mapping."""
    for prepare in (prepare_fx, prepare_qat_fx):
        [(category, text)] = told(lambda p=prepare: prepared_by(mapping, None, p))
        assert "NotQuantizedWarning" == category
        assert "gives no operation a QConfig; pass get_default_qconfig_mapping" in text


def test_a_mapping_at_convert() -> None:
    """Entries that match nothing, and such as leave nothing, are told of there, too."""
    prepared = prepared_by(get_default_qconfig_mapping())
    prepared(X)
    more = get_default_qconfig_mapping().set_module_name("body", None)
    [(category, text)] = told(lambda: convert_fx(prepared, qconfig_mapping=more))
    assert ("NoMatchWarning", True) == (category, "'body' of module_name" in text)
    none = get_default_qconfig_mapping().set_global(None).set_module_name_regex(".*", None)
    for kind in get_default_qconfig_mapping().object_type_qconfigs:
        none.set_object_type(kind, None)
    [(category, text)] = told(lambda: convert_fx(prepared, qconfig_mapping=none))
    assert ("NotQuantizedWarning", True) == (category, "nothing will be quantized" in text)


class Wrapper(nn.Module):
    """Has a dtype, as an observer has, and is none."""

    dtype = pyqref.quint8

    def forward(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize(
    ("qconfig", "text"),
    [
        (QConfig(Wrapper, default_weight_observer), "the activation .* makes a Wrapper, which"),
        (QConfig(nn.Identity, default_weight_observer), "the activation .* makes a Identity"),
        (QConfig(quantization.default_observer, nn.Identity), "the weight .* makes a Identity"),
        (QConfig(None, default_weight_observer), "the activation .* makes None"),
    ],
)
def test_what_is_no_observer(qconfig: QConfig, text: str) -> None:
    """Torch raises, too; it would stay inside the converted model."""
    with pytest.raises(TypeError, match=f"prepare_fx: {text}.*use MinMaxObserver"):
        prepared_by(QConfigMapping().set_global(qconfig))


def test_observers_where_fake_quantizers_are_needed() -> None:
    """Training would not see the quantization."""
    mapping = get_default_qconfig_mapping()
    [(category, text)] = told(lambda: prepared_by(mapping, None, prepare_qat_fx))
    assert "QConfigMismatchWarning" == category
    assert "'block.0' (ConvBnReLU2d), 'head' (Linear) has observers and no fake quantize" in text


def test_calibration_in_training_mode() -> None:
    """Told once; training a model that is prepared for it is no news."""
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout()).eval()
    x = pyqref.ones(1, 2)
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,)).train()
    [(category, text)] = told(lambda: [prepared(x), prepared(x)])
    assert ("WrongModeWarning", True) == (category, "'1' (Dropout)" in text)
    trained = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping(), (x,))
    is_silent(lambda: trained(x))


def whole(name: str) -> PrepareCustomConfig:
    return PrepareCustomConfig().set_standalone_module_name(name, None, (X,), None, None)


UNMATCHED = [
    (whole("body"), "'body' of standalone_module_names matches nothing: there is no such module"),
    (whole("spare"), "'spare' of standalone_module_names matches nothing: forward never calls it"),
    (
        PrepareCustomConfig().set_standalone_module_class(nn.LSTM, None, (X,), None, None),
        "LSTM in standalone_module_classes",
    ),
    (PrepareCustomConfig().set_non_traceable_module_names(["a"]), "'a' of non_traceable_module_n"),
    (
        PrepareCustomConfig().set_non_traceable_module_classes([nn.LSTM]),
        "LSTM in non_traceable_module_classes",
    ),
    (
        PrepareCustomConfig().set_float_to_observed_mapping(nn.LSTM, nn.quantizable.LSTM),
        "LSTM in float_to_observed_mapping",
    ),
    (PrepareCustomConfig().set_input_quantized_indexes([1]), "the model has 1 input, from 0"),
    (PrepareCustomConfig().set_output_quantized_indexes([1]), "the model has 1 output, from 0"),
    (PrepareCustomConfig().set_preserved_attributes(["a"]), "the preserved attribute 'a' matches"),
]


@pytest.mark.parametrize(("custom", "text"), UNMATCHED)
def test_entries_of_prepare_that_match_nothing(custom: Any, text: str) -> None:
    """Each setter; by the name of the entry, with the remedy."""
    mapping = get_default_qconfig_mapping()
    [(category, found)] = told(lambda: prepared_by(mapping, custom))
    assert category in ("NoMatchWarning", "UnusedMappingWarning")
    assert text in found
    assert "correct it or leave it out" in found
    with pytest.raises(QuantizationError):
        prepared_by(mapping, custom, strict=True)


def test_entries_of_convert_and_fuse_that_match_nothing() -> None:
    """Entries of the other two custom configs that match nothing cause a warning, too."""
    prepared = prepared_by(get_default_qconfig_mapping())
    prepared(X)
    mapped = ConvertCustomConfig().set_observed_to_quantized_mapping(nn.LSTM, nn.GRU)
    for custom in (mapped, ConvertCustomConfig().set_preserved_attributes(["a"])):
        [(category, text)] = told(lambda c=custom: convert_fx(prepared, c))
        assert category in ("NoMatchWarning", "UnusedMappingWarning")
        assert text.startswith("convert_fx: ")
    fuse = FuseCustomConfig().set_preserved_attributes(["a"])
    [(category, text)] = told(lambda: fuse_fx(Net().eval(), fuse))
    assert "NoMatchWarning" == category
    with pytest.raises(QuantizationError, match="fuse_fx: the preserved attribute 'a'"):
        fuse_fx(Net().eval(), fuse, strict=True)


def test_strict_leaves_the_prepared_model_as_it_was() -> None:
    """Documented: it can be calibrated and converted still."""
    prepared = prepared_by(get_default_qconfig_mapping())
    with pytest.raises(QuantizationError, match="no values were observed for"):
        convert_fx(prepared, strict=True)
    prepared(X)
    assert (2, 4) == tuple(convert_fx(prepared, strict=True)(X).shape)
    with pytest.raises(TypeError, match="strict must be a bool"):
        convert_fx(prepared, strict=1)  # type: ignore[arg-type]
