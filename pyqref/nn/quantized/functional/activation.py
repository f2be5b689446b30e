"""The quantized activations as functions."""

from __future__ import annotations

from pyqref._typing import Tensor
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_number

__all__ = [
    "celu",
    "clamp",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "leaky_relu",
    "relu",
    "threshold",
]


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Rectified linear unit: :math:`\max(q, z)` on the integers.

    Parameters
    ----------
    input
        Quantized tensor of any dtype.
    inplace
        Write the result into ``input``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.relu(q).dequantize().tolist()
    [0.0, 0.5, 3.0]
    """
    ops.require_per_tensor("quantized.functional.relu", input)
    return ops.relu(input, inplace)


def clamp(input: Tensor, min_: float, max_: float) -> Tensor:
    """Clamp to ``[min_, max_]`` on the integers; scale and zero point stay as they are.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.clamp(q, 0.0, 1.0).dequantize().tolist()
    [0.0, 0.5, 1.0]
    """
    return ops.clamp(input, min_, max_)


def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """Clamp to [min_val, max_val] on the integers; scale and zero point stay as they are.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.hardtanh(q, -1.0, 1.0).dequantize().tolist()
    [-1.0, 0.5, 1.0]
    """
    ops.require_per_tensor("quantized.functional.hardtanh", input)
    ops.require_flags("quantized.functional.hardtanh", inplace=inplace)
    min_val = as_number(min_val, "quantized.functional.hardtanh: min_val")
    max_val = as_number(max_val, "quantized.functional.hardtanh: max_val")
    return F.hardtanh(input, min_val, max_val, inplace)


def hardswish(input: Tensor, scale: float, zero_point: int) -> Tensor:
    r"""Hardswish (equation ``eq-hardswish``) on a grid of its own.

    Parameters
    ----------
    input
        Quantized per tensor, of any dtype and shape.
    scale, zero_point
        Of the output.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.hardswish(q, 0.1, 20).dequantize()
    tensor([-0.3000,  0.3000,  3.0000])
    """
    ops.require_per_tensor("quantized.functional.hardswish", input)
    return ops.hardswish(input, scale, zero_point)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Hardsigmoid (equation ``eq-hardsigmoid``) on the grid of [0, 1).

    Parameters
    ----------
    input
        Quantized per tensor, of any dtype and shape.
    inplace
        Write the result, and its scale and zero point, into ``input``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.hardsigmoid(q).int_repr().tolist()  # scale 1/256, zero point 0
    [43, 149, 255]
    """
    ops.require_per_tensor("quantized.functional.hardsigmoid", input)
    ops.require_flags("quantized.functional.hardsigmoid", inplace=inplace)
    return F.hardsigmoid(input, inplace)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    r"""Exponential linear unit (equation ``eq-elu``) on a grid of its own.

    Parameters
    ----------
    input
        Quantized per tensor, of any dtype and shape.
    scale, zero_point
        Of the output.
    alpha
        Minus the limit to the left.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.elu(q, 0.1, 20).dequantize()
    tensor([-0.9000,  0.5000,  3.0000])
    """
    ops.require_per_tensor("quantized.functional.elu", input)
    return ops.elu(input, scale, zero_point, alpha)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Tensor:
    r"""ELU with :math:`\beta = 1 / \alpha` (equation ``eq-elu``); parameters as of :func:`elu`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.celu(q, 0.1, 20).dequantize()
    tensor([-0.9000,  0.5000,  3.0000])
    """
    ops.require_per_tensor("quantized.functional.celu", input)
    return ops.celu(input, scale, zero_point, alpha)


def leaky_relu(
    input: Tensor,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    r"""Leaky ReLU (equation ``eq-leaky-relu``).

    Parameters
    ----------
    input
        Quantized per tensor, of any dtype and shape.
    negative_slope
        Slope below zero.
    inplace
        Write the result into ``input``; not with output parameters.
    scale, zero_point
        Of the output, both or neither; those of the input if None.

    Raises
    ------
    ValueError
        Only one of them is given.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.leaky_relu(q, 0.1, scale=0.1, zero_point=20).dequantize()
    tensor([-0.2000,  0.5000,  3.0000])
    """
    if (scale is None) != (zero_point is None):
        raise ValueError(
            "quantized.functional.leaky_relu: give both scale and zero_point, or neither, "
            f"got {scale!r} and {zero_point!r}"
        )
    return ops.leaky_relu(input, negative_slope, inplace, scale, zero_point)


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """``value`` for all that is not above ``threshold``; scale and zero point stay.

    Parameters
    ----------
    input
        Quantized per tensor, of any dtype and shape.
    threshold, value
        Real numbers (equation ``eq-threshold``).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.threshold(q, 1.0, 0.0).dequantize().tolist()
    [0.0, 0.0, 3.0]
    """
    for name, number in (("threshold", threshold), ("value", value)):
        if number is None:
            raise ValueError(f"quantized.functional.threshold: {name} must be a number, got None")
    return ops.threshold(input, threshold, value)
