"""The few names of ``torch._C``, torch's compiled part, that libraries import from it.

Nothing is compiled here, and nothing is traced to TorchScript: these are the answers that libraries
get from torch when it runs eagerly.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from ._lazy import on_first_use

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass"]


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


DisableTorchFunction = DisableTorchFunctionSubclass


def _log_api_usage_once(name: str) -> None:
    """Nothing is counted."""


def _get_tracing_state() -> None:
    """No TorchScript is traced."""
    return


if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})
