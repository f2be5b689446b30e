"""Linear layers on integers."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.dtypes import quint8
from pyqref.tensor.quantized import PerTensorQuantizer, QuantizedTensor, make_quantized

from .checks import (
    output_quantizer,
    require_bias,
    require_packed,
    require_per_tensor,
    require_weight,
    unpacked,
)
from .packed import PackedLinear

__all__ = ["linear", "linear_prepack", "linear_relu", "linear_unpack", "require_linear_input"]


_INPUT_DTYPES = (quint8,)


def linear_prepack(W: Tensor, B: Tensor | None = None) -> PackedLinear:
    """Make a weight ready for :func:`linear`, on the engine that is set now.

    Parameters
    ----------
    W
        qint8 weight ``(N, K)``, per tensor or per channel along axis 0.
    B
        float32 bias ``(N,)``, or None.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> ops.linear(x, packed, 0.5, 0).item()
    1.5
    """
    require_weight("quantized.linear_prepack", W, 2)
    require_bias("quantized.linear_prepack", B, W.shape[0])
    return PackedLinear(W, None if B is None else B.detach())


def linear_unpack(W_prepack: PackedLinear) -> tuple[Any, Any]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> weight, bias = ops.linear_unpack(packed)
    >>> weight.int_repr().tolist(), bias.tolist()
    ([[6, -2]], [0.5])
    """
    parts: tuple[Any, Any] = unpacked(
        "quantized.linear_unpack", "W_prepack", W_prepack, PackedLinear
    )
    return parts


def linear(X: Tensor, W_prepack: PackedLinear, Y_scale_i: float, Y_zero_point_i: int) -> Tensor:
    r"""Quantized linear layer.

    Equations ``eq-linear-accumulator`` and ``eq-requantize``.

    Parameters
    ----------
    X
        quint8 ``(*, K)`` with at least two dimensions, quantized per tensor.
    W_prepack
        From :func:`linear_prepack`.
    Y_scale_i, Y_zero_point_i
        Parameters of the output, quint8 ``(*, N)``.

    Raises
    ------
    RuntimeError
        The input has another dtype, one dimension, or not K features.
    ValueError
        The scale is not positive and finite, or the zero point is not in [0, 255].

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, -0.5]]), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([1.0]))
    >>> pyqref.ops.quantized.linear(x, packed, 0.25, 3).int_repr().tolist()
    [[7]]
    """
    return _linear("quantized.linear", X, W_prepack, Y_scale_i, Y_zero_point_i, False)


def linear_relu(
    X: Tensor, W_prepack: PackedLinear, Y_scale_i: float, Y_zero_point_i: int
) -> Tensor:
    """:func:`linear`, with no integer below the zero point of the output.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> ops.linear_relu(x, packed, 0.125, 8).item()
    1.5
    """
    return _linear("quantized.linear_relu", X, W_prepack, Y_scale_i, Y_zero_point_i, True)


def _linear(
    name: str, x: Any, packed: PackedLinear, scale: float, zero_point: int, relu: bool
) -> Any:
    call = None
    if (
        type(x) is QuantizedTensor
        and isinstance(packed, PackedLinear)
        and type(scale) is float
        and type(zero_point) is int
    ):
        shape = x._array.shape
        call = packed.call(name, x._quantizer, len(shape) > 1, shape[-1:], scale, zero_point)
        last = packed.prepared
        if last.call == call:
            return make_quantized(last.run(x._array), last.out)
    own = require_linear_input(name, x, packed)
    out = output_quantizer(name, scale, zero_point)
    if settings.arithmetic is None:
        requant = packed.requantization(own.scale, out.scale, out.zero_point, relu)
        run = packed.prepare(own.zero_point, requant)
    else:
        run = settings.arithmetic.prepare(packed, own.grid, out.grid, relu)
    packed.keep(call, run, out)
    return make_quantized(run(x._array), out)


def require_linear_input(name: str, x: Tensor, packed: PackedLinear) -> PerTensorQuantizer:
    """Raise unless the input is quint8 ``(*, K)`` and the weight a packed ``(N, K)``."""
    own = require_per_tensor(name, x, _INPUT_DTYPES)
    require_packed(name, "W_prepack", packed, PackedLinear, "linear_prepack")
    shape = x._array.shape
    if len(shape) < 2:
        raise RuntimeError(
            f"{name}: the dimension of input tensor should be larger than or equal to 2, got "
            f"shape {tuple(x.shape)}; add one with x.unsqueeze(0)"
        )
    features = packed.shape[1]
    if shape[-1] != features:
        raise RuntimeError(
            f"{name}: the weight takes {features} features, got an input of shape {shape}"
        )
    return own
