"""Following the messages about QConfigs that graph mode cannot use works."""

from __future__ import annotations

import copy
from typing import Any

from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import quantize_fx as fx

X = floats(4, 3)
BackendConfig = q.backend_config.BackendConfig


def prepare(mapping: Any, model: Any = None, **options: Any) -> Any:
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU()) if model is None else model
    prepared = fx.prepare_fx(model.eval(), mapping, (X,), **options)
    prepared(X)
    return prepared


def everywhere(qconfig: Any) -> Any:
    return q.QConfigMapping().set_global(qconfig)


def backend_of_linear(bias_dtype: Any) -> Any:
    """A back end with nothing but linear layers."""
    types = q.backend_config.DTypeConfig(pyqref.quint8, pyqref.quint8, pyqref.qint8, bias_dtype)
    linear = (
        q.backend_config.BackendPatternConfig(nn.Linear)
        .add_dtype_config(types)
        .set_root_module(nn.Linear)
        .set_reference_quantized_module(nn.quantized.reference.Linear)
    )
    return BackendConfig("own").set_backend_pattern_config(linear)


def test_a_constructor_that_makes_no_observer() -> None:
    """The one that is named makes one."""
    weight = q.default_weight_observer
    with says("use MinMaxObserver.with_args(dtype=pyqref.quint8), for example"):
        prepare(everywhere(q.QConfig(activation=nn.Identity, weight=weight)))
    activation = q.MinMaxObserver.with_args(dtype=pyqref.quint8)
    fx.convert_fx(prepare(everywhere(q.QConfig(activation=activation, weight=weight))))


def test_a_qconfig_that_does_not_fit() -> None:
    """One that fits is quantized, and None says nothing."""
    signed = q.QConfig(
        activation=q.MinMaxObserver.with_args(dtype=pyqref.qint8), weight=q.default_weight_observer
    )
    mapping = everywhere(q.default_qconfig)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    with says("give a QConfig that fits in the qconfig_mapping, or None for parts that stay float"):
        prepare(copy.deepcopy(mapping).set_module_name("0", signed), model)
    prepare(copy.deepcopy(mapping).set_module_name("0", q.default_qconfig), model)
    prepare(mapping.set_module_name("0", None), model)


def test_observers_where_fake_quantizers_are_needed() -> None:
    """The mapping that is named trains; prepare_fx calibrates."""
    mapping, model = q.get_default_qconfig_mapping(), nn.Sequential(nn.Linear(3, 3))
    with says(
        "pass get_default_qat_qconfig_mapping('x86'), for example, or use prepare_fx to calibrate"
    ):
        fx.prepare_qat_fx(model.train(), mapping, (X,))
    fx.prepare_qat_fx(model.train(), q.get_default_qat_qconfig_mapping("x86"), (X,))(X)
    prepare(mapping, model)


def test_mappings_that_quantize_nothing() -> None:
    """A mapping with a QConfig for what the back end knows, or another back end."""
    with says("pass get_default_qconfig_mapping('x86'), for example, or call set_global"):
        prepare(q.QConfigMapping())
    prepare(q.get_default_qconfig_mapping("x86"))
    prepare(q.QConfigMapping().set_global(q.get_default_qconfig("x86")))
    only_relu = q.QConfigMapping().set_object_type(nn.ReLU, q.default_qconfig)
    model, own = nn.Sequential(nn.Linear(3, 3), nn.ReLU()), backend_of_linear(None)
    with says(
        "give others a QConfig in the qconfig_mapping, or pass a backend_config that knows these"
    ):
        prepare(only_relu, model, backend_config=own)
    both = copy.deepcopy(only_relu).set_object_type(nn.Linear, q.default_qconfig)
    prepare(both, model, backend_config=own)
    sigmoid = nn.Sequential(nn.Sigmoid())
    mapping = q.QConfigMapping().set_object_type(
        nn.Sigmoid, q.get_default_qconfig_mapping().object_type_qconfigs[nn.Sigmoid]
    )
    with says("pass a backend_config that knows these"):
        prepare(mapping, sigmoid, backend_config=own)
    native = q.backend_config.get_native_backend_config()
    prepare(mapping, sigmoid, backend_config=native)


def test_a_mapping_at_convert_that_leaves_nothing() -> None:
    """Without it, or with a None for a part."""
    given = everywhere(q.default_qconfig)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    none = q.QConfigMapping().set_global(None)
    with says("leave it out, or set only some of them to None"):
        fx.convert_fx(prepare(given, model), qconfig_mapping=none)
    fx.convert_fx(prepare(given, model))
    some = copy.deepcopy(given).set_module_name("1", None)
    converted = fx.convert_fx(prepare(given, model), qconfig_mapping=some)
    assert [nn.quantized.Linear, nn.Linear] == [
        type(converted.get_submodule(name)) for name in "01"
    ]


def test_activations_that_are_one_value() -> None:
    """Data that differs, no qconfig for the layer, and torch's own convention."""
    mapping = everywhere(q.default_qconfig)
    last = nn.Linear(3, 2)
    last.weight.data.copy_(1e-12 * floats(2, 3))
    last.bias.data.fill_(0.3)
    model = nn.Sequential(nn.Linear(3, 3), last)
    with says(
        "calibrate on data that differs, set the qconfig of this place to None, or "
        "pyqref.backends.quantized.conventions = 'torch'"
    ):
        fx.convert_fx(prepare(mapping, model))
    prepared = prepare(mapping, model)
    prepared(1e12 * X)
    fx.convert_fx(prepared)
    fx.convert_fx(prepare(copy.deepcopy(mapping).set_module_name("1", None), model))
    pyqref.backends.quantized.conventions = "torch"
    fx.convert_fx(prepare(mapping, model))


def test_a_type_of_bias_that_no_qconfig_asks_for() -> None:
    """Without it the layer is quantized, and lowering gives the bias its integers."""
    mapping = everywhere(q.default_qconfig)
    with says(
        "leave bias_dtype out of the DTypeConfig, and quantize the bias where the reference model "
        "is lowered",
        "give None in the qconfig_mapping for parts that stay float",
    ):
        prepare(
            mapping, nn.Sequential(nn.Linear(3, 3)), backend_config=backend_of_linear(pyqref.int32)
        )
    without = nn.Linear(3, 3, bias=False)
    prepare(
        copy.deepcopy(mapping).set_module_name("0", None),
        nn.Sequential(nn.Linear(3, 3), without),
        backend_config=backend_of_linear(pyqref.int32),
    )
    layers = nn.Sequential(nn.Linear(3, 3))
    prepared = prepare(mapping, layers, backend_config=backend_of_linear(None))
    reference = fx.convert_to_reference_fx(prepared, backend_config=backend_of_linear(None))
    layer = reference.get_submodule("0")
    [quantize, *_] = reference.graph.find_nodes(
        op="call_function", target=pyqref.quantize_per_tensor
    )
    step = getattr(reference, quantize.args[1].target).item() * layer.weight_scale.item()
    bias = pyqref.quantize_per_tensor(layer.bias, step, 0, pyqref.qint32)
    assert (bias.dequantize() - layer.bias).abs().max().item() <= 0.51 * step
