"""Kernels that exist, those that this machine can run, and the one in use.

A kernel is one way of running every operation: ``reference`` is the equations in
NumPy, the others are one body of Cython compiled for one instruction set each (:mod:`.table`).
They all give the same bits. The best one that is built and supported is chosen when the first
is asked for; the environment variable ``PYQREF_KERNEL`` or :func:`use` forces another.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from types import ModuleType, TracebackType
from typing import Any

from pyqref._insides import c_heap
from pyqref._lazy import importing

from .table import KERNELS, OPERATIONS

__all__ = [
    "built",
    "features",
    "in_use",
    "supported",
    "twin",
    "twin_of",
    "usable",
    "use",
]

ENVIRONMENT_VARIABLE = "PYQREF_KERNEL"
_HERE = os.path.dirname(__file__)
_BUILD_AGAIN = (
    "it was built from other sources than these; in a clone build again with "
    "`python setup.py build_ext --inplace`, else install pyqref again"
)


def features() -> frozenset[str]:
    """Instruction sets that this processor and its system offer."""
    try:
        from . import _cpu
    except ImportError:
        return frozenset()
    return _cpu.features()


def _is_compiled(module: str) -> bool:
    return any(
        os.path.exists(os.path.join(_HERE, module + suffix)) for suffix in EXTENSION_SUFFIXES
    )


def built() -> tuple[str, ...]:
    """Kernels that this installation holds.

    Examples
    --------
    >>> from pyqref import kernels
    >>> "reference" in kernels.built()
    True
    """
    return tuple(
        name
        for name, kernel in KERNELS.items()
        if name == "reference"
        or all(_is_compiled(f"{each}/{kernel.module(each)}") for each in OPERATIONS)
    )


def supported() -> tuple[str, ...]:
    """Kernels that this processor could run, built or not.

    Examples
    --------
    >>> from pyqref import kernels
    >>> "reference" in kernels.supported()
    True
    """
    found = features()
    return tuple(
        kernel.name for kernel in KERNELS.values() if kernel.needs is None or kernel.needs in found
    )


def usable() -> tuple[str, ...]:
    """Kernels that are both built and supported, from the slowest to the fastest.

    Examples
    --------
    >>> from pyqref import kernels
    >>> kernels.in_use() in kernels.usable()
    True
    """
    possible = supported()
    return tuple(name for name in built() if name in possible)


def _check(name: object, source: str) -> str:
    if isinstance(name, str) and name in usable():
        return name
    if name not in KERNELS:
        reason = "there is no such kernel"
    elif name not in supported():
        reason = "this processor cannot run it"
    else:
        reason = "it was not built; install from source with a C compiler"
    possible = ", ".join(repr(each) for each in usable())
    raise ValueError(f"{source} must be one of {possible} on this machine, got {name!r}: {reason}")


def _initial() -> str:
    forced = os.environ.get(ENVIRONMENT_VARIABLE)
    return _check(forced, ENVIRONMENT_VARIABLE) if forced else usable()[-1]


class _Twins(dict[str, Any]):
    """The modules of the kernel in use by operation, each imported when it is first asked for."""

    def __init__(self) -> None:
        super().__init__()
        # None until the first question, so that the command line can say what is wrong with
        # PYQREF_KERNEL.
        self._kernel: str | None = None

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        if self._kernel is None:
            self._kernel = _initial()
            c_heap.keep_what_is_freed()
        return self._kernel

    @kernel.setter
    def kernel(self, name: str) -> None:
        self._kernel = name
        self.clear()

    def __missing__(self, operation: str) -> Any:
        kernel = self.kernel
        found = self[operation] = twin_of(kernel, operation)
        if kernel != self._kernel:  # another thread has chosen another one meanwhile
            self.pop(operation, None)
        return found


def twin_of(kernel: str, operation: str) -> ModuleType | None:
    """Return the value of :data:`twin` while ``kernel`` is in use."""
    if kernel == "reference":
        return None
    return _load(f"{__package__}.{operation}.{KERNELS[kernel].module(operation)}")


def _load(name: str) -> ModuleType:
    """A compiled module; one that was built from older sources says so when it is asked for more.

    Raises
    ------
    ImportError
        It does not fit the other compiled modules.
    """
    try:
        with importing(name):
            module = import_module(name)
    except (ImportError, TypeError) as error:  # the latter for another signature in C
        if sys.meta_path is None:
            raise
        raise ImportError(f"{name} cannot be loaded, {error}: {_BUILD_AGAIN}") from error

    def missing(attribute: str) -> Any:
        advice = "" if attribute.startswith("__") else f": {_BUILD_AGAIN}"
        raise AttributeError(f"{name} has no {attribute}{advice}", name=attribute, obj=module)

    module.__getattr__ = missing  # type: ignore[method-assign]
    return module


_twins = _Twins()
#: The compiled module that runs an operation now; None stands for the reference. Nearly every call
#: of an operation asks for one: a method of a dict takes a third of the time of a function.
twin: Callable[[str], Any] = _twins.__getitem__


def in_use() -> str:
    """Name of the kernel that runs the operations now.

    Raises
    ------
    ValueError
        ``PYQREF_KERNEL`` names no kernel, or one that cannot run on this machine.

    Examples
    --------
    >>> from pyqref import kernels
    >>> with kernels.use("reference"):
    ...     kernels.in_use()
    'reference'
    """
    return _twins.kernel


class use:
    """Run every operation with one kernel, from now on or inside a ``with`` block.

    Takes effect at once, in every thread. As a context manager it puts the kernel
    that was in use before back at the end.

    Parameters
    ----------
    name
        ``"reference"``, ``"portable"``, or an instruction set such as ``"avx2"``; see
        :func:`pyqref.kernels.usable`.

    Raises
    ------
    ValueError
        The name is unknown, was not built, or cannot run on this machine. The
        message lists what is possible. There is no silent second choice.

    Examples
    --------
    >>> from pyqref import kernels
    >>> before = kernels.in_use()
    >>> with kernels.use("reference"):
    ...     name = kernels.in_use()
    >>> name, kernels.in_use() == before
    ('reference', True)
    """

    def __init__(self, name: str) -> None:
        self._before = in_use()
        _twins.kernel = _check(name, "name")

    def __enter__(self) -> use:  # noqa: PYI034
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _twins.kernel = self._before
