"""Linear layers with a quantized weight, float in and out."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Tensor
from pyqref.numerics.dynamic import weight_to_float16
from pyqref.tensor.base import wrap

from .checks import require_bias, require_flag, require_float, require_packed, unpacked
from .input import dynamic_elsewhere, require_finite_range
from .packed import PackedLinear

__all__ = [
    "PackedLinearFloat16",
    "linear_dynamic",
    "linear_dynamic_fp16",
    "linear_prepack_fp16",
    "linear_relu_dynamic",
    "linear_relu_dynamic_fp16",
    "linear_unpack_fp16",
    "run_dynamic",
]


class PackedLinearFloat16:
    """A weight rounded to half precision (equation ``eq-float16-weight``), and its bias."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight = wrap(weight_to_float16(weight.detach().numpy()))
        self.shape = tuple(weight.shape)
        self.bias_tensor = bias

    def unpack(self) -> tuple[Any, Any]:
        """The rounded weight, in float32, and the float bias (or None)."""
        return self.weight, self.bias_tensor

    def bias(self) -> Tensor | None:
        """The float bias, or None."""
        return self.bias_tensor


def linear_prepack_fp16(W: Tensor, B: Tensor | None = None) -> PackedLinearFloat16:
    """Make a float32 weight ``(N, K)`` ready for :func:`linear_dynamic_fp16`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> packed = ops.linear_prepack_fp16(pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([0.5]))
    >>> ops.linear_dynamic_fp16(pyqref.tensor([[1.0, 1.0]]), packed).item()
    3.5
    """
    require_float("quantized.linear_prepack_fp16", W, "weight")
    if W.dim() != 2:
        raise RuntimeError(
            "quantized.linear_prepack_fp16: weight must have 2 dimensions, "
            f"got shape {tuple(W.shape)}"
        )
    require_bias("quantized.linear_prepack_fp16", B, W.shape[0])
    return PackedLinearFloat16(W, None if B is None else B.detach())


def linear_unpack_fp16(W_prepack: PackedLinearFloat16) -> tuple[Any, Any]:
    """The rounded weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> packed = pyqref.ops.quantized.linear_prepack_fp16(pyqref.tensor([[0.1]]), pyqref.ones(1))
    >>> weight, bias = pyqref.ops.quantized.linear_unpack_fp16(packed)
    >>> weight.item(), bias.item()
    (0.0999755859375, 1.0)
    """
    parts: tuple[Any, Any] = unpacked(
        "quantized.linear_unpack_fp16", "W_prepack", W_prepack, PackedLinearFloat16
    )
    return parts


def linear_dynamic(X: Tensor, W_prepack: PackedLinear, reduce_range: bool = False) -> Tensor:
    r"""Linear layer that quantizes its input over the range that it has.

    Equation ``eq-linear-dynamic``.

    Parameters
    ----------
    X
        float32 ``(*, K)`` with at least two dimensions.
    W_prepack
        From :func:`linear_prepack`.
    reduce_range
        Quantize the input to 7 bits; qnnpack takes 8 all the same.

    Returns
    -------
    float32 ``(*, N)``.

    Raises
    ------
    ValueError
        The input holds nan or infinity. torch goes on, with numbers in the place of nan.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, -0.5]]), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w)
    >>> pyqref.ops.quantized.linear_dynamic(pyqref.tensor([[127.0, 2.0]]), packed, True)
    tensor([[126.]])
    """
    return wrap(_bytes("quantized.linear_dynamic", X, W_prepack, reduce_range))


def linear_relu_dynamic(X: Tensor, W_prepack: PackedLinear, reduce_range: bool = False) -> Tensor:
    """:func:`linear_dynamic`, with negative results replaced by zero.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> ops.linear_relu_dynamic(pyqref.tensor([[-1.0, 2.0]]), packed).tolist()
    [[0.0]]
    """
    y = _bytes("quantized.linear_relu_dynamic", X, W_prepack, reduce_range)
    return wrap(_without_negative(y))


def linear_dynamic_fp16(X: Tensor, W_prepack: PackedLinearFloat16) -> Tensor:
    r"""Linear layer with a weight of half precision: :math:`x\, \mathrm{half}(W)^T + b`.

    Parameters
    ----------
    X
        float32 ``(*, K)`` with at least two dimensions.
    W_prepack
        From :func:`linear_prepack_fp16`.

    Examples
    --------
    >>> import pyqref
    >>> packed = pyqref.ops.quantized.linear_prepack_fp16(pyqref.tensor([[0.1, 1e6]]), None)
    >>> x = pyqref.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> pyqref.ops.quantized.linear_dynamic_fp16(x, packed).flatten().tolist()
    [0.0999755859375, 65504.0]
    """
    return wrap(_halves("quantized.linear_dynamic_fp16", X, W_prepack))


def linear_relu_dynamic_fp16(X: Tensor, W_prepack: PackedLinearFloat16) -> Tensor:
    """:func:`linear_dynamic_fp16`, with negative results replaced by zero."""
    return wrap(_without_negative(_halves("quantized.linear_relu_dynamic_fp16", X, W_prepack)))


def run_dynamic(
    x: np.ndarray,
    packed: PackedLinear | PackedLinearFloat16,
    reduce_range: bool = True,
    what: str = "the input",
) -> np.ndarray:
    """The array form of the two dynamic layers: float32 ``(*, K)`` to ``(*, N)``."""
    if isinstance(packed, PackedLinearFloat16):
        with np.errstate(over="ignore", invalid="ignore"):
            y: np.ndarray = x @ packed.weight._array.T
            return y if packed.bias_tensor is None else np.add(y, packed.bias_tensor._array, out=y)
    real = dynamic_elsewhere("quantized.linear_dynamic", x, packed, reduce_range, what)
    if real is not None:
        return real
    y, low, high = packed.run_dynamic(x, reduce_range)
    require_finite_range(low, high, what)
    return y


def _bytes(name: str, x: Any, packed: Any, reduce_range: Any) -> np.ndarray:
    array = _rows(name, x, packed, PackedLinear, "linear_prepack")
    return run_dynamic(array, packed, require_flag(name, "reduce_range", reduce_range))


def _halves(name: str, x: Any, packed: Any) -> np.ndarray:
    return run_dynamic(_rows(name, x, packed, PackedLinearFloat16, "linear_prepack_fp16"), packed)


def _rows(name: str, x: Any, packed: Any, kind: type, prepack: str) -> np.ndarray:
    """The input of a packed weight as an array ``(..., K)`` with at least two dimensions."""
    require_float(name, x)
    require_packed(name, "W_prepack", packed, kind, prepack)
    array: np.ndarray = x._array
    shape = array.shape
    if len(shape) < 2 or shape[-1] != packed.shape[1]:
        raise RuntimeError(
            f"{name}: input must have at least 2 dimensions, the last of length {packed.shape[1]}, "
            f"got shape {tuple(x.shape)}"
        )
    return array


def _without_negative(y: np.ndarray) -> np.ndarray:
    return np.maximum(y, np.float32(0), out=y)
