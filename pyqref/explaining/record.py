"""Contents of a recording: the operations that ran, and the numbers between them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..tensor.quantized import PerTensorQuantizer

__all__ = ["Record", "Value", "plain"]


@dataclass(eq=False)
class Value:
    """The numbers that a tensor held when it was recorded.

    Attributes
    ----------
    array : ndarray
        Its integers, or its real numbers; a copy.
    quantizer
        Their grid; None of real numbers.
    name : str
        ``"input"`` for what the model was given, else the layer that made it.
    maker : Record or None
        The operation that made it; None of what was given.
    """

    array: np.ndarray
    quantizer: Any = None
    name: str = "input"
    maker: Record | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self.array.shape

    @property
    def per_tensor(self) -> bool:
        """True if the value is quantized with one scale and one zero point."""
        return isinstance(self.quantizer, PerTensorQuantizer)

    @property
    def scale(self) -> float:
        """The scale of a tensor quantized per tensor."""
        return float(self.quantizer.scale)

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor quantized per tensor."""
        return int(self.quantizer.zero_point)

    def number(self, index: tuple[int, ...]) -> int | np.floating[Any]:
        """The stored integer, or the real number, at a place."""
        return plain(self.array[index])


def plain(number: np.generic) -> int | np.floating[Any]:
    """A number of NumPy as derivations hold it: an int, a float32 or a float64."""
    if number.dtype.kind in "iub":
        return int(number)
    return np.float64(number) if number.dtype == np.float64 else np.float32(number)


@dataclass(eq=False)
class Record:
    """One operation that ran.

    Attributes
    ----------
    operation : str
        Its name, such as ``"quantized.conv2d"``.
    layer : str
        The path of the module, or the name of the node, that it ran for.
    arguments : dict
        By name; tensors are :class:`Value`.
    outputs : list of Value
        What it gave.
    settings : dict
        What was set when it ran, such as the engine.
    kind : str
        ``"quantized"``, ``"float"`` or ``"observer"``.
    """

    operation: str
    layer: str
    arguments: dict[str, Any]
    outputs: list[Value] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    kind: str = "quantized"
    module: str = ""
