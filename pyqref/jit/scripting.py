"""``script``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.diagnostics import NoEffectWarning, warn
from ..nn.modules.module import Module
from .script_module import RecursiveScriptModule, ScriptFunction, ScriptModule, copied

__all__ = ["script"]


def script(
    obj: object,
    optimize: object = None,
    _frames_up: int = 0,
    _rcb: object = None,
    example_inputs: tuple[Any, ...] | None = None,
) -> Module | Callable[..., Any] | type:
    """A copy of a model that can be called, saved and loaded. Nothing is compiled.

    Parameters
    ----------
    obj
        A module, or a function: it is called as it is. A class that is no module stays itself.
    optimize
        Has no effect.
    example_inputs
        Of no use here: Python needs no types.

    Returns
    -------
    RecursiveScriptModule or ScriptFunction
        Later changes of the model's structure and attributes do not show in the copy. As in
        ``torch``, its parameters and buffers are those of the model.

    Raises
    ------
    RuntimeError
        ``obj`` is a class of modules.
    TypeError
        ``obj`` is nothing that can be called.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    >>> scripted = pyqref.jit.script(model)
    >>> x = pyqref.ones(1, 2)
    >>> pyqref.equal(model(x), scripted(x))
    True
    >>> _ = model.append(nn.Linear(2, 1))
    >>> len(model), len(scripted)
    (3, 2)
    """
    if optimize is not None:
        warn("jit.script: optimize has no effect: nothing is compiled", NoEffectWarning)
    if isinstance(obj, (ScriptModule, ScriptFunction)):
        return obj
    if isinstance(obj, Module):
        return RecursiveScriptModule(copied(obj, "jit.script"))
    if isinstance(obj, type):
        if issubclass(obj, Module):
            raise RuntimeError(
                f"jit.script: {obj.__name__} is a class of modules; script an instance: "
                f"pyqref.jit.script({obj.__name__}(...))"
            )
        return obj
    if not callable(obj):
        raise TypeError(f"jit.script: obj must be a module or a function, got {type(obj).__name__}")
    return ScriptFunction(obj)
