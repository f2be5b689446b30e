"""Pieces of the base library, and the tables of quantization that only look things up."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import parity_case


@parity_case()
def like_another(torch: Any) -> dict[str, Any]:
    """Tensors like another one, random ones from a seed included."""
    x = torch.from_numpy(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    torch.manual_seed(3)
    return {
        "full_like": torch.full_like(x, 7.0),
        "rand_like": torch.rand_like(x),
        "randn_like": torch.randn_like(x),
    }


@parity_case()
def taking_apart(torch: Any) -> dict[str, Any]:
    """Shapes taken apart and put together."""
    x = torch.from_numpy(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return {
        "unbind": [each.contiguous() for each in torch.unbind(x, 1)],
        "method": [each.contiguous() for each in x.unbind(2)],
        "unflatten": x.unflatten(2, (2, 2)),
    }


@parity_case()
def engines(torch: Any) -> dict[str, Any]:
    """The engines that can be chosen."""
    return {"engines": " ".join(sorted(torch.backends.quantized.supported_engines))}


def names_of(found: Any) -> str:
    """Classes and functions by name, in a fixed order."""
    return " ".join(sorted(getattr(each, "__name__", str(each)) for each in found))


@parity_case()
def tables(torch: Any) -> dict[str, Any]:
    """Which classes stand in the tables, and what they are looked up as."""
    q, nn = torch.ao.quantization, torch.nn
    static = (nn.Conv2d, nn.Linear, nn.LayerNorm, nn.ConvTranspose2d)
    return {
        "compared": names_of(q.get_default_compare_output_module_list()),
        "operators": names_of(q.get_default_float_to_quantized_operator_mappings()),
        "static": names_of(q.get_static_quant_module_class(each) for each in static),
        "dynamic": names_of(
            [q.get_dynamic_quant_module_class(each) for each in (nn.LSTM, nn.Linear)]
        ),
        "operator": q.get_quantized_operator(nn.functional.leaky_relu).__name__,
        "base": issubclass(q.MinMaxObserver, q.UniformQuantizationObserverBase),
    }


@parity_case()
def qconfig_dictionaries(torch: Any) -> dict[str, Any]:
    """The default configurations as dictionaries."""
    q = torch.ao.quantization
    made = {"inference": q.get_default_qconfig_dict, "training": q.get_default_qat_qconfig_dict}
    found: dict[str, Any] = {}
    for name, make in made.items():
        table = make("fbgemm")
        found[name] = " ".join(sorted(map(str, table)))
        found[f"{name} types"] = str(len(table.get("object_type", ())))
        found[f"{name} weight"] = type(table[""].weight()).__name__
    return found
