"""Telling where an arithmetic leaves an operation to the engine."""

from __future__ import annotations

from pyqref.backends import quantized as settings
from pyqref.quantization.diagnostics import NoEffectWarning, QuantizationError, warn
from pyqref.tensor.under_way import layer_under_way

from .base import Arithmetic

__all__ = ["Kept"]


class Kept:
    """Warns once of each operation of each layer that keeps the numbers of the engine.

    Parameters
    ----------
    model
        The arithmetic in use.
    strict
        Raise instead.
    """

    def __init__(self, model: Arithmetic, strict: bool) -> None:
        self.model, self.strict = model, strict
        self.told: set[tuple[str, str]] = set()

    def __call__(self, operation: str, method: str | None) -> None:
        """Tell of an operation; ``method`` is what would define it, None if there is none."""
        if self.model.belongs_to_engine:
            return
        layer = layer_under_way()
        place = "outside of any module" if layer is None else f"in {layer.described}"
        if (place, operation) in self.told:
            return
        name, kind = self.model.name, type(self.model).__name__
        remedy = "set its qconfig to None, so that it stays in float"
        if method is not None:
            remedy += f", or define {method}() in a subclass of {kind} and use that"
        message = (
            f"arithmetic {name!r} does not define {operation} {place}, which keeps the numbers of "
            f"the engine {settings.engine!r}; {remedy}"
        )
        if self.strict:
            raise QuantizationError(NoEffectWarning(message))
        self.told.add((place, operation))
        warn(message, NoEffectWarning)
