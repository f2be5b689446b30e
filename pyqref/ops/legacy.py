"""Operations of quantized tensors that ``torch`` has beside its functions, by older names."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Ints, Tensor
from ..numerics.embedding import narrower_ranges
from ..tensor.arguments import as_integer, as_number
from ..tensor.base import wrap
from ..tensor.dispatch import require_tensor
from ..tensor.refusal import refuse_quantized
from .quantized.batch_norm import batch_norm
from .quantized.pooling import _max_pool, max_pool1d, max_pool2d

__all__ = [
    "choose_qparams_optimized",
    "quantized_batch_norm",
    "quantized_max_pool1d",
    "quantized_max_pool2d",
    "quantized_max_pool3d",
]


def quantized_batch_norm(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    mean: Tensor,
    var: Tensor,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """Batch norm of integers: :func:`pyqref.ops.quantized.batch_norm2d`, of any dimensions.

    Parameters
    ----------
    input
        Quantized per tensor, `(N, C, ...)`.
    weight, bias
        float32 `(C,)`, or None: one and zero.
    mean, var
        Statistics of the channels, float32 `(C,)`.
    eps
        Added to the variance.
    output_scale, output_zero_point
        Of the result.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.full((1, 1, 1, 1), 5.0), 0.5, 0, pyqref.quint8)
    >>> mean, var = pyqref.tensor([1.0]), pyqref.tensor([3.0])
    >>> pyqref.quantized_batch_norm(x, None, None, mean, var, 1.0, 0.25, 10).int_repr().item()
    18
    """
    return batch_norm(input, weight, bias, mean, var, eps, output_scale, output_zero_point)


def quantized_max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest integer of each window: :func:`pyqref.ops.quantized.max_pool1d`.

    Examples
    --------
    >>> import pyqref
    >>> q = pyqref.quantize_per_tensor(pyqref.arange(6.0).reshape(1, 1, 6), 1.0, 0, pyqref.quint8)
    >>> pyqref.quantized_max_pool1d(q, 2).dequantize().tolist()
    [[[1.0, 3.0, 5.0]]]
    """
    return max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest integer of each window: :func:`pyqref.ops.quantized.max_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.arange(4.0).reshape(1, 1, 2, 2)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> pyqref.quantized_max_pool2d(q, 2).item()
    3.0
    """
    return max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def quantized_max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints = (),
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Tensor:
    """Largest integer of each window of `(N, C, D, H, W)` (equation ``eq-quantized-max-pool``).

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> pyqref.quantized_max_pool3d(q, 2).item()
    7.0
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)


def choose_qparams_optimized(
    input: Tensor, numel: int, n_bins: int, ratio: float, bit_width: int
) -> tuple[Any, Any]:
    """The range whose quantization error is smallest, found by taking bins off its ends.

    From the smallest to the largest number, one of ``n_bins`` bins is taken off the end where the
    error then is smaller, until ``1 - ratio`` of the bins are left; the best range on the way wins.
    The error is the length of ``x - (q * scale + low)`` with ``q`` in [0, 2**bit_width - 1], where
    ``scale`` and ``low`` are rounded to float16.

    Parameters
    ----------
    input
        float32.
    numel
        How many of its numbers are looked at.
    n_bins
        Steps from one end to the other.
    ratio
        Which part of the range may be taken off, in [0, 1].
    bit_width
        Bits of a quantized number.

    Returns
    -------
    tuple
        Upper and lower end, float32 vectors of one number.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.0, 1.0, 2.0, 3.0])
    >>> high, low = pyqref.choose_qparams_optimized(x, 4, 200, 0.16, 2)
    >>> high.tolist(), low.tolist()
    ([3.0], [0.0])
    """
    require_tensor("choose_qparams_optimized", "input", input)
    refuse_quantized(input)
    values = input._array.reshape(-1)
    numel = as_integer(numel, "choose_qparams_optimized(): numel")
    n_bins = as_integer(n_bins, "choose_qparams_optimized(): n_bins", 1)
    bits = as_integer(bit_width, "choose_qparams_optimized(): bit_width", 1)
    ratio = float(as_number(ratio, "choose_qparams_optimized(): ratio"))
    if values.dtype != np.float32 or not 0 < numel <= values.size:
        raise ValueError(
            "choose_qparams_optimized(): input must be float32 and numel in [1, "
            f"{values.size}], got {input.dtype} and {numel}"
        )
    if not np.isfinite(values[:numel]).all():
        raise ValueError("choose_qparams_optimized(): input must be finite, it has inf or nan")
    if not 0 <= ratio <= 1 or bits > 16:
        raise ValueError(
            "choose_qparams_optimized(): ratio must be in [0, 1] and bit_width in [1, 16], got "
            f"{ratio} and {bits}"
        )
    values = values[:numel]

    def error(low: Any, high: Any) -> Any:
        return _error(values, low, high, bits)

    best, chosen = None, (values.min(), values.max())
    for each, now, following in narrower_ranges(values, n_bins, ratio, error):
        best = now if best is None else best
        if following is not None and all(now < other for other in (*following, best)):
            best, chosen = now, each
    return wrap(np.array([chosen[1]])), wrap(np.array([chosen[0]]))


def _error(values: Any, low: Any, high: Any, bits: int) -> Any:
    """The length of what is left; lower end and scale are stored in 16 bits, as embeddings do."""
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float16: infinite, or nan
        most, low = np.float32(2**bits - 1), np.float32(np.float16(low))
        span = np.float32(high - low)
        scale = np.float32(1) if span == 0 else np.float32(np.float16(span / most))
        inverse = np.float32(1) if scale == 0 else np.float32(1) / scale
        codes = np.clip(np.rint((values - low) * inverse), 0, most)
        rest = values - (codes * scale + low)
        return np.sqrt((rest * rest).sum(dtype=np.float32))
