"""Every reason for which graph mode leaves something float is told, by ``coverage`` and drawn."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref import fx, nn
from pyqref.quantization import (
    FixedQParamsObserver,
    MinMaxObserver,
    NotQuantizedWarning,
    QConfig,
    QConfigMapping,
    QConfigMismatchWarning,
    coverage,
    default_dynamic_qconfig,
    default_observer,
    default_qconfig,
    default_reuse_input_qconfig,
    default_weight_observer,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)
from pyqref.quantization.quantize_fx import (
    convert_fx,
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
)

Activation = DTypeWithConstraints


def backend(*types: DTypeConfig) -> BackendConfig:
    """One that quantizes linear layers and sigmoids, of these types."""
    linear = BackendPatternConfig(nn.Linear).set_dtype_configs(list(types))
    linear.set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
    linear.set_root_module(nn.Linear)
    linear.set_reference_quantized_module(nn.quantized.reference.Linear)
    sigmoid = BackendPatternConfig(nn.Sigmoid).set_dtype_configs(list(types))
    return BackendConfig("mine").set_backend_pattern_configs([linear, sigmoid])


def types(
    activation: Any = pyqref.quint8, weight: Any = pyqref.qint8, is_dynamic: bool = False
) -> DTypeConfig:
    output = pyqref.float32 if is_dynamic else activation
    return DTypeConfig(activation, output, weight, pyqref.float32, is_dynamic=is_dynamic)


def reason(of: Any, qconfig: Any, back_end: BackendConfig, path: str = "0") -> str:
    """Why a model of one layer stays float; the same before and after ``convert_fx``."""
    model = nn.Sequential(of).eval()
    x = pyqref.rand(2, 2)
    mapping = QConfigMapping().set_global(qconfig)
    with pytest.warns((QConfigMismatchWarning, NotQuantizedWarning)):
        prepared = prepare_fx(model, mapping, (x,), backend_config=back_end)
    prepared(x)
    row = coverage(prepared)[path]
    assert ("float", row.reason) == (row.status, row.reason)
    assert f"not quantized: {row.reason}" in prepared.print_readable(print_output=False)
    converted = convert_fx(prepared)
    assert ("float", row.reason) == (
        coverage(converted)[path].status,
        coverage(converted)[path].reason,
    )
    assert type(of) is type(converted.get_submodule(path))
    return str(row.reason)


FITS = "its QConfig does not fit the back end: "
TYPES = [
    (types(pyqref.qint8), default_qconfig, "the input is pyqref.quint8, supported is pyqref.qint8"),
    (
        types(weight=pyqref.quint8),
        default_qconfig,
        "the weight is pyqref.qint8, supported is pyqref.quint8",
    ),
    (
        DTypeConfig(pyqref.quint8, pyqref.qint8, pyqref.qint8),
        default_qconfig,
        "the output is pyqref.quint8, supported is pyqref.qint8",
    ),
    (types(), default_dynamic_qconfig, "the activation is dynamic, supported is static"),
    (types(is_dynamic=True), default_qconfig, "the activation is static, supported is dynamic"),
    (
        types(Activation(pyqref.quint8, quant_min_lower_bound=10)),
        default_qconfig,
        "quant_min of the input is 0, supported is at least 10",
    ),
    (
        types(Activation(pyqref.quint8, quant_max_upper_bound=100)),
        default_qconfig,
        "quant_max of the input is 127, supported is at most 100",
    ),
    (
        types(weight=Activation(pyqref.qint8, quant_min_lower_bound=-127)),
        default_qconfig,
        "quant_min of the weight is -128, supported is at least -127",
    ),
    (
        types(Activation(pyqref.quint8, scale_min_lower_bound=0.5)),
        QConfig(MinMaxObserver.with_args(eps=0.25), default_weight_observer),
        "the smallest scale (eps) of the input is 0.25, supported is at least 0.5",
    ),
    (
        types(Activation(pyqref.quint8, scale_max_upper_bound=0.125)),
        QConfig(MinMaxObserver.with_args(eps=0.25), default_weight_observer),
        "the smallest scale (eps) of the input is 0.25, supported is at most 0.125",
    ),
    (
        types(Activation(pyqref.quint8, scale_exact_match=0.5, zero_point_exact_match=3)),
        default_qconfig,
        (
            "the input must have scale 0.5 and zero_point 3, of a FixedQParamsObserver; its "
            "observer is MinMaxObserver"
        ),
    ),
    (
        types(Activation(pyqref.quint8, scale_exact_match=0.5, zero_point_exact_match=3)),
        QConfig(FixedQParamsObserver.with_args(scale=0.5, zero_point=4), default_weight_observer),
        "the zero_point of the input is 4, supported is 3 exactly",
    ),
    (
        types(Activation(pyqref.quint8, scale_exact_match=0.25)),
        QConfig(FixedQParamsObserver.with_args(scale=0.5, zero_point=4), default_weight_observer),
        "the scale of the input is 0.5, supported is 0.25 exactly",
    ),
]


@pytest.mark.parametrize(("supported", "qconfig", "expected"), TYPES)
def test_types_and_constraints(supported: DTypeConfig, qconfig: Any, expected: str) -> None:
    """A QConfig that satisfies no ``DTypeConfig`` is ignored, and the reason names both sides."""
    assert FITS + expected == reason(nn.Linear(2, 2), qconfig, backend(supported))


def test_one_part_of_a_grid_may_be_fixed() -> None:
    """An exact zero point leaves the scale free."""
    exact = types(Activation(pyqref.quint8, zero_point_exact_match=4))
    fixed = FixedQParamsObserver.with_args(scale=0.5, zero_point=4)
    mapping = QConfigMapping().set_global(QConfig(fixed, default_weight_observer))
    x = pyqref.rand(2, 2)
    model = nn.Sequential(nn.Linear(2, 2)).eval()
    prepared = prepare_fx(model, mapping, (x,), backend_config=backend(exact))
    assert prepared.graph.find_nodes(op="call_module", target="activation_post_process_0")


def test_all_types_are_told() -> None:
    """One reason for each ``DTypeConfig`` that the back end lists, each told once."""
    listed = backend(types(pyqref.qint8), types(is_dynamic=True), types(pyqref.qint8))
    expected = (
        "the input is pyqref.quint8, supported is pyqref.qint8; or "
        "the activation is static, supported is dynamic"
    )
    assert FITS + expected == reason(nn.Linear(2, 2), default_qconfig, listed)


def test_without_types() -> None:
    """A pattern without ``DTypeConfig`` can never be quantized."""
    expected = "the back end lists no DTypeConfig for it"
    assert expected == reason(nn.Linear(2, 2), default_qconfig, backend())


def test_without_qconfig() -> None:
    """Left out by the user."""
    assert "its qconfig is None" == reason(nn.Linear(2, 2), None, backend(types()))


def test_without_pattern() -> None:
    """The back end does not know it; its name is told."""
    expected = "the back end 'mine' has no pattern for it"
    assert expected == reason(nn.GELU(), default_qconfig, backend(types()))


def test_reused_input_that_is_float() -> None:
    """A layer that keeps the type of its input cannot be quantized if the input is float."""
    expected = "its input is not quantized, and it keeps the input's type"
    native = pyqref.quantization.backend_config.get_native_backend_config()
    assert expected == reason(nn.MaxPool1d(1), default_reuse_input_qconfig, native)


class Functions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        y = pyqref.sin(self.linear(x)).cosh()
        return y.reshape(x.shape[0] + 0, -1) + 1


@pytest.mark.parametrize("stage", [lambda m: m, convert_fx])
def test_functions_and_methods(stage: Callable[[Any], Any]) -> None:
    """They have rows by the names of their nodes, and are drawn with the reason."""
    x = pyqref.rand(2, 4)
    prepared = prepare_fx(Functions().eval(), get_default_qconfig_mapping("fbgemm"), (x,))
    prepared(x)
    model = stage(prepared)
    found = {row.path: row for row in coverage(model).rows}
    unknown = "the back end 'native' has no pattern for it"
    assert ("sin()", "float", unknown) == (
        found["sin"].type,
        found["sin"].status,
        found["sin"].reason,
    )
    assert ("cosh()", unknown) == (found["cosh"].type, found["cosh"].reason)
    assert "it computes with sizes, not with tensors" == found["add"].reason
    assert ("quantized" if stage is convert_fx else "planned") == found["linear"].status
    assert "not quantized: the back end" in fx.draw(model).dot
    assert "float" in str(coverage(model))


def test_what_a_converted_graph_was() -> None:
    """Types, qconfigs and sizes of before, whatever the workflow; in a copy, too."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.MaxPool1d(1))
    x = pyqref.rand(2, 4)
    mappings = {
        prepare_fx: get_default_qconfig_mapping("fbgemm"),
        prepare_qat_fx: get_default_qat_qconfig_mapping("fbgemm"),
    }
    for prepare, mapping in mappings.items():
        prepared = prepare(model.train(prepare is prepare_qat_fx), mapping, (x,))
        prepared(x)
        converted = convert_fx(prepared.eval())
        for each in (converted, copy.deepcopy(converted)):
            row = coverage(each)["0"]
            assert ("nn.intrinsic.LinearReLU", "quantized") == (row.type, row.status)
            assert "nn.intrinsic.quantized.LinearReLU" == row.became
            assert (80, 32) == (row.float_bytes, row.weight_bytes)
            assert "Observer" in str(row.qconfig) or "FakeQuantize" in str(row.qconfig)
            assert "as is" == coverage(each)["2"].status


def test_a_pattern_among_others() -> None:
    """One layer's QConfig does not fit; the others are quantized."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Conv1d(4, 2, 1)).eval()
    x = pyqref.rand(4, 4, 4)
    unfit = QConfig(activation=default_observer, weight=MinMaxObserver)  # a quint8 weight
    mapping = get_default_qconfig_mapping("fbgemm").set_object_type(nn.Conv1d, unfit)
    with pytest.warns(QConfigMismatchWarning, match=r"'2' \(Conv1d\) stays float"):
        prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    rows = {row.path: row for row in coverage(convert_fx(prepared)).rows}
    assert "quantized" == rows["0"].status
    assert "float" == rows["2"].status
    assert "the weight is pyqref.quint8, supported is pyqref.qint8" in str(rows["2"].reason)


@pytest.mark.parametrize("prepare", [prepare_fx, prepare_qat_fx])
def test_what_the_mapping_given_to_convert_leaves_out(prepare: Any) -> None:
    """Documented: None skips; coverage names the mapping that says so."""
    model = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4), nn.Sigmoid()))
    x, get = pyqref.rand(2, 4), get_default_qconfig_mapping
    get = get_default_qat_qconfig_mapping if prepare is prepare_qat_fx else get
    prepared = prepare(model.train(prepare is prepare_qat_fx), get("fbgemm"), (x,))
    prepared(x)
    left_out = get("fbgemm").set_module_name("0", None)
    assert "Sigmoid" == coverage(convert_fx(prepared.eval(), qconfig_mapping=left_out))["1"].type
    row = coverage(convert_fx(prepared.eval(), qconfig_mapping=left_out))["0"]
    assert ("float", "the mapping given to convert_fx sets its qconfig to None") == (
        row.status,
        row.reason,
    )


UNFITTING = QConfigMapping().set_global(
    QConfig(MinMaxObserver.with_args(dtype=pyqref.qint8), default_weight_observer)
)


def test_an_earlier_try_leaves_no_reason() -> None:
    """The float model, and what is prepared of it again, know nothing of a QConfig that failed."""
    model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval(), pyqref.rand(2, 4)
    with pytest.warns(QConfigMismatchWarning):
        failed = prepare_fx(model, UNFITTING, (x,))
    assert "does not fit" in str(coverage(failed)["0"].reason)
    assert "no qconfig was given" == coverage(model)["0"].reason
    prepared = prepare_fx(model, get_default_qconfig_mapping(), (x,))
    assert ("planned", None) == (coverage(prepared)["0"].status, coverage(prepared)["0"].reason)
    assert {"0"} == {row.path for row in coverage(prepared).rows if row.status == "planned"}
    assert "Observer" not in " ".join(row.type for row in coverage(prepared).rows)


def test_a_fused_layer_that_does_not_fit() -> None:
    """Its reason holds for its parts, and its size is theirs."""
    model, x = nn.Sequential(nn.Linear(4, 4), nn.ReLU()).eval(), pyqref.rand(2, 4)
    with pytest.warns(QConfigMismatchWarning):
        prepared = prepare_fx(model, UNFITTING, (x,))
    for stage in (prepared, convert_fx(prepared)):
        found = coverage(stage)
        assert ("float", 80) == (found["0"].status, found["0"].float_bytes)
        assert "the input is pyqref.qint8" in str(found["0"].reason)
        assert {"part of 0"} == {found[path].reason for path in ("0.0", "0.1")}


@pytest.mark.parametrize("prepare", [prepare_fx, prepare_qat_fx])
def test_a_reference_model(prepare: Any) -> None:
    """Reference layers are what became of the layers, alone and in fused ones."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    training = prepare is prepare_qat_fx
    get = get_default_qat_qconfig_mapping if training else get_default_qconfig_mapping
    prepared = prepare(model.train(training), get(), (pyqref.rand(2, 4),))
    prepared(pyqref.rand(2, 4))
    found = coverage(convert_to_reference_fx(prepared.eval()))
    assert {"0": "nn.intrinsic.LinearReLU of nn.quantized.reference.Linear"} == {
        path: found[path].became for path in ("0",)
    }
    assert ("quantized", "nn.quantized.reference.Linear") == (found["2"].status, found["2"].became)
    assert (80, 80) == (found["2"].float_bytes, found["2"].weight_bytes)


def test_a_layer_for_training_that_the_back_end_does_not_know() -> None:
    """It becomes a float layer again, with the reason."""
    back_end = backend(types())
    back_end.configs[0].set_qat_module(nn.qat.Linear)
    x, model = pyqref.rand(2, 4), nn.Sequential(nn.Linear(4, 4)).train()
    mapping = QConfigMapping().set_global(default_qconfig)
    with pytest.warns(NotQuantizedWarning):
        prepared = prepare_qat_fx(model, mapping, (x,), backend_config=back_end)
    assert type(prepared.get_submodule("0")) is nn.qat.Linear
    row = coverage(convert_fx(prepared.eval()))["0"]
    assert ("float", "the back end 'mine' has no pattern for it") == (row.status, row.reason)
