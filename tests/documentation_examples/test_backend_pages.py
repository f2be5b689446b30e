"""The pages of ``DTypeConfig``, ``BackendConfig`` and ``QConfigMapping``: their examples."""

from __future__ import annotations

import pytest
from documentation_examples.runner import assert_in_errata, run

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import QConfigMapping
from pyqref.quantization.backend_config import DTypeConfig, DTypeWithConstraints

DTYPE_CONFIG = """
>>> dtype_config1 = DTypeConfig(
...     input_dtype=torch.quint8,
...     output_dtype=torch.quint8,
...     weight_dtype=torch.qint8,
...     bias_dtype=torch.float)

>>> dtype_config2 = DTypeConfig(
...     input_dtype=DTypeWithConstraints(
...         dtype=torch.quint8,
...         quant_min_lower_bound=0,
...         quant_max_upper_bound=255,
...     ),
...     output_dtype=DTypeWithConstraints(
...         dtype=torch.quint8,
...         quant_min_lower_bound=0,
...         quant_max_upper_bound=255,
...     ),
...     weight_dtype=DTypeWithConstraints(
...         dtype=torch.qint8,
...         quant_min_lower_bound=-128,
...         quant_max_upper_bound=127,
...     ),
...     bias_dtype=torch.float)

>>> dtype_config1.input_dtype
torch.quint8

>>> dtype_config2.input_dtype
torch.quint8

>>> dtype_config2.input_dtype_with_constraints
DTypeWithConstraints(dtype=torch.quint8, quant_min_lower_bound=0, quant_max_upper_bound=255, \
scale_min_lower_bound=None, scale_max_upper_bound=None{more})
"""
NAMES = {"DTypeConfig": DTypeConfig, "DTypeWithConstraints": DTypeWithConstraints}


def test_dtype_config() -> None:
    """The page leaves out the last two fields, which 2.13 prints."""
    with pytest.raises(AssertionError):
        run(DTYPE_CONFIG.format(more=""), **NAMES)
    more = ", scale_exact_match=None, zero_point_exact_match=None"
    run(DTYPE_CONFIG.format(more=more), **NAMES)
    assert_in_errata("leaves out ``scale_exact_match`` and ``zero_point_exact_match``")


def test_dtype_config_from_the_documented_dictionary() -> None:
    """The page says "bias_type"; the key is "bias_dtype"."""
    config = DTypeConfig.from_dict({"input_dtype": pyqref.quint8, "bias_dtype": pyqref.float})
    assert {"input_dtype", "bias_dtype"} <= set(config.to_dict())
    assert_in_errata('"bias_type"')


BACKEND_CONFIG = """
import torch
from torch.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    ObservationType,
)

weighted_int8_dtype_config = DTypeConfig(
    input_dtype=torch.quint8,
    output_dtype=torch.quint8,
    weight_dtype=torch.qint8,
    bias_dtype=torch.float)

def fuse_conv2d_relu(is_qat, conv, relu):
    return torch.ao.nn.intrinsic.ConvReLU2d(conv, relu)

# For quantizing Linear
linear_config = BackendPatternConfig(torch.nn.Linear)             \
.set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)             \
.add_dtype_config(weighted_int8_dtype_config)             \
.set_root_module(torch.nn.Linear)             \
.set_qat_module(torch.ao.nn.qat.Linear)             \
.set_reference_quantized_module(torch.ao.nn.quantized.reference.Linear)

# For fusing Conv2d + ReLU into ConvReLU2d
conv_relu_config = BackendPatternConfig((torch.nn.Conv2d, torch.nn.ReLU))             \
.set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)             \
.add_dtype_config(weighted_int8_dtype_config)             \
.set_fused_module(torch.ao.nn.intrinsic.ConvReLU2d)             \
.set_fuser_method(fuse_conv2d_relu)

# For quantizing ConvReLU2d
fused_conv_relu_config = BackendPatternConfig(torch.ao.nn.intrinsic.ConvReLU2d)             \
.set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)             \
.add_dtype_config(weighted_int8_dtype_config)             \
.set_root_module(torch.nn.Conv2d)             \
.set_qat_module(torch.ao.nn.intrinsic.qat.ConvReLU2d)             \
.set_reference_quantized_module(torch.ao.nn.quantized.reference.Conv2d)

backend_config = BackendConfig("my_backend")             \
.set_backend_pattern_config(linear_config)             \
.set_backend_pattern_config(conv_relu_config)             \
.set_backend_pattern_config(fused_conv_relu_config)
"""


def test_backend_config() -> None:
    config = run(BACKEND_CONFIG)["backend_config"]
    assert "my_backend" == config.name
    assert 3 == len(config.configs)
    assert 3 == len(config.from_dict(config.to_dict()).configs)
    linear = next(each for each in config.configs if each.pattern is nn.Linear)
    assert nn.qat.Linear is linear.qat_module


QCONFIGS = {
    "QConfigMapping": QConfigMapping,
    "global_qconfig": q.default_qconfig,
    "qconfig1": q.default_per_channel_qconfig,
    "qconfig2": q.default_debug_qconfig,
    "qconfig3": q.default_dynamic_qconfig,
    "qconfig_from_prepare": q.default_qconfig,
}


def test_qconfig_mapping() -> None:
    """The calls follow one another on one line, as the page has them."""
    mapping = run(
        "qconfig_mapping = QConfigMapping() .set_global(global_qconfig) "
        ".set_object_type(torch.nn.Linear, qconfig1) .set_object_type(torch.nn.ReLU, qconfig1) "
        '.set_module_name_regex("foo.*bar.*conv[0-9]+", qconfig1) '
        '.set_module_name_regex("foo.*", qconfig2) .set_module_name("module1", qconfig1) '
        '.set_module_name("module2", qconfig2) '
        '.set_module_name_object_type_order("foo.bar", torch.nn.functional.linear, 0, qconfig3)',
        **QCONFIGS,
    )["qconfig_mapping"]
    found = mapping.to_dict()
    assert q.default_qconfig is found[""]
    keys = {
        "object_type",
        "module_name_regex",
        "module_name",
        "module_name_object_type_order",
    }
    assert keys <= set(found)
    assert found == QConfigMapping.from_dict(found).to_dict()


def test_more_specific_expressions_come_first() -> None:
    mapping = run(
        'qconfig_mapping = QConfigMapping() .set_module_name_regex("foo.*bar.*conv[0-9]+", '
        'qconfig1) .set_module_name_regex("foo.*bar.*", qconfig2) '
        '.set_module_name_regex("foo.*", qconfig3)',
        **QCONFIGS,
    )["qconfig_mapping"]
    expected = [
        ("foo.*bar.*conv[0-9]+", q.default_per_channel_qconfig),
        ("foo.*bar.*", q.default_debug_qconfig),
        ("foo.*", q.default_dynamic_qconfig),
    ]
    assert expected == [tuple(each) for each in mapping.to_dict()["module_name_regex"]]


CONVERT = """
qconfig_mapping = {start}
    .set_global(qconfig_from_prepare)
    .set_object_type(torch.nn.functional.add, None)  # skip quantizing torch.nn.functional.add
    .set_object_type(torch.nn.functional.linear, qconfig_from_prepare)
    .set_module_name("foo.bar", None){end}  # skip quantizing module "foo.bar"
"""


def test_qconfig_mapping_of_convert_fx() -> None:
    """Three slips: no call of the class, lines that go on without a mark, and no such ``add``."""
    with pytest.raises(SyntaxError):
        run(CONVERT.format(start="QConfigMapping", end=""), **QCONFIGS)
    text = CONVERT.format(start="(QConfigMapping()", end=")")
    with pytest.raises(AttributeError, match="add"):
        run(text, **QCONFIGS)
    mapping = run(text.replace("torch.nn.functional.add,", "torch.add,"), **QCONFIGS)
    found = mapping["qconfig_mapping"].to_dict()
    assert (pyqref.add, None) in [tuple(each) for each in found["object_type"]]
    assert_in_errata("``torch.nn.functional.add`` does not exist")


def test_convert_fx() -> None:
    """``quantized_model = convert_fx(prepared_model)``, as on the page of ``convert_fx``."""
    model = pyqref.nn.Sequential(pyqref.nn.Linear(4, 3), pyqref.nn.ReLU()).eval()
    x = pyqref.rand(8, 4)
    mapping = pyqref.quantization.get_default_qconfig_mapping("fbgemm")
    prepared_model = pyqref.quantization.quantize_fx.prepare_fx(model, mapping, (x,))
    prepared_model(x)
    names = {
        "convert_fx": pyqref.quantization.quantize_fx.convert_fx,
        "prepared_model": prepared_model,
    }
    quantized_model = run("quantized_model = convert_fx(prepared_model)", **names)[
        "quantized_model"
    ]
    expected = pyqref.nn.intrinsic.quantized.LinearReLU
    assert expected is type(next(iter(quantized_model.children())))
    assert (quantized_model(x) - model(x)).abs().max().item() < 0.05
