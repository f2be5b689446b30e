"""Every ready-made observer, fake quantizer and qconfig: what it is, and what it chooses."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import parity_case


def data(torch: Any) -> Any:
    """A weight-like table: four channels of five numbers, of different widths."""
    rng = np.random.default_rng(11)
    table = rng.standard_normal((4, 5)) * np.array([[0.1], [1.0], [5.0], [0.5]])
    return torch.from_numpy(table.astype(np.float32))


def behaviour(torch: Any, module: Any) -> dict[str, Any]:
    """Settings of an observer or fake quantizer, and what it makes of the data."""
    names = ["dtype"]
    if hasattr(module, "quant_min"):
        names += ["qscheme", "quant_min", "quant_max", "reduce_range", "ch_axis"]
    settings = [f"{name}={getattr(module, name)}" for name in names if hasattr(module, name)]
    output = module(data(torch))
    numbers = []
    if hasattr(module, "fake_quant_enabled"):
        settings += [
            f"enabled={int(module.fake_quant_enabled[0])}{int(module.observer_enabled[0])}",
            type(module.activation_post_process).__name__,
        ]
        numbers.append(output)
    try:
        numbers += module.calculate_qparams()
    except Exception:
        settings.append("no parameters")
    flat = [np.asarray(each.detach().numpy(), np.float64).ravel() for each in numbers]
    text = " ".join(settings).replace("torch.", "").replace("pyqref.", "")
    return {"settings": text, "numbers": np.concatenate(flat) if flat else np.zeros(0)}


def each(torch: Any, names: str) -> dict[str, Any]:
    """The behaviour of several ready-made objects, by name."""
    return {
        name: behaviour(torch, getattr(torch.ao.quantization, name)()) for name in names.split()
    }


def each_half(torch: Any, names: str) -> dict[str, Any]:
    """The behaviour of the two halves of several qconfigs, by name."""
    return {
        name: {
            half: behaviour(torch, getattr(getattr(torch.ao.quantization, name), half)())
            for half in ("activation", "weight")
        }
        for name in names.split()
    }


@parity_case(conventions="torch")
def observers(torch: Any) -> dict[str, Any]:
    """The ready-made observers."""
    return each(
        torch,
        """
        default_affine_fixed_qparams_observer default_dynamic_quant_observer
        default_fixed_qparams_range_0to1_observer default_fixed_qparams_range_neg1to1_observer
        default_float_qparams_observer default_float_qparams_observer_4bit
        default_histogram_observer default_per_channel_weight_observer
        default_placeholder_observer default_reuse_input_observer
        default_symmetric_fixed_qparams_observer default_weight_observer default_debug_observer
        """,
    )


@parity_case(conventions="torch")
def fake_quantizers(torch: Any) -> dict[str, Any]:
    """The ready-made fake quantizers."""
    return each(
        torch,
        """
        default_affine_fixed_qparams_fake_quant default_dynamic_fake_quant
        default_embedding_fake_quant default_embedding_fake_quant_4bit default_fake_quant
        default_fixed_qparams_range_0to1_fake_quant
        default_fixed_qparams_range_neg1to1_fake_quant default_fused_act_fake_quant
        default_fused_per_channel_wt_fake_quant default_fused_wt_fake_quant
        default_histogram_fake_quant default_per_channel_weight_fake_quant
        default_symmetric_fixed_qparams_fake_quant default_weight_fake_quant
        """,
    )


@parity_case(conventions="torch")
def fused_narrow_weights(torch: Any) -> dict[str, Any]:
    """The fused fake quantizers of weights that leave -128 out."""
    module = torch.ao.quantization.fake_quantize
    names = """
        fused_wt_fake_quant_range_neg_127_to_127
        fused_per_channel_wt_fake_quant_range_neg_127_to_127
    """
    return {name: behaviour(torch, getattr(module, name)()) for name in names.split()}


@parity_case(conventions="torch")
def qconfigs(torch: Any) -> dict[str, Any]:
    """The ready-made qconfigs."""
    return each_half(
        torch,
        """
        default_activation_only_qconfig default_debug_qconfig default_dynamic_qat_qconfig
        default_dynamic_qconfig default_embedding_qat_qconfig
        default_embedding_qat_qconfig_4bit default_qat_qconfig
        default_qat_qconfig_v2 default_quint8_weight_qconfig default_reuse_input_qconfig
        default_weight_only_qconfig float16_static_qconfig
        float_qparams_weight_only_qconfig float_qparams_weight_only_qconfig_4bit
        per_channel_dynamic_qconfig
        """,
    )


@parity_case(conventions="torch")
def qnnpack_qconfigs(torch: Any) -> dict[str, Any]:
    """The symmetric qconfigs for qnnpack, which stand in the module ``qconfig`` only."""
    module = torch.ao.quantization.qconfig
    names = """
        default_per_channel_symmetric_qnnpack_qat_qconfig
        default_per_channel_symmetric_qnnpack_qconfig default_symmetric_qnnpack_qat_qconfig
        default_symmetric_qnnpack_qconfig
    """
    return {
        name: {
            half: behaviour(torch, getattr(getattr(module, name), half)())
            for half in ("activation", "weight")
        }
        for name in names.split()
    }


@parity_case(conventions="torch")
def qconfigs_of_engines(torch: Any) -> dict[str, Any]:
    """``get_default_qconfig`` and ``get_default_qat_qconfig`` for each engine."""
    found: dict[str, Any] = {}
    for engine in ("fbgemm", "qnnpack", "x86", "onednn"):
        for name in ("get_default_qconfig", "get_default_qat_qconfig"):
            qconfig = getattr(torch.ao.quantization, name)(engine)
            for half in ("activation", "weight"):
                found[f"{name} {engine} {half}"] = behaviour(torch, getattr(qconfig, half)())
    return found
