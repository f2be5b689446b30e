"""A tensor of the exported graph, beside the tensor of the model that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..fx.node import map_aggregate
from ..tensor.base import TensorBase

__all__ = [
    "Following",
    "Wire",
    "followed",
    "follows",
    "has_wire",
    "is_tensor",
    "values_of",
    "wires_of",
]


@dataclass(eq=False)
class Wire:
    """A tensor between two operators.

    Attributes
    ----------
    name : str
        Of the tensor in the exported graph: of its integers where the value is quantized.
    value : Tensor
        What it was when the model ran.
    dynamic : tuple of int
        The axes whose lengths follow the batch.
    scale, zero_point : str
        Names of the tensors that hold its grid, if it is quantized.
    real : str
        Name of its real numbers, as soon as an operator has asked for them.
    """

    name: str
    value: Any
    dynamic: tuple[int, ...] = ()
    scale: str = ""
    zero_point: str = ""
    real: str = ""

    @property
    def is_quantized(self) -> bool:
        """True if the tensor holds integers on a grid."""
        return bool(self.value.is_quantized)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes when the model ran."""
        return tuple(self.value.shape)

    @property
    def grid(self) -> Any:
        """Scale and zero point, or None of real numbers."""
        return self.value._quantizer if self.is_quantized else None


class Following(int):
    """A length that follows the batch."""


def _value(each: Any) -> Any:
    if isinstance(each, Wire):
        return each.value
    return int(each) if isinstance(each, Following) else each


def values_of(arguments: object) -> Any:
    """Arguments as the model takes them: tensors in the place of wires."""
    return map_aggregate(arguments, _value)


def followed(value: object, other: object) -> object:
    """A number, or several, each marked if it is another one for another batch."""
    if isinstance(value, tuple | list) and isinstance(other, tuple | list):
        return tuple(followed(a, b) for a, b in zip(value, other, strict=True))
    return Following(value) if type(value) is int and value != other else value


def follows(arguments: object) -> bool:
    """Return True if a length that follows the batch is among nested arguments."""
    return bool(_of_kind(arguments, Following))


def has_wire(arguments: object) -> bool:
    """Return True if a wire is among nested arguments."""
    return bool(wires_of(arguments))


def wires_of(arguments: object) -> list[Wire]:
    """The wires among nested arguments."""
    return _of_kind(arguments, Wire)


def _of_kind(arguments: Any, kind: type) -> list[Any]:
    found: list[Any] = []
    map_aggregate(arguments, lambda each: found.append(each) if isinstance(each, kind) else None)
    return found


def is_tensor(value: object) -> bool:
    """Return True if a value of the model is a tensor."""
    return isinstance(value, TensorBase)
