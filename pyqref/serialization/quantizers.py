"""The quantizer of a tensor as plain values, and back after checking every one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import dtypes
from .._typing import Tensor
from ..tape import Array
from ..tensor.quantized import PerTensorQuantizer, make_per_channel, make_per_tensor
from .container import short
from .errors import FileError
from .reals import real_from_json, real_to_json

__all__ = ["describe_quantizer", "quantized_tensor"]

_DTYPES = {each._name: each for each in (dtypes.quint8, dtypes.qint8, dtypes.qint32)}
_DTYPES |= {each._name: each for each in (dtypes.quint4x2, dtypes.quint2x4)}
_SCHEMES = {
    each._name: each
    for each in (
        dtypes.per_channel_affine,
        dtypes.per_channel_symmetric,
        dtypes.per_channel_affine_float_qparams,
    )
}


def describe_quantizer(tensor: Tensor) -> dict[str, Any]:
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
        "zero_points": [real_to_json(each) for each in quantizer.zero_points.tolist()],
    }


def quantized_tensor(array: Array, found: Mapping[str, Any], where: str) -> Tensor:
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
    try:
        return _checked(array, found)
    except (TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{where}: {error}") from error


def _checked(array: Array, found: Any) -> Any:
    """Types and lengths are checked here, ranges by the quantizers themselves."""
    if not isinstance(found, dict):
        raise TypeError(f"the quantizer must be an object, found {short(found)}")
    name = found.get("dtype")
    dtype = _DTYPES.get(name) if isinstance(name, str) else None
    if dtype is None:
        raise ValueError(f"dtype must be one of {', '.join(_DTYPES)}, found {short(name)}")
    if dtype.bits < 8 and array.size and array.max() > dtype.quant_max:
        raise ValueError(
            f"elements must be in [0, {dtype.quant_max}] for {dtype._name}, found {array.max()}"
        )
    if set(found) == {"dtype", "scale", "zero_point"}:
        scale, zero_point = found["scale"], found["zero_point"]
        _check_numbers("scale", [scale], (int, float))
        _check_numbers("zero_point", [zero_point], (int,))
        return make_per_tensor(array, scale, zero_point, dtype)
    if set(found) != {"dtype", "qscheme", "axis", "scales", "zero_points"}:
        raise ValueError(f"the quantizer has {short(sorted(found))}")
    name = found["qscheme"]
    qscheme = _SCHEMES.get(name) if isinstance(name, str) else None
    if qscheme is None:
        raise ValueError(f"qscheme must be one of {', '.join(_SCHEMES)}, found {short(name)}")
    floating = qscheme is dtypes.per_channel_affine_float_qparams
    _check_numbers("axis", [found["axis"]], (int,))
    _check_numbers("scales", found["scales"], (int, float))
    zero_points = found["zero_points"]
    if floating and isinstance(zero_points, list):
        zero_points = [real_from_json(each) for each in zero_points]
        _check_numbers("zero_points", zero_points, (int, float), finite=False)
    else:
        _check_numbers("zero_points", zero_points, (int,))
    scales = np.array([float(scale) for scale in found["scales"]])
    zero_points = np.array(zero_points, np.float64 if floating else np.int64)
    return make_per_channel(array, scales, zero_points, found["axis"], dtype, qscheme=qscheme)


def _check_numbers(name: str, values: Any, kinds: tuple[type, ...], *, finite: bool = True) -> None:
    wanted = ("finite " if finite else "") + " or ".join(kind.__name__ for kind in kinds)
    if not isinstance(values, list):
        raise TypeError(f"{name} must be a list of {wanted}, found {short(values)}")
    for value in values:
        if type(value) not in kinds or (finite and not -math.inf < value < math.inf):
            raise TypeError(f"{name} must be a {wanted}, found {short(value)}")
