"""The kinds of quantization, by name."""

from __future__ import annotations

import enum

__all__ = ["QuantType"]


class QuantType(enum.IntEnum):
    """How a model, or an operation of it, is quantized.

    Examples
    --------
    >>> QuantType.STATIC
    <QuantType.STATIC: 1>
    """

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3
