"""Modules in the place of ``torch`` and ``torch.version`` while the alias is installed.

Every submodule of ``torch`` *is* the module of pyqref. Two cannot be: the top one, whose
``__version__`` and ``__name__`` must read as torch's while those of pyqref stay what they are,
and ``torch.version`` for the same reason. They are thin: whatever else is read or written goes
to pyqref.
"""

from __future__ import annotations

import re
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .._advice import advice

__all__ = ["NOT_TORCH", "TORCH_VERSION", "TorchModule", "TorchVersion", "pyqref", "version_module"]

#: The package as its users have it; it is there before this module, which it offers itself.
pyqref: Any = sys.modules[__name__.partition(".")[0]]


class TorchVersion(str):
    """A version that compares as a version does, with strings and tuples too.

    Examples
    --------
    >>> TorchVersion("2.13.0+pyqref") > "2.2"
    True
    >>> TorchVersion("2.13.0+pyqref") >= (1, 8)
    True
    """

    __slots__ = ()

    def _pair(self, other: object) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        numbers = _numbers(other)
        return None if numbers is None else _of_one_length(_numbers(str(self)) or (), numbers)

    def __lt__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] < pair[1]

    def __le__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] <= pair[1]

    def __gt__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] > pair[1]

    def __ge__(self, other: object) -> bool:
        pair = self._pair(other)
        return NotImplemented if pair is None else pair[0] >= pair[1]


def _numbers(version: object) -> tuple[int, ...] | None:
    """The numbers at the front of a version: (2, 13, 0) of ``"2.13.0+pyqref"``."""
    if isinstance(version, str):
        front = re.match(r"\s*v?(\d+(?:\.\d+)*)", version)
        return tuple(int(each) for each in front[1].split(".")) if front else None
    if isinstance(version, (tuple, list)):
        digits = [re.match(r"\d+", str(each)) for each in version]
        return None if None in digits else tuple(int(each[0]) for each in digits if each)
    return None


def _of_one_length(
    left: tuple[int, ...], right: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    length = max(len(left), len(right))
    zeros = (0,) * length
    return (left + zeros)[:length], (right + zeros)[:length]


TORCH_VERSION = TorchVersion("2.13.0+pyqref")
#: Modules of pyqref that torch has under the same name for something else.
NOT_TORCH = frozenset({"export"})


class TorchModule(ModuleType):
    """The module ``torch``: reads, writes and deletes what :mod:`pyqref` has.

    Examples
    --------
    >>> import pyqref
    >>> torch = TorchModule("torch")
    >>> torch.Tensor is pyqref.Tensor, torch.__version__
    (True, '2.13.0+pyqref')
    """

    #: What this module keeps for itself: Python's import system reads and sets these.
    _OWN = frozenset(
        ("__name__", "__loader__", "__package__", "__spec__", "__path__", "__version__", "version")
    )

    def __init__(self, name: str) -> None:
        super().__init__(name, pyqref.__doc__)
        own = {
            "__package__": name,
            "__path__": [],
            "__version__": TORCH_VERSION,
            "version": version_module(f"{name}.version"),
            "__file__": pyqref.__file__,
        }
        self.__dict__.update(own)

    def __getattr__(self, name: str) -> Any:
        if name in NOT_TORCH:
            message = f"module {self.__name__!r} has no attribute {name!r}; {advice(name)}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(pyqref, name)

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._OWN:
            super().__setattr__(name, value)
        else:
            setattr(pyqref, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(pyqref, name)

    def __dir__(self) -> list[str]:
        return sorted({*dir(pyqref), *self._OWN} - NOT_TORCH)

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}, which is pyqref {pyqref.__version__}>"


def version_module(name: str) -> ModuleType:
    """The module ``torch.version``: a version, and no CUDA or ROCm."""
    module = ModuleType(name, "Version of torch whose documentation pyqref follows.")
    module.__spec__ = ModuleSpec(name, None)
    found = {"__version__": TORCH_VERSION, "cuda": None, "hip": None, "xpu": None, "debug": False}
    module.__dict__.update(found, git_version="pyqref")
    return module
