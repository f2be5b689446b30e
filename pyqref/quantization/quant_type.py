"""The kinds of quantization, by name."""

from __future__ import annotations

import enum

__all__ = ["QuantType", "quant_type_from_str", "quant_type_to_str"]


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


def quant_type_to_str(quant_type: QuantType) -> str:
    """Its name in small letters.

    Examples
    --------
    >>> quant_type_to_str(QuantType.WEIGHT_ONLY)
    'weight_only'
    """
    return QuantType(quant_type).name.lower()


def quant_type_from_str(name: str) -> QuantType:
    """The kind of a name.

    Raises
    ------
    ValueError
        There is no such kind.

    Examples
    --------
    >>> quant_type_from_str("static")
    <QuantType.STATIC: 1>
    """
    for kind in QuantType:
        if kind.name.lower() == name:
            return kind
    known = ", ".join(kind.name.lower() for kind in QuantType)
    raise ValueError(f"name must be one of {known}, got {name!r}")


# Their names in torch 2.13.
_get_quant_type_to_str = quant_type_to_str
_quant_type_from_str = quant_type_from_str
