"""``trace``: a copy of a model, after one run on an example."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._typing import Tensor
from ..nn.diagnostics import NoEffectWarning, warn
from ..nn.modules.module import Module
from ..tensor.base import TensorBase
from .script_module import RecursiveScriptModule, ScriptFunction, TopLevelTracedModule, copied

__all__ = [
    "TracerWarning",
    "TracingCheckError",
    "is_tracing",
    "script_if_tracing",
    "trace",
    "trace_module",
]


class TracerWarning(Warning):
    """Warning of ``torch`` while it records a run; here it never appears.

    Scripts name it to switch it off.

    Examples
    --------
    >>> import warnings, pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.filterwarnings("ignore", category=pyqref.jit.TracerWarning)
    """


class TracingCheckError(Exception):
    """Error of ``torch`` when a recorded run differs from another; here it never appears.

    Examples
    --------
    >>> import pyqref
    >>> try:
    ...     traced = pyqref.jit.trace(pyqref.nn.ReLU(), pyqref.ones(1))
    ... except pyqref.jit.TracingCheckError:
    ...     traced = None
    """


class _State:
    tracing = False


@contextmanager
def _tracing() -> Iterator[None]:
    before, _State.tracing = _State.tracing, True
    try:
        yield
    finally:
        _State.tracing = before


def is_tracing() -> bool:
    """Return True if :func:`trace` runs a model on its example now.

    Examples
    --------
    >>> import pyqref
    >>> traced = pyqref.jit.trace(lambda x: x + pyqref.jit.is_tracing(), pyqref.zeros(1))
    >>> traced(pyqref.zeros(1)).item()
    0.0
    """
    return _State.tracing


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: its branches and loops run whether it is traced or not.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.jit.script_if_tracing
    ... def positive(x):
    ...     return x if x.sum() > 0 else -x
    >>> positive(pyqref.tensor([-2.0])).item()
    2.0
    """
    return fn


def trace(
    func: Module | Callable[..., Any],
    example_inputs: Tensor | None = None,
    optimize: object = None,
    check_trace: bool = True,
    check_inputs: object = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    _force_outplace: bool = False,
    _module_class: object = None,
    _compilation_unit: object = None,
    example_kwarg_inputs: dict[str, Any] | None = None,
    _store_inputs: bool = True,
) -> Module | ScriptFunction:
    """A copy of a model that can be called, saved and loaded, after one run on an example.

    ``torch`` records the operations of that run. Here the copy runs as Python, so that branches
    and loops stay what they are, and ``train()`` and ``eval()`` have their effect.

    Parameters
    ----------
    func
        A module or a function.
    example_inputs
        A tensor, or a tuple of the arguments.
    example_kwarg_inputs
        Arguments by name, instead.
    optimize
        Has no effect.
    check_trace, check_inputs, check_tolerance, strict
        Of no use here: the copy does what the model does.

    Returns
    -------
    TopLevelTracedModule or ScriptFunction
        With the model's parameters and buffers, as in ``torch``.

    Raises
    ------
    RuntimeError
        An input is no tensor and no nested list, tuple or dict of tensors, or there is none.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> traced = pyqref.jit.trace(nn.Linear(2, 1), pyqref.ones(1, 2))
    >>> traced(pyqref.ones(5, 2)).shape
    pyqref.Size([5, 1])
    """
    if optimize is not None:
        warn("jit.trace: optimize has no effect: nothing is compiled", NoEffectWarning)
    if example_kwarg_inputs is not None:
        args: tuple[Any, ...] = ()
        kwargs = dict(example_kwarg_inputs)
    elif example_inputs is None:
        raise RuntimeError(
            "jit.trace: example_inputs is missing: give a tensor, or a tuple of the arguments"
        )
    else:
        args, kwargs = _arguments(example_inputs), {}
    _require_tensors((args, kwargs))
    if isinstance(func, RecursiveScriptModule):
        func = func._model
    if not isinstance(func, Module):
        if not callable(func):
            raise TypeError(
                f"jit.trace: func must be a module or a function, got {type(func).__name__}"
            )
        made: Any = ScriptFunction(func)
    else:
        made = TopLevelTracedModule(copied(func, "jit.trace"))
    with _tracing():
        made(*args, **kwargs)
    return made


def trace_module(mod: Module, inputs: dict[str, Any], *args: object, **kwargs: object) -> Module:
    """Trace like :func:`trace`, after a run of each method on its example.

    Parameters
    ----------
    mod
        A module.
    inputs
        Examples by name of the method.
    *args, **kwargs
        Of no use here, as those of :func:`trace`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> traced = pyqref.jit.trace_module(nn.ReLU(), {"forward": pyqref.ones(1)})
    >>> traced(pyqref.tensor([-1.0])).item()
    0.0
    """
    if not isinstance(mod, Module):
        raise TypeError(f"jit.trace_module: mod must be a module, got {type(mod).__name__}")
    if not isinstance(inputs, dict):
        raise TypeError(
            "jit.trace_module: inputs must be a dict from names of methods to examples, "
            f"got {type(inputs).__name__}"
        )
    made = TopLevelTracedModule(copied(mod, "jit.trace_module"))
    with _tracing():
        for name, example in inputs.items():
            _require_tensors(example)
            (made if name == "forward" else getattr(made, name))(*_arguments(example))
    return made


def _arguments(example: Any) -> tuple[Any, ...]:
    return tuple(example) if isinstance(example, (tuple, list)) else (example,)


def _require_tensors(value: Any) -> None:
    if isinstance(value, (tuple, list)):
        for each in value:
            _require_tensors(each)
    elif isinstance(value, dict):
        _require_tensors(list(value.values()))
    elif not isinstance(value, (TensorBase, bool, int, float, type(None))):
        raise RuntimeError(
            f"jit.trace: an input of type {type(value).__name__} cannot be traced; give tensors, "
            "or nested lists, tuples and dicts of them"
        )
