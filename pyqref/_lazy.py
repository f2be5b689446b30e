"""The names of a package: read from its stub, and imported when they are first used.

The stub ``__init__.pyi`` lists the names of a package, one line a name, as in
``from .linear import Linear as Linear``. Type checkers read it, and so does
:func:`attach_stub`: it is the only list. Names below the line ``# Imported when first used:`` wait
until a script asks for them, so ``import pyqref`` takes the time of what the script uses.

A process may fork at any time. A child that was made while another thread imports would wait for
ever for that thread, which it does not have; so a fork waits until such imports are done.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import get_ident
from typing import Any

__all__ = ["attach_stub", "importing", "no_attribute", "on_first_use", "read_stub"]

#: The names below this line of a stub are imported when they are first used.
LATER = "# Imported when first used:"

#: Threads that import now, one entry for each import that they are inside.
_threads: list[int] = []
#: Seconds after which a fork no longer waits: the thread that imports may wait for this one.
PATIENCE = 10.0


@contextmanager
def importing(name: str) -> Iterator[None]:
    """Let a fork by another thread wait until what is inside, an import, is done.

    Raises
    ------
    ImportError
        The interpreter is shutting down, so that Python imports nothing any more.
    """
    _threads.append(get_ident())
    try:
        yield
    except ImportError as error:
        if sys.meta_path is not None:
            raise
        raise ImportError(
            f"{name} is used for the first time while the interpreter is shutting down, when "
            f"nothing can be imported any more; use {name} once before, or register what uses it "
            "with atexit.register instead of calling it in __del__"
        ) from error
    finally:
        _threads.remove(get_ident())


def _wait_for_others() -> None:
    end = time.monotonic() + PATIENCE
    while set(_threads) - {get_ident()} and time.monotonic() < end:
        time.sleep(0.001)


def _forget_others() -> None:
    _threads[:] = [each for each in _threads if each == get_ident()]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_others, after_in_child=_forget_others)


def no_attribute(owner: str, name: str, asked: object = None) -> AttributeError:
    """The error of a name that is nowhere, with what to do where the name is one of ``torch``.

    Parameters
    ----------
    owner
        What was asked, as ``"pyqref.nn"`` or ``"pyqref.Tensor"``.
    name
        The name it was asked for.
    asked
        The object that was asked, if it is not the module ``owner``.
    """
    who = f"module {owner!r}" if asked is None else f"{type(asked).__name__!r} object"
    text = f"{who} has no attribute {name!r}"
    if not name.startswith("__"):
        from ._advice import advice

        below_torch = f"{owner}.{name}".partition(".")[2]
        what_to_do = advice(below_torch)
        text += f"; {what_to_do}" if what_to_do else ""
    return AttributeError(text, name=name, obj=sys.modules.get(owner) if asked is None else asked)


def _value(package: str, module: str, name: str) -> Any:
    """Return what ``from module import name`` means in a package."""
    if module == ".":
        return import_module(f".{name}", package)
    return getattr(import_module(module, package), name)


def on_first_use(
    package: str, homes: Mapping[str, tuple[str, str]] | None = None
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: Python calls it for names that are not there yet.

    Parameters
    ----------
    package
        The module's ``__name__``.
    homes
        For each name that is imported when it is first used, the module that has it, as
        ``".elementwise"``, and its name there. Without them the function only raises an error
        that says what to use instead.
    """
    homes = homes or {}

    def found(name: str) -> Any:
        """Import what has the name, and keep it: the next use finds it at once."""
        if name not in homes:
            raise no_attribute(package, name)
        with importing(f"{package}.{name}"):
            value = _value(package, *homes[name])
        setattr(sys.modules[package], name, value)
        return value

    return found


def read_stub(text: str) -> list[tuple[str, str, str, bool, bool]]:
    """Return the names that a stub gives to its package, in its order.

    Each comes with the module that has it, its name there, whether the package imports it at once,
    and whether ``__all__`` lists it: all but private names and those with ``# not in __all__``.
    """
    found = []
    homes: dict[str, tuple[str, str]] = {}
    at_once = True
    for line in text.splitlines():
        if line == LATER:
            at_once = False
        words, _, mark = line.partition("  # ")
        match words.split():
            case ["from", module, "import", name]:  # what follows gives it another name
                homes[name] = module, name
                continue
            case ["from", module, "import", name, "as", public]:
                homes[public] = module, name
            case [public, "=", name]:
                homes[public] = homes[name]
            case _:
                continue
        is_listed = not mark and (public[0] != "_" or public[:2] == "__")
        found.append((public, *homes[public], at_once, is_listed))
    return found


def attach_stub(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Give a package the names of its stub.

    Parameters
    ----------
    package
        Its ``__name__``.

    Returns
    -------
    tuple
        Its ``__getattr__``, ``__dir__`` and ``__all__``.

    Raises
    ------
    ImportError
        The stub is missing.
    """
    module = sys.modules[package]
    path = f"{module.__path__[0]}{os.sep}__init__.pyi"
    try:
        text = module.__loader__.get_data(path).decode()  # type: ignore[union-attr]
    except OSError as error:
        raise ImportError(
            f"{path} is missing, which lists the names of {package}: install pyqref again, or "
            "tell the program that packed it to include the .pyi files of pyqref"
        ) from error
    homes = {}
    listed = []
    for public, home, name, at_once, is_listed in read_stub(text):
        if at_once:
            setattr(module, public, _value(package, home, name))
        else:
            homes[public] = home, name
        if is_listed:
            listed.append(public)
    return on_first_use(package, homes), lambda: sorted({*vars(module), *homes}), listed
