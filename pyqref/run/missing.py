"""Names that a module of ``torch`` lacks: ``from torch.onnx import export`` says what to do, too.

Python asks the module for the attribute, and writes a message of its own over that of an
``AttributeError``. An ``ImportError`` it lets through; so that is raised where the question comes
from such an import, and from nowhere else: ``hasattr`` expects the other.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from pyqref._insides.bytecode import imports_a_name
from pyqref._insides.stack import caller

from .names import what_to_do

__all__ = ["advised", "refuse_import", "unadvised"]

#: Modules that were given a ``__getattr__``, with the one that they had.
_given: dict[str, tuple[ModuleType, Any]] = {}


def refuse_import(module: str, name: str, frame: FrameType | None) -> None:
    """Raise what tells what to do, if a frame is at ``from module import name``.

    Parameters
    ----------
    module
        As the program calls it: ``"torch.onnx"``.
    name
        What it lacks.
    frame
        Where the attribute was asked for.

    Raises
    ------
    ImportError
        If it was asked for by an import.
    """
    if not name.startswith("__") and imports_a_name(frame):
        message = f"cannot import name {name!r} from {module!r}; {what_to_do(f'{module}.{name}')}"
        raise ImportError(message, name=module)


def advised(module: ModuleType, torch_name: str) -> None:
    """Let a module tell what to do where a program imports a name that it lacks.

    Parameters
    ----------
    module
        A module of pyqref.
    torch_name
        What the program calls it.
    """
    if module.__name__ in _given or not module.__name__.startswith("pyqref."):
        return
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")
    _given[module.__name__] = (module, own)

    def found(name: str) -> Any:
        """Return the module's attribute of this name, or say why there is none."""
        try:
            if own is None:
                raise AttributeError(
                    f"module {module.__name__!r} has no attribute {name!r}", name=name, obj=module
                )
            return own(name)
        except AttributeError:
            refuse_import(torch_name, name, caller())
            raise

    vars(module)["__getattr__"] = found


def unadvised() -> None:
    """Leave the modules as they were."""
    while _given:
        _, (module, own) = _given.popitem()
        if own is None:
            vars(module).pop("__getattr__", None)
        else:
            vars(module)["__getattr__"] = own
