"""Parameters in a list and by name."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from ..._typing import Tensor
from ...tensor.base import TensorBase
from ...tensor.parameter import Parameter
from .module import Module

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = ["ParameterDict", "ParameterList"]


def _as_parameter(value: Any) -> Any:
    """A tensor becomes a parameter; any other value stays what it is."""
    if isinstance(value, TensorBase) and not isinstance(value, Parameter):
        return Parameter(value, requires_grad=value.dtype.is_floating_point)
    return value


def _describe(value: Any) -> str:
    if not isinstance(value, TensorBase):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value._array.shape)
    return f"{kind} containing: [{value.dtype} of size {size}]"


class ParameterList(Module):
    """A list of parameters, which its parent sees as its own.

    Parameters
    ----------
    values
        The first members. Tensors become parameters; other values are kept as they are.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> nn.ParameterList([pyqref.zeros(2, 3)])
    ParameterList(  (0): Parameter containing: [pyqref.float32 of size 2x3])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _name(self, index: Any) -> str:
        position = operator.index(index)
        if not -self._size <= position < self._size:
            raise IndexError(f"index {position} is out of range")
        return str(position % self._size)

    def __getitem__(self, index: int) -> Tensor:
        if isinstance(index, slice):
            return type(self)(getattr(self, str(i)) for i in range(*index.indices(self._size)))
        return getattr(self, self._name(index))

    def __setitem__(self, index: int, value: Tensor) -> None:
        setattr(self, self._name(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[position] for position in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def append(self, value: Tensor) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, TensorBase):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, "
                f"but got {type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line for each member."""
        return "\n".join(f"  ({place}): {_describe(value)}" for place, value in enumerate(self))

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: a list computes nothing."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name, in order of insertion, with the operations of a dictionary.

    Parameters
    ----------
    parameters
        A mapping, or pairs, of names and values. Tensors become parameters; other
        values are kept as they are.

    Examples
    --------
    >>> import pyqref
    >>> parameters = pyqref.nn.ParameterDict({'scale': pyqref.nn.Parameter(pyqref.ones(1))})
    >>> list(parameters)
    ['scale']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[Any] | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Tensor) -> None:
        if not isinstance(key, str):
            raise TypeError(f"ParameterDict: a key must be a str, got {type(key).__name__}")
        if key not in self._keys and hasattr(self, key):
            raise KeyError(f"ParameterDict: {key!r} is an attribute already; use another name")
        setattr(self, key, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new dictionary with the same parameters."""
        return ParameterDict(self)

    def get(self, key: str, default: object = None) -> Any:
        """The value of ``key``, or ``default``."""
        return self[key] if key in self._keys else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of ``key``; ``default`` is put there first if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take the value of ``key`` out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last pair out and return it."""
        if not self._keys:
            raise KeyError("popitem(): the ParameterDict is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    @classmethod
    def fromkeys(cls, keys: Iterable[str], default: object = None) -> ParameterDict:
        """A dictionary with the same value for all ``keys``."""
        return cls((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of name and value."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> list[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Mapping[str, Any] | Iterable[Any]) -> None:
        """Add values from a mapping or from pairs; a name that is there is replaced."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParameterDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(parameters).__name__}"
            )
        is_mapping = isinstance(parameters, Mapping | ParameterDict)
        source: Any = parameters
        pairs = source.items() if is_mapping else source
        for key, value in pairs:
            self[key] = value

    def __or__(self, other: Mapping[str, Tensor] | ParameterDict) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Mapping[str, Tensor] | ParameterDict) -> ParameterDict:
        result = ParameterDict(other)
        result.update(self)
        return result

    def __ior__(self, other: Mapping[str, Tensor] | ParameterDict) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        """One line for each member."""
        return "\n".join(f"  ({key}): {_describe(self[key])}" for key in self)

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refused: a dictionary computes nothing."""
        raise RuntimeError("ParameterDict should not be called.")
