"""Packed weights as plain values and tensors, and back.

The kernels' order of the integers is not stored: loading packs anew, for this processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..backends import quantized as settings
from ..nn.quantized.dynamic.modules.projections import PackedProjections
from ..ops import quantized as ops
from ..ops.quantized.embedding import PackedEmbedding
from ..ops.quantized.linear_dynamic import PackedLinearFloat16
from ..ops.quantized.packed import PackedLinear
from ..ops.quantized.packed_conv import PackedConv, PackedConvTranspose

__all__ = ["describe_packed", "packed_from"]


def describe_packed(packed: object) -> dict[str, Any] | None:
    """Return the parts of a packed weight, or None for other objects."""
    if isinstance(packed, PackedProjections):
        return {
            "kind": "projections",
            "of_input": describe_packed(packed.of_input),
            "of_hidden": describe_packed(packed.of_hidden),
        }
    if isinstance(packed, PackedEmbedding):
        return {"kind": "embedding", "weight": packed.weight}
    if isinstance(packed, PackedLinearFloat16):
        return {"kind": "linear_float16", "weight": packed.weight, "bias": packed.bias_tensor}
    if not isinstance(packed, (PackedLinear, PackedConv)):
        return None
    described: dict[str, Any] = {
        "weight": packed.weight,
        "bias": packed.bias_tensor,
        "engine": packed.engine,
        "output_range": list(packed.output_range),
    }
    if isinstance(packed, PackedLinear):
        return {"kind": "linear", **described}
    described.update(
        stride=list(packed.stride),
        padding=list(packed.padding),
        dilation=list(packed.dilation),
        groups=packed.groups,
    )
    if isinstance(packed, PackedConvTranspose):
        described["output_padding"] = list(packed.output_padding)
        return {"kind": "conv_transpose", **described}
    return {"kind": "conv", **described}


def packed_from(described: object) -> Any:
    """The packed weight that :func:`describe_packed` took apart; every value is checked.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        A value is missing or wrong.
    """
    if not isinstance(described, dict) or "kind" not in described:
        raise TypeError("a packed weight must have a kind")
    values = dict(described)
    kind = values.pop("kind")
    if kind == "projections":
        return _projections(values)
    if kind == "embedding":
        _require_keys(values, "weight")
        return ops.embedding_bag_prepack(values["weight"])
    if kind == "linear_float16":
        _require_keys(values, "weight", "bias")
        return ops.linear_prepack_fp16(values["weight"], values["bias"])
    if kind not in ("linear", "conv", "conv_transpose"):
        raise ValueError(f"a packed weight cannot be of kind {kind!r}")
    return _with_engine(kind, values)


def _with_engine(kind: str, values: dict[str, Any]) -> Any:
    engine, low_high = values.pop("engine", None), values.pop("output_range", None)
    if engine not in settings.supported_engines:
        raise ValueError(f"a packed weight cannot be for the engine {engine!r}")
    if not isinstance(low_high, list) or len(low_high) != 2:
        raise ValueError(f"output_range must be two integers, found {low_high!r}")
    low, high = low_high
    if type(low) is not int or type(high) is not int or not -(2**31) <= low <= high < 2**31:
        raise ValueError(f"output_range must be two integers in order, found {low_high!r}")
    before = settings.engine
    settings.engine = engine
    try:
        packed = _prepacked(kind, values)
    finally:
        settings.engine = before
    if (low, high) != tuple(packed.output_range):
        packed.output_range = (low, high)
    return packed


def _prepacked(kind: str, values: dict[str, Any]) -> Any:
    if kind == "linear":
        _require_keys(values, "weight", "bias")
        return ops.linear_prepack(values["weight"], values["bias"])
    geometry = ["stride", "padding", "dilation"]
    if kind == "conv_transpose":
        geometry.append("output_padding")
    _require_keys(values, "weight", "bias", "groups", *geometry)
    if type(values["groups"]) is not int:
        raise TypeError(f"groups must be an integer, found {values['groups']!r}")
    lengths = {len(values[each]) for each in geometry if isinstance(values[each], list)}
    spatial = next(iter(lengths), 0)
    numbers = [number for each in geometry for number in values[each]]
    if len(lengths) != 1 or spatial not in (1, 2, 3) or any(type(n) is not int for n in numbers):
        raise ValueError(f"stride, padding and dilation must be lists of integers of {kind}")
    prepack: Callable[..., Any] = getattr(ops, f"{kind}{spatial}d_prepack")
    return prepack(**{key: _plain(value) for key, value in values.items()})


def _projections(values: dict[str, Any]) -> PackedProjections:
    _require_keys(values, "of_input", "of_hidden")
    made = PackedProjections.__new__(PackedProjections)
    made.of_input = packed_from(values["of_input"])
    made.of_hidden = packed_from(values["of_hidden"])
    kinds = (PackedLinear, PackedLinearFloat16)
    if not isinstance(made.of_input, kinds) or type(made.of_input) is not type(made.of_hidden):
        raise ValueError("the weights of a recurrent layer must both be linear")
    return made


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _require_keys(values: dict[str, Any], *keys: str) -> None:
    if set(values) != set(keys):
        raise ValueError(f"a packed weight must have {sorted(keys)}, found {sorted(values)}")
