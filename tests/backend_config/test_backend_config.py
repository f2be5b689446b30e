"""``BackendConfig`` and ``BackendPatternConfig``: the example of their page, and errors."""

from __future__ import annotations

from typing import Any

import pytest
from pyqref.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    ObservationType,
    get_executorch_backend_config,
    get_fbgemm_backend_config,
    get_native_backend_config,
    get_native_backend_config_dict,
    get_onednn_backend_config,
    get_qnnpack_backend_config,
    get_tensorrt_backend_config,
    get_tensorrt_backend_config_dict,
)

import pyqref as torch


def documented_config() -> BackendConfig:
    """The example on the page of ``BackendConfig``."""
    weighted_int8_dtype_config = DTypeConfig(
        input_dtype=torch.quint8,
        output_dtype=torch.quint8,
        weight_dtype=torch.qint8,
        bias_dtype=torch.float,
    )

    def fuse_conv2d_relu(is_qat: bool, conv: Any, relu: Any) -> Any:
        return torch.ao.nn.intrinsic.ConvReLU2d(conv, relu)

    linear_config = (
        BackendPatternConfig(torch.nn.Linear)
        .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
        .add_dtype_config(weighted_int8_dtype_config)
        .set_root_module(torch.nn.Linear)
        .set_qat_module(torch.ao.nn.qat.Linear)
        .set_reference_quantized_module(torch.ao.nn.quantized.reference.Linear)
    )
    conv_relu_config = (
        BackendPatternConfig((torch.nn.Conv2d, torch.nn.ReLU))
        .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
        .add_dtype_config(weighted_int8_dtype_config)
        .set_fused_module(torch.ao.nn.intrinsic.ConvReLU2d)
        .set_fuser_method(fuse_conv2d_relu)
    )
    fused_conv_relu_config = (
        BackendPatternConfig(torch.ao.nn.intrinsic.ConvReLU2d)
        .set_observation_type(ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT)
        .add_dtype_config(weighted_int8_dtype_config)
        .set_root_module(torch.nn.Conv2d)
        .set_qat_module(torch.ao.nn.intrinsic.qat.ConvReLU2d)
        .set_reference_quantized_module(torch.ao.nn.quantized.reference.Conv2d)
    )
    return (
        BackendConfig("my_backend")
        .set_backend_pattern_config(linear_config)
        .set_backend_pattern_config(conv_relu_config)
        .set_backend_pattern_config(fused_conv_relu_config)
    )


def test_documented_example() -> None:
    """Three patterns, in the order in which they were set."""
    config = documented_config()
    assert "my_backend" == config.name
    patterns = [each.pattern for each in config.configs]
    fused = torch.nn.intrinsic.ConvReLU2d
    assert [torch.nn.Linear, (torch.nn.Conv2d, torch.nn.ReLU), fused] == patterns


@pytest.mark.parametrize(
    "get",
    [
        documented_config,
        get_executorch_backend_config,
        get_fbgemm_backend_config,
        get_native_backend_config,
        get_onednn_backend_config,
        get_qnnpack_backend_config,
        get_tensorrt_backend_config,
    ],
)
def test_dictionaries_are_inverses(get: Any) -> None:
    """``from_dict(to_dict())`` has the same dictionary."""
    items = get().to_dict()
    assert items == BackendConfig.from_dict(items).to_dict()


def test_dictionary_functions() -> None:
    """``get_native_backend_config_dict`` and its like."""
    assert "native" == get_native_backend_config_dict()["name"]
    assert "tensorrt" == get_tensorrt_backend_config_dict()["name"]


def test_configs_is_a_copy() -> None:
    """Changing the list changes nothing."""
    config = documented_config()
    config.configs.clear()
    assert 3 == len(config.configs)


def test_setting_a_pattern_again_overrides_and_keeps_its_place() -> None:
    """Documented: "This overrides any existing config for the given pattern"."""
    config = documented_config()
    config.set_backend_pattern_configs([BackendPatternConfig(torch.nn.Linear)]).set_name("mine")
    assert "mine" == config.name
    assert (3, []) == (len(config.configs), config.configs[0].dtype_configs)


def test_patterns_are_needed_and_unique() -> None:
    """No pattern, or two forms of one."""
    with pytest.raises(ValueError, match="must be specified"):
        BackendConfig().set_backend_pattern_config(BackendPatternConfig())
    with pytest.raises(ValueError, match="Only one of"):
        BackendPatternConfig(torch.nn.Linear)._set_pattern_complex_format(("add", "mul"))
    with pytest.raises(ValueError, match="Only one of"):
        BackendPatternConfig()._set_pattern_complex_format(("add", "mul")).set_pattern("add")


def test_wrong_keys_and_types() -> None:
    """Neither is silently ignored."""
    with pytest.raises(ValueError, match="got 'foo'"):
        BackendPatternConfig.from_dict({"foo": 1})
    with pytest.raises(ValueError, match="list of DTypeConfigs"):
        BackendPatternConfig.from_dict({"dtype_configs": [3]})
    with pytest.raises(ValueError, match=r"got \['patterns'\]"):
        BackendConfig.from_dict({"patterns": []})
    with pytest.raises(ValueError, match="list of dictionaries"):
        BackendConfig.from_dict({"configs": [3]})
    with pytest.raises(TypeError, match="must be an ObservationType"):
        BackendPatternConfig().set_observation_type(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a DTypeConfig"):
        BackendPatternConfig().add_dtype_config({})  # type: ignore[arg-type]


def test_only_pattern_configs_are_set() -> None:
    """Something else is refused where it is given, not where it would be read."""
    with pytest.raises(TypeError, match="config must be a BackendPatternConfig, got 3"):
        BackendConfig().set_backend_pattern_config(3)  # type: ignore[arg-type]
