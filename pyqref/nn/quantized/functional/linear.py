"""The quantized linear layer as a function: the weight is packed in each call."""

from __future__ import annotations

from pyqref import dtypes
from pyqref._typing import Tensor
from pyqref.ops import quantized as ops

__all__ = ["linear"]


def linear(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Tensor:
    r"""Linear map of quantized data, :math:`y = x W^T + b` (``eq-linear-accumulator``).

    Parameters
    ----------
    input
        quint8 ``(*, in_features)``, at least two dimensions.
    weight
        qint8 ``(out_features, in_features)``.
    bias
        float32 ``(out_features,)``, or None.
    scale, zero_point
        Of the output; those of the input if None.

    Notes
    -----
    The weight is packed at every call; :class:`pyqref.nn.quantized.Linear` packs it once.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> qF.linear(x, w, pyqref.tensor([0.5]), scale=0.5, zero_point=0).item()
    1.5
    """
    ops.require_per_tensor("quantized.functional.linear", input, (dtypes.quint8,))
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return ops.linear(input, ops.linear_prepack(weight, bias), scale, zero_point)
