"""Bits of weights and activations, and observers for so many."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from pyqref._typing import QConfigLike
from pyqref.dtypes import qint8, quint8
from pyqref.quantization.observer.fixed_qparams import FixedQParamsObserver
from pyqref.quantization.qconfig.base import QConfig

__all__ = ["FLOAT", "Width", "narrowed", "widths_of"]


class Width(NamedTuple):
    """Bits of a layer's weights, and of the activations that it gives.

    Attributes
    ----------
    weight
        2 to 8, or 32 for float32.
    activation
        The same; both are 32, or none is.

    Examples
    --------
    >>> print(Width(4, 8), FLOAT)
    4/8 float
    """

    weight: int
    activation: int

    def __str__(self) -> str:
        return "float" if self == FLOAT else f"{self.weight}/{self.activation}"


#: A layer that stays float.
FLOAT = Width(32, 32)


def widths_of(asks: str, given: object) -> list[Width]:
    """The widths that a user names, the widest first.

    Raises
    ------
    TypeError, ValueError
        One is no width, or there is none.
    """
    if isinstance(given, (str, int)) or not hasattr(given, "__iter__"):
        raise TypeError(f"{asks}: choices must be a list of widths such as (8, 4), got {given!r}")
    found = {_width(asks, each) for each in given}
    if not found:
        raise ValueError(f"{asks}: choices must have one width at least, got none")
    return sorted(found, key=lambda each: (-each.weight, -each.activation))


def _width(asks: str, given: Any) -> Width:
    pair = given if isinstance(given, tuple) else (given, 32 if given == 32 else 8)
    if len(pair) != 2 or any(isinstance(b, bool) or not isinstance(b, int) for b in pair):
        raise TypeError(
            f"{asks}: each of choices must be a number of bits, or a pair of those of weights and "
            f"activations, got {given!r}"
        )
    width = Width(*pair)
    if width != FLOAT and not all(2 <= bits <= 8 for bits in width):
        raise ValueError(
            f"{asks}: bits must be in [2, 8], or 32 for weights and activations, got {given!r}"
        )
    return width


def narrowed(qconfig: QConfigLike, width: Width) -> QConfig | None:
    """The QConfig whose observers choose grids of so many bits; 8 leaves an observer as it is.

    Examples
    --------
    >>> from pyqref.quantization import default_qconfig
    >>> observer = narrowed(default_qconfig, Width(4, 8)).weight()
    >>> observer.quant_min, observer.quant_max
    (-8, 7)
    """
    if width == FLOAT:
        return None
    activation = _recipe(qconfig.activation, width.activation)
    return QConfig(activation=activation, weight=_recipe(qconfig.weight, width.weight))


def _recipe(recipe: Any, bits: int) -> Any:
    made = recipe()
    dtype = getattr(made, "dtype", None)
    inner = getattr(made, "activation_post_process", made)
    fixed = isinstance(inner, FixedQParamsObserver) or getattr(made, "is_dynamic", False)
    if bits == 8 or fixed or dtype not in (qint8, quint8) or not hasattr(made, "quant_min"):
        return recipe
    half = 2 ** (bits - 1)
    ends = (-half, half - 1) if dtype is qint8 else (0, 2**bits - 1)
    options: dict[str, Any] = {"quant_min": ends[0], "quant_max": ends[1]}
    if "reduce_range" in inspect.signature(type(made).__init__).parameters:
        options["reduce_range"] = False
    return recipe.with_args(**options)
