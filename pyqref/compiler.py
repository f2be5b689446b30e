"""There is no compiler: each operation runs when it is called.

What scripts tell a compiler about their functions leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._lazy import on_first_use
from ._typing import Module
from .nn.diagnostics import NoEffectWarning, warn

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)


def compile(
    model: Module | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """The module or function itself: compiled or not, it gives the same results.

    Parameters
    ----------
    model
        A module or a function; without it, a decorator is returned.
    fullgraph, dynamic, backend, mode, options
        Of no use here.
    disable
        Whether it is switched off anyway; then there is no warning.

    Warns
    -----
    NoEffectWarning
        Unless ``disable`` is given.

    Examples
    --------
    >>> import warnings, pyqref
    >>> model = pyqref.nn.ReLU()
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     pyqref.compile(model) is model
    True
    """
    if model is not None and not callable(model):
        raise TypeError(
            f"compile: model must be a module or a function, got {type(model).__name__}"
        )
    if not disable:
        warn(
            "compile has no effect: each operation runs when it is called, and the results are "
            "the same; call the model itself",
            NoEffectWarning,
        )
    return _itself if model is None else model


def is_compiling() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.is_dynamo_compiling()
    False
    """
    return False


def is_exporting() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.is_exporting()
    False
    """
    return False


def disable(
    fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None
) -> Callable[..., Any]:
    """The function itself; a decorator, with or without arguments.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.compiler.disable
    ... def one(x):
    ...     return x + 1
    >>> one(0)
    1
    """
    return _itself if fn is None else fn


def allow_in_graph(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.allow_in_graph(abs)(-1)
    1
    """
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.assume_constant_result(abs)(-1)
    1
    """
    return fn


def reset() -> None:
    """Do nothing: nothing has been compiled that could be forgotten.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.reset()
    """


def cudagraph_mark_step_begin() -> None:
    """There are no CUDA graphs.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.cudagraph_mark_step_begin()
    """


def list_backends(exclude_tags: Sequence[str] = ("debug", "experimental")) -> list[str]:
    """Compilers that are there: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.compiler.list_backends()
    []
    """
    return []


class set_stance:
    """How a compiler would behave, as a call, a ``with`` or a decorator; nothing is compiled.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.compiler.set_stance("force_eager"):
    ...     pass
    """

    def __init__(self, stance: str = "default", **options: object) -> None:
        self.stance = stance

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        return fn

    def __enter__(self) -> set_stance:  # noqa: PYI034
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def _itself(function: Any) -> Any:
    return function
