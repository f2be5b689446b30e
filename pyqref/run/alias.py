"""The alias: in this process ``torch`` and all its submodules are pyqref's modules.

A finder at the front of ``sys.meta_path`` answers every import of ``torch`` and ``torch.x.y``
with the module of pyqref, the same object. So ``torch.nn.Linear is pyqref.nn.Linear``, whichever
of the two a file imports. No name of ``torch`` goes past the finder, so an installed torch
is never imported by accident.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from pyqref._insides.stack import caller

from .._advice import advice, package_advice
from ..backends import quantized as settings
from .missing import advised, refuse_import, unadvised
from .torch_module import NOT_TORCH, TORCH_VERSION, TorchModule, pyqref

__all__ = [
    "as_torch",
    "install_as_torch",
    "is_installed",
    "load_ipython_extension",
    "uninstall_as_torch",
    "unload_ipython_extension",
]

TORCH = "torch"
#: A process that this one spawns looks for ``torch`` along ``sys.path``, and finds it here.
SHIM = str(Path(__file__).parent / "shim")


class _Top(TorchModule):
    """The module ``torch``, which tells what to do where a program imports a name it lacks."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            refuse_import(self.__name__, name, caller())
            raise


class _Loader(importlib.abc.Loader):
    """Hands over a module that exists already, and leaves it as it was."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self.module = module
        self.name = name
        self.spec = module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        if module.__name__ != TORCH:
            # The import system has just written the spec of the alias over the module's own.
            module.__spec__ = self.spec
            advised(module, self.name)


class _Distribution(importlib.metadata.Distribution):
    """``importlib.metadata.version("torch")``, by which libraries look whether torch is there."""

    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return f"Metadata-Version: 2.1\nName: {TORCH}\nVersion: {TORCH_VERSION}\n"
        return None

    def locate_file(self, path: Any) -> Any:
        return Path(pyqref.__file__).parent / path


class _Finder(importlib.abc.MetaPathFinder):
    """Finds ``torch`` and everything below it in pyqref."""

    def __init__(self) -> None:
        self.top = _Top(TORCH)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != TORCH and not fullname.startswith(f"{TORCH}."):
            return None
        module = self.top if fullname == TORCH else self._submodule(fullname)
        if module is None:
            if _is_a_question():
                return None
            raise ModuleNotFoundError(_no_module(fullname), name=fullname)
        is_package = hasattr(module, "__path__")
        return importlib.util.spec_from_loader(
            fullname, _Loader(module, fullname), is_package=is_package
        )

    def find_distributions(
        self, context: object = None
    ) -> Iterable[importlib.metadata.Distribution]:
        """Return distributions for ``importlib.metadata``."""
        if getattr(context, "name", None) == TORCH:
            yield _Distribution()

    def _submodule(self, fullname: str) -> ModuleType | None:
        """The module that ``torch.x.y`` names: below its parent, or an attribute of it."""
        parent, _, last = fullname.rpartition(".")
        owner: Any = pyqref if parent == TORCH else sys.modules[parent]
        if fullname == f"{TORCH}.version":
            return self.top.version
        if parent == TORCH and last in NOT_TORCH:
            return None
        name = f"{owner.__name__}.{last}"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
        found = getattr(owner, last, None)
        return found if isinstance(found, ModuleType) else None


class _Neighbours(importlib.abc.MetaPathFinder):
    """Asked last, when a package is not installed: tells what to do without it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        what_to_do = package_advice(fullname)
        if what_to_do and path is None and not _is_a_question():
            message = f"No module named {fullname!r}; {what_to_do}"
            raise ModuleNotFoundError(message, name=fullname)


def _no_module(fullname: str) -> str:
    what_to_do = advice(fullname.partition(".")[2])
    return f"No module named {fullname!r}; {what_to_do or 'pyqref, which is torch here, has none'}"


def _is_a_question() -> bool:
    """Return True if a finder is called by ``importlib.util.find_spec``, which expects no error.

    Libraries ask so whether a package is there; an import that fails tells what to do instead.
    """
    frame = caller()
    while (
        frame is not None
        and frame.f_back is not None
        and (
            frame.f_code.co_filename == __file__
            or "importlib._bootstrap" in frame.f_code.co_filename
        )
    ):
        frame = frame.f_back
    return frame is not None and frame.f_code is importlib.util.find_spec.__code__


class _State:
    """State that the alias changed and will restore."""

    finder: _Finder | None = None
    neighbours = _Neighbours()
    conventions: str = settings.conventions


def is_installed() -> bool:
    """Return True if ``torch`` is pyqref in this process.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.run.as_torch():
    ...     pyqref.run.is_installed()
    True
    """
    return _State.finder is not None


def install_as_torch(conventions: str = "torch") -> ModuleType:
    """Let ``import torch`` give pyqref, in this process, until :func:`uninstall_as_torch`.

    ``torch`` and ``torch.x.y`` become pyqref's own modules, and ``torch.__version__`` reads
    ``"2.13.0+pyqref"``. A script or notebook that is written for torch then runs as it is.
    Installing twice does nothing more.

    Parameters
    ----------
    conventions
        What ``pyqref.backends.quantized.conventions`` becomes: ``"torch"`` gives the
        numbers of torch 2.13 where it departs from its own documentation,
        ``"documented"`` those of the documentation.

    Returns
    -------
    module
        ``torch``.

    Raises
    ------
    RuntimeError
        If a real torch has been imported: both cannot be ``torch`` in one process.

    Examples
    --------
    >>> import pyqref
    >>> torch = pyqref.install_as_torch()
    >>> import torch.nn.functional as F
    >>> F is pyqref.nn.functional
    True
    >>> pyqref.run.uninstall_as_torch()
    """
    real = sys.modules.get(TORCH)
    if _State.finder is not None:
        settings.conventions = conventions
        return _State.finder.top
    # The shim of a spawned process is just being imported, and has no version yet.
    if real is not None and getattr(real, "__file__", None) != str(_shim_file()):
        version = getattr(real, "__version__", "of unknown version")
        raise RuntimeError(
            f"torch {version} is imported already, so pyqref cannot be torch in this process: "
            "call pyqref.install_as_torch() before anything imports torch, or restart the "
            "interpreter or the notebook's kernel and run that line first"
        )
    before = settings.conventions
    settings.conventions = conventions
    _State.conventions = before
    _State.finder = _Finder()
    sys.meta_path.insert(0, _State.finder)
    sys.meta_path.append(_State.neighbours)
    sys.path.insert(min(1, len(sys.path)), SHIM)
    return importlib.import_module(TORCH) if real is None else _replace(_State.finder)


def _shim_file() -> Path:
    return Path(SHIM) / TORCH / "__init__.py"


def _replace(finder: _Finder) -> ModuleType:
    """Put ``torch`` where its shim stands, whose import ends with whatever stands there then."""
    spec = finder.find_spec(TORCH, None)
    finder.top.__spec__ = spec
    sys.modules[TORCH] = finder.top
    return finder.top


def uninstall_as_torch() -> None:
    """Undo :func:`install_as_torch`: ``import torch`` finds what it would find without pyqref.

    Names that were imported stay what they are. Without an alias this does nothing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.run.uninstall_as_torch()
    >>> pyqref.run.is_installed()
    False
    """
    if _State.finder is None:
        return
    sys.meta_path[:] = [
        each for each in sys.meta_path if each not in (_State.finder, _State.neighbours)
    ]
    if SHIM in sys.path:
        sys.path.remove(SHIM)
    for name in [each for each in sys.modules if each.split(".")[0] == TORCH]:
        del sys.modules[name]
    unadvised()
    settings.conventions = _State.conventions
    _State.finder = None


@contextmanager
def as_torch(conventions: str = "torch") -> Iterator[ModuleType]:
    """Let ``import torch`` give pyqref inside a ``with``.

    Parameters
    ----------
    conventions
        As of :func:`install_as_torch`.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.run.as_torch():
    ...     import torch
    ...     torch.nn is pyqref.nn
    True
    """
    was_installed, before = is_installed(), settings.conventions
    module = install_as_torch(conventions)
    try:
        yield module
    finally:
        if was_installed:
            settings.conventions = before
        else:
            uninstall_as_torch()


def load_ipython_extension(ipython: object) -> None:
    """``%load_ext pyqref`` in a notebook: installs the alias."""
    install_as_torch()


def unload_ipython_extension(ipython: object) -> None:
    """``%unload_ext pyqref``: takes the alias away."""
    uninstall_as_torch()
