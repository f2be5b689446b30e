"""Questions about what a qconfig asks for.

Read :func:`get_quant_type` to see how the activations and the weight of a qconfig tell which
kind of quantization it asks for.
"""

from __future__ import annotations

from typing import Any

from pyqref._typing import QConfigLike
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import (
    float16,
    float32,
    int8,
    int16,
    int32,
    qint8,
    qint32,
    quint4x2,
    quint8,
    uint8,
)
from pyqref.quantization.quant_type import QuantType

__all__ = [
    "activation_dtype",
    "activation_is_dynamically_quantized",
    "activation_is_int32_quantized",
    "activation_is_int8_quantized",
    "activation_is_statically_quantized",
    "get_qconfig_dtypes",
    "get_quant_type",
    "op_is_int8_dynamically_quantized",
    "weight_dtype",
    "weight_is_quantized",
    "weight_is_statically_quantized",
]

_STATIC = (quint8, qint8, qint32, float16, uint8, int8, int16, int32)


def _made(qconfig: Any, name: str) -> Any:
    """The observer that a recipe of a qconfig makes."""
    if qconfig is None:
        raise TypeError("qconfig must be a QConfig, got None")
    recipe = getattr(qconfig, name, None)
    if not callable(recipe):
        raise TypeError(f"qconfig must be a QConfig with {name}, got {qconfig!r}")
    observer = recipe()
    if not hasattr(observer, "dtype"):
        raise ValueError(
            f"the {name} of this qconfig has no dtype: {type(observer).__name__} quantizes nothing"
        )
    return observer


def activation_dtype(qconfig: QConfigLike | None) -> Dtype:
    """The type to which a qconfig quantizes activations.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig
    >>> activation_dtype(default_qconfig)
    pyqref.quint8
    """
    dtype: Dtype = _made(qconfig, "activation").dtype
    return dtype


def weight_dtype(qconfig: QConfigLike | None) -> Dtype:
    """The type to which a qconfig quantizes weights.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig, float16_dynamic_qconfig
    >>> weight_dtype(default_qconfig), weight_dtype(float16_dynamic_qconfig)
    (pyqref.qint8, pyqref.float16)
    """
    dtype: Dtype = _made(qconfig, "weight").dtype
    return dtype


def get_qconfig_dtypes(qconfig: QConfigLike | None) -> tuple[Dtype, Dtype, bool]:
    """Type of activations, type of weights, and whether activations are quantized at run time.

    Examples
    --------
    >>> from pyqref.quantization import default_dynamic_qconfig
    >>> get_qconfig_dtypes(default_dynamic_qconfig)
    (pyqref.quint8, pyqref.qint8, True)
    """
    activation = _made(qconfig, "activation")
    return activation.dtype, weight_dtype(qconfig), bool(getattr(activation, "is_dynamic", False))


def activation_is_statically_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if activations get their parameters ahead of time.

    Examples
    --------
    >>> from pyqref.quantization import default_dynamic_qconfig, default_qconfig
    >>> [activation_is_statically_quantized(q) for q in (default_qconfig, default_dynamic_qconfig)]
    [True, False]
    """
    dtype, _, dynamic = _of_activation(qconfig)
    return dtype in _STATIC and not dynamic


def activation_is_dynamically_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if activations get their parameters at run time.

    Examples
    --------
    >>> from pyqref.quantization import default_dynamic_qconfig, default_qconfig
    >>> [activation_is_dynamically_quantized(q) for q in (default_qconfig, default_dynamic_qconfig)]
    [False, True]
    """
    return _of_activation(qconfig)[2]


def activation_is_int8_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if activations become integers of 8 bits.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig
    >>> activation_is_int8_quantized(default_qconfig)
    True
    """
    return activation_dtype(qconfig) in (quint8, qint8, uint8, int8)


def activation_is_int32_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if activations become integers of 32 bits.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig
    >>> activation_is_int32_quantized(default_qconfig)
    False
    """
    return activation_dtype(qconfig) in (qint32, int32)


def _of_activation(qconfig: Any) -> tuple[Dtype, None, bool]:
    activation = _made(qconfig, "activation")
    return activation.dtype, None, bool(getattr(activation, "is_dynamic", False))


def weight_is_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if weights become integers, or numbers of 16 bits.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig, float16_dynamic_qconfig
    >>> weight_is_quantized(default_qconfig), weight_is_quantized(float16_dynamic_qconfig)
    (True, True)
    """
    return weight_dtype(qconfig) in (*_STATIC, quint4x2)


def weight_is_statically_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if weights become integers of 8 bits.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig, float16_dynamic_qconfig
    >>> [weight_is_statically_quantized(q) for q in (default_qconfig, float16_dynamic_qconfig)]
    [True, False]
    """
    return weight_dtype(qconfig) in (quint8, qint8, uint8, int8)


def op_is_int8_dynamically_quantized(qconfig: QConfigLike | None) -> bool:
    """Return True if a qconfig has dynamic 8-bit activations and 8-bit weights.

    Examples
    --------
    >>> from pyqref.quantization import default_dynamic_qconfig, default_qconfig
    >>> [op_is_int8_dynamically_quantized(q) for q in (default_qconfig, default_dynamic_qconfig)]
    [False, True]
    """
    activation, weight, dynamic = get_qconfig_dtypes(qconfig)
    return dynamic and activation in (quint8, uint8) and weight in (qint8, int8)


def get_quant_type(qconfig: QConfigLike | None) -> QuantType:
    """Return the kind of quantization that a qconfig asks for.

    Parameters
    ----------
    qconfig
        A QConfig.

    Returns
    -------
    QuantType
        ``DYNAMIC`` or ``STATIC`` by its activations; ``WEIGHT_ONLY`` if they stay float.

    Raises
    ------
    ValueError
        Neither activations nor weights are quantized.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig, float_qparams_weight_only_qconfig
    >>> get_quant_type(default_qconfig)
    <QuantType.STATIC: 1>
    >>> get_quant_type(float_qparams_weight_only_qconfig)
    <QuantType.WEIGHT_ONLY: 3>
    """
    activation = _made(qconfig, "activation")
    weight = weight_dtype(qconfig)
    if weight in (*_STATIC, quint4x2):
        if getattr(activation, "is_dynamic", False):
            return QuantType.DYNAMIC
        return QuantType.STATIC if activation.dtype in _STATIC else QuantType.WEIGHT_ONLY
    if weight is float32:
        if getattr(activation, "is_dynamic", False):
            return QuantType.DYNAMIC
        if activation.dtype in _STATIC:
            return QuantType.STATIC
    raise ValueError(
        f"qconfig quantizes neither activations ({activation.dtype!r}) nor weights ({weight!r})"
    )
