"""The few names of ``torch._C``, torch's compiled part, that libraries import from it.

Nothing is compiled here, and nothing is traced to TorchScript: these are the answers that libraries
get from torch when it runs eagerly.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum
from typing import TYPE_CHECKING

from ._lazy import on_first_use

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet"]


class DisableTorchFunctionSubclass(AbstractContextManager[None]):
    """Inside, ``__torch_function__`` of a subclass is not called; pyqref never calls it.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref._C.DisableTorchFunctionSubclass():
    ...     pyqref.ones(1) + 1
    tensor([2.])
    """

    def __exit__(self, *error: object) -> None:
        return None


class DispatchKey(Enum):
    """Place to which torch would send an operation; libraries name such places on import."""

    CPU = "CPU"
    CUDA = "CUDA"
    XPU = "XPU"
    MPS = "MPS"
    Meta = "Meta"
    QuantizedCPU = "QuantizedCPU"
    AutogradCPU = "AutogradCPU"
    AutogradCUDA = "AutogradCUDA"
    AutocastCPU = "AutocastCPU"
    AutocastCUDA = "AutocastCUDA"
    AutocastXPU = "AutocastXPU"


class DispatchKeySet:
    """A set of such places.

    Examples
    --------
    >>> both = DispatchKeySet(DispatchKey.CPU) | DispatchKeySet(DispatchKey.Meta)
    >>> both.has(DispatchKey.Meta)
    True
    """

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def has(self, key: DispatchKey) -> bool:
        """Return True if a place is among them."""
        return key in self._keys


DisableTorchFunction = DisableTorchFunctionSubclass


def _log_api_usage_once(name: str) -> None:
    """Do nothing: pyqref counts no calls."""


def _get_tracing_state() -> None:
    """No TorchScript is traced."""
    return


if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
