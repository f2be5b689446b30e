"""The quantizer of a tensor as plain values, and back after checking every one."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..tape import Array
from ..tensor.quantized import PerTensorQuantizer, make_per_channel, make_per_tensor
from .errors import FileError

__all__ = ["describe_quantizer", "quantized_tensor"]

_DTYPES = {each._name: each for each in (dtypes.quint8, dtypes.qint8, dtypes.qint32)}
_DTYPES["quint4x2"] = dtypes.quint4x2
_SCHEMES = {
    each._name: each
    for each in (
        dtypes.per_channel_affine,
        dtypes.per_channel_symmetric,
        dtypes.per_channel_affine_float_qparams,
    )
}


def describe_quantizer(tensor: Any) -> dict[str, Any]:
    """The parameters of a quantized tensor, as numbers, texts and lists of them."""
    quantizer = tensor._quantizer
    if isinstance(quantizer, PerTensorQuantizer):
        return {
            "dtype": quantizer.dtype._name,
            "scale": float(quantizer.scale),
            "zero_point": int(quantizer.zero_point),
        }
    return {
        "dtype": quantizer.dtype._name,
        "qscheme": quantizer.qscheme._name,
        "axis": int(quantizer.axis),
        "scales": quantizer.scales.tolist(),
        "zero_points": quantizer.zero_points.tolist(),
    }


def quantized_tensor(array: Array, found: Any, where: str) -> Any:
    """A quantized tensor on ``array``, from :func:`describe_quantizer`'s values.

    Parameters
    ----------
    array
        The stored integers.
    found
        What the file has.
    where
        File and key, for errors.

    Raises
    ------
    FileError
        A value is missing, of a wrong type or out of range.
    """

    def refuse(name: str, expected: str, value: Any) -> NoReturn:
        raise FileError(f"{where}: {name} must be {expected}, found {repr(value)[:60]}")

    if not isinstance(found, dict):
        refuse("the quantizer", "an object", found)
    dtype = _DTYPES.get(found.get("dtype")) if isinstance(found.get("dtype"), str) else None
    if dtype is None:
        refuse("dtype", f"one of {', '.join(_DTYPES)}", found.get("dtype"))
    if array.dtype != dtype.numpy_dtype:
        refuse("the stored type", f"{dtype.numpy_dtype} for {dtype._name}", str(array.dtype))
    low, high = dtype.quant_min, dtype.quant_max
    if array.size and dtype is dtypes.quint4x2 and array.max() > high:
        refuse("every element", f"in [{low}, {high}] for {dtype._name}", int(array.max()))

    def check_scale(value: Any) -> float:
        if type(value) not in (int, float) or not 0 < value < math.inf:
            refuse("scale", "a finite number > 0", value)
        return float(value)

    def check_zero_point(value: Any) -> int:
        if type(value) is not int or not low <= value <= high:
            refuse("zero_point", f"an integer in [{low}, {high}] for {dtype._name}", value)
        return value

    if set(found) == {"dtype", "scale", "zero_point"}:
        scale, zero_point = check_scale(found["scale"]), check_zero_point(found["zero_point"])
        return make_per_tensor(array, scale, zero_point, dtype)
    if set(found) != {"dtype", "qscheme", "axis", "scales", "zero_points"}:
        refuse("the quantizer", "per tensor or per channel", sorted(found))
    name, axis = found["qscheme"], found["axis"]
    qscheme = _SCHEMES.get(name) if isinstance(name, str) else None
    if qscheme is None:
        refuse("qscheme", f"one of {', '.join(_SCHEMES)}", name)
    if type(axis) is not int or not 0 <= axis < array.ndim:
        refuse("axis", f"an integer in [0, {array.ndim - 1}]", axis)
    for each in ("scales", "zero_points"):
        value = found[each]
        if not isinstance(value, list) or len(value) != array.shape[axis]:
            refuse(each, f"a list of {array.shape[axis]} numbers", value)
    scales = np.array([check_scale(value) for value in found["scales"]], np.float64)
    if qscheme is dtypes.per_channel_affine_float_qparams:
        for value in found["zero_points"]:
            if type(value) not in (int, float) or not -math.inf < value < math.inf:
                refuse("zero_point", "a finite number", value)
        zero_points = np.array(found["zero_points"], np.float64)
    else:
        zero_points = np.array([check_zero_point(z) for z in found["zero_points"]], np.int64)
    return make_per_channel(array, scales, zero_points, axis, dtype, qscheme=qscheme)
