"""Names of a package that are imported when they are first asked for.

So ``import pyqref`` takes the time of what a script uses, not of all there is. A package
imports such names under ``if TYPE_CHECKING``, where readers and type checkers find them as
any other, and says with ``__getattr__ = on_first_use(...)`` which module has which.

A process may fork at any time. A child that was made while another thread imports would wait for
ever for that thread, which it does not have; so a fork waits until such imports are done.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import get_ident
from typing import Any

__all__ = ["importing", "no_attribute", "on_first_use"]

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


def on_first_use(
    package: str, names: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: Python calls it for names that are not there yet.

    Parameters
    ----------
    package
        Its ``__name__``.
    names
        For each module, as ``".elementwise"``, the names that the package has from it. None,
        if the package has all its names: then this only tells what to do instead of another.
    modules
        Modules of the package that are such names themselves.
    """
    homes = {name: module for module, its_names in names.items() for name in its_names}
    whole = frozenset(modules)

    def found(name: str) -> Any:
        """Import what has the name, and keep it: the next use finds it at once."""
        if name in whole:
            with importing(f"{package}.{name}"):
                return import_module(f".{name}", package)
        if name not in homes:
            raise no_attribute(package, name)
        with importing(f"{package}.{name}"):
            value = getattr(import_module(homes[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    return found
