"""Signal and noise: how large an error is beside what it disturbs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._typing import Array, Tensor

__all__ = ["add_noises", "numbers", "sqnr"]


def sqnr(
    reference: Sequence[float] | Array | Tensor, approximation: Sequence[float] | Array | Tensor
) -> float:
    r"""Signal to quantization noise ratio, in dB.

    .. math:: 10 \log_{10} \frac{\sum_i r_i^2}{\sum_i (r_i - a_i)^2}

    6 dB more is half the error; one bit more is worth about as much.

    Parameters
    ----------
    reference, approximation
        Tensors, quantized or not, or arrays of the same shape.

    Returns
    -------
    float
        In dB; infinite where the two are equal.

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    >>> sqnr([3.0, 4.0], [3.0, 3.5])
    20.0
    """
    exact, rounded = numbers(reference), numbers(approximation)
    if exact.shape != rounded.shape:
        raise ValueError(
            f"approximation must have the shape {exact.shape} of reference, got {rounded.shape}"
        )
    noise = float(np.sum((exact - rounded) ** 2))
    if noise == 0:
        return math.inf
    signal = float(np.sum(exact**2))
    return 10 * math.log10(signal / noise) if signal > 0 else -math.inf


def add_noises(ratios: Iterable[float]) -> float:
    r"""Ratio that results when independent noises with these ratios disturb one signal, in dB.

    Equation ``eq-noise-sum``:

    .. math:: r = -10 \log_{10} \sum_k 10^{-r_k / 10}

    Parameters
    ----------
    ratios
        Each in dB; infinite for no noise.

    Examples
    --------
    Two equal noises cost 3 dB:

    >>> round(add_noises([40.0, 40.0]), 2)
    36.99
    """
    total = sum(10 ** (-ratio / 10) for ratio in ratios)
    return -10 * math.log10(total) if total > 0 else math.inf


def numbers(values: object) -> np.ndarray[Any, np.dtype[np.float64]]:
    """An array or tensor as float64: quantized ones dequantized, gradients left behind."""
    if hasattr(values, "detach"):
        values = values.detach()
    if getattr(values, "is_quantized", False) and hasattr(values, "dequantize"):
        values = values.dequantize()
    return np.asarray(values, dtype=np.float64)
