"""Modules that hold other modules: in a chain, in a list, by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

from .module import Module
from .printing import indented, with_children

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Ordered(Module):
    """Modules under the names ``"0"``, ``"1"``..., with the operations of a list."""

    def _names(self, index: Any) -> list[str]:
        """The names that an index or slice means."""
        names = list(self._modules)
        if isinstance(index, slice):
            return names[index]
        position = operator.index(index)
        if not -len(names) <= position < len(names):
            raise IndexError(f"index {position} is out of range")
        return [names[position]]

    def _replace_all(self, modules: Iterable[Any]) -> None:
        self._modules.clear()
        for position, module in enumerate(modules):
            self.add_module(str(position), module)

    def __getitem__(self, index: int | slice) -> Module:
        names = self._names(index)
        if isinstance(index, slice):
            return self._like(names)
        return self._modules[names[0]]

    def _like(self, names: list[str]) -> Any:
        return type(self)(*(self._modules[name] for name in names))

    def __setitem__(self, index: int, module: Module) -> None:
        (name,) = self._names(operator.index(index))
        setattr(self, name, module)

    def __delitem__(self, index: int | slice) -> None:
        gone = set(self._names(index))
        self._replace_all([module for name, module in self._modules.items() if name not in gone])

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def __contains__(self, module: object) -> bool:
        return any(module is each for each in self)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, "
                f"but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at ``index``."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type Module, got {type(module).__name__}")
        position = operator.index(index)
        if not -len(self) <= position <= len(self):
            raise IndexError(f"Index out of range: {position}")
        modules = list(self)
        modules.insert(position, module)
        self._replace_all(modules)
        return self

    def pop(self, key: Any) -> Module:
        """Take the module at ``key`` out and return it."""
        module = self[key]
        del self[key]
        return module

    def __iadd__(self, other: Iterable[Module]) -> Self:
        return self.extend(other)


class Sequential(_Ordered):
    """Modules that are called one after the other.

    Parameters
    ----------
    *args
        Modules, or one ``OrderedDict`` of modules by name.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.Sequential(nn.Identity(), nn.Flatten())
    Sequential(
      (0): Identity()
      (1): Flatten(start_dim=1, end_dim=-1)
    )
    """

    def __init__(self, *args: Module | Mapping[str, Module]) -> None:
        super().__init__()
        named: Iterable[tuple[str, Any]] = ((str(i), each) for i, each in enumerate(args))
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named = args[0].items()
        for name, module in named:
            self.add_module(name, module)

    def forward(self, input: Any) -> Any:
        """The result of the last module, each called on the result of the one before."""
        for module in self._modules.values():
            input = module(input)
        return input

    def _like(self, names: list[str]) -> Any:
        return type(self)(OrderedDict((name, self._modules[name]) for name in names))

    def __delitem__(self, index: int | slice) -> None:
        for name in self._names(index):
            del self._modules[name]
        self._modules = dict(
            zip(map(str, range(len(self))), list(self._modules.values()), strict=True)
        )

    def __add__(self, other: object) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, "
                f"but {type(other).__name__} is given"
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: object) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                "add operator supports only objects of Sequential class, "
                f"but {type(other).__name__} is given"
            )
        return self.extend(other)

    def __mul__(self, times: int) -> Sequential:
        return Sequential(*list(self) * _positive(times))

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        return self.extend(list(self) * (_positive(times) - 1))


class ModuleList(_Ordered):
    """A list of modules, which its parent sees as submodules.

    Parameters
    ----------
    modules
        The first members.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.ModuleList(nn.Identity() for _ in range(3))
    ModuleList(
      (0-2): 3 x Identity()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _like(self, names: list[str]) -> Any:
        return type(self)(self._modules[name] for name in names)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Equal neighbours are printed once, with their number."""
        runs: list[tuple[str, list[int]]] = []
        for position, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][0] == text:
                runs[-1][1].append(position)
            else:
                runs.append((text, [position]))
        return with_children(self, (_run_line(text, positions) for text, positions in runs))


class ModuleDict(Module):
    """Modules by name, in order of insertion, with the operations of a dictionary.

    Parameters
    ----------
    modules
        A mapping, or pairs, of names and modules.

    Examples
    --------
    >>> import pyqref
    >>> layers = pyqref.nn.ModuleDict({'relu': pyqref.nn.ReLU()})
    >>> layers['relu'](pyqref.tensor([-1.0, 1.0]))
    tensor([0., 1.])
    """

    def __init__(self, modules: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Take the module named ``key`` out and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Any]:
        """Pairs of name and module."""
        return self._modules.items()

    def values(self) -> ValuesView[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: object) -> None:
        """Add modules from a mapping or from pairs; a name that is there is replaced."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, "
                f"but got {type(modules).__name__}"
            )
        is_mapping = isinstance(modules, Mapping | ModuleDict)
        pairs = modules.items() if is_mapping else modules  # type: ignore[attr-defined]
        for position, pair in enumerate(pairs):
            if not isinstance(pair, Iterable):
                raise TypeError(
                    f"ModuleDict update sequence element #{position} should be Iterable; "
                    f"is {type(pair).__name__}"
                )
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{position} has length {len(pair)}; "
                    "2 is required"
                )
            self[pair[0]] = pair[1]


def _run_line(text: str, positions: list[int]) -> str:
    if len(positions) == 1:
        return f"({positions[0]}): {indented(text)}"
    first, last = positions[0], positions[-1]
    return indented(f"({first}-{last}): {len(positions)} x {text}")


def _positive(times: Any) -> int:
    if not isinstance(times, int):
        raise TypeError(f"unsupported operand type(s) for *: Sequential and {type(times)}")
    if times <= 0:
        raise ValueError(f"Non-positive multiplication factor {times} for Sequential")
    return times
