"""Results of ``script`` and ``trace``: a copy of a model, and a function.

There is no compiler here. A scripted module is a copy of the model that runs as Python, with
its own modules and attributes. As in ``torch``, parameters and buffers are the model's own:
training the one trains the other.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

from .._typing import FileLike, Self, Tensor
from ..nn.modules.loading import IncompatibleKeys
from ..nn.modules.module import Module
from ..tensor.base import TensorBase

__all__ = [
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TopLevelTracedModule",
    "TracedModule",
    "copied",
    "write_with",
]

#: What writes a module to a file; :mod:`.files` puts it here, which imports this module.
_writers: list[Callable[..., None]] = []
_COMPILED = ("graph", "inlined_graph", "code", "code_with_constants", "graph_for")


def _no_compiler(name: str) -> AttributeError:
    return AttributeError(
        f"jit: there is no {name}: nothing is compiled, a scripted model is a copy that runs as "
        "Python; pyqref.fx.symbolic_trace(model) gives a graph (.graph) and its text (.code)"
    )


def write_with(writer: Callable[..., None]) -> None:
    """Say what :meth:`ScriptModule.save` calls."""
    _writers.append(writer)


class ScriptModule(Module):
    """Base class of scripted modules, and of classes whose source says that they are scripts.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> isinstance(pyqref.jit.script(nn.ReLU()), pyqref.jit.ScriptModule)
    True
    """

    def save(self, f: FileLike, _extra_files: dict[str, Any] | None = None) -> None:
        """Save this module: see :func:`pyqref.jit.save`."""
        _writers[-1](self, f, _extra_files)

    def _save_for_lite_interpreter(self, *args: Any, **kwargs: Any) -> None:
        """Refused: a phone's interpreter runs compiled programs, and nothing is compiled."""
        raise RuntimeError(
            "jit: _save_for_lite_interpreter writes a program for a phone, and nothing is compiled "
            "here; save the model with .save(path), and load it with pyqref.jit.load(path)"
        )

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in _COMPILED:
                raise _no_compiler(name) from None
            raise


class RecursiveScriptModule(ScriptModule):
    """A copy of a model, made by :func:`pyqref.jit.script` or read by :func:`pyqref.jit.load`.

    It has the model's parameters, buffers, submodules, attributes and methods under the same
    names; ``state_dict()`` has the same keys.

    Attributes
    ----------
    original_name : str
        Name of the model's class.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> scripted = pyqref.jit.script(nn.Sequential(nn.Linear(2, 1), nn.ReLU()))
    >>> scripted.original_name, list(scripted.state_dict())
    ('Sequential', ['0.weight', '0.bias'])
    """

    def __init__(self, model: Module) -> None:
        super().__init__()
        # Registries and hooks are the model's own, so that both say the same.
        for name in list(self.__dict__):
            self.__dict__[name] = model.__dict__[name]
        self.__dict__["_model"] = model
        self.__dict__["original_name"] = type(model).__name__

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """The model's ``forward``."""
        return self._model.forward(*args, **kwargs)

    @property
    def training(self) -> bool:  # type: ignore[override]
        """True if the model is in training mode."""
        return bool(self._model.training)

    def train(self, mode: bool = True) -> Self:
        """Set training mode as the model does."""
        self._model.train(mode)
        return self

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The state of the model."""
        return self._model.state_dict(*args, **kwargs)

    def load_state_dict(self, *args: Any, **kwargs: Any) -> IncompatibleKeys:
        """Load a state into the model."""
        return self._model.load_state_dict(*args, **kwargs)

    def _save_to_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._model._save_to_state_dict(*args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._model._load_from_state_dict(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        model = self.__dict__.get("_model")
        if model is not None and hasattr(model, name):
            return getattr(model, name)
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._model, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._model, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._model)})

    def __len__(self) -> int:
        return len(self._model)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._model)

    def __getitem__(self, index: int | slice) -> Module:
        return self._model[index]

    def __contains__(self, key: object) -> bool:
        return key in self._model

    def __bool__(self) -> bool:
        return True

    def extra_repr(self) -> str:
        """The name of the model's class."""
        return f"original_name={self.original_name}"


class TracedModule(RecursiveScriptModule):
    """A copy of a model that was traced.

    Examples
    --------
    >>> import pyqref
    >>> traced = pyqref.jit.trace(pyqref.nn.ReLU(), pyqref.ones(1))
    >>> isinstance(traced, pyqref.jit.TracedModule)
    True
    """


class TopLevelTracedModule(TracedModule):
    """Scripted module that :func:`pyqref.jit.trace` makes of a module.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> type(pyqref.jit.trace(nn.ReLU(), pyqref.ones(1))).__name__
    'TopLevelTracedModule'
    """


class ScriptFunction:
    """A function as :func:`pyqref.jit.script` returns it: call it as the function that it is.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.jit.script
    ... def double(x):
    ...     return 2 * x
    >>> double.name, double(pyqref.ones(1)).item()
    ('double', 2.0)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Tensor, **kwargs: object) -> Tensor:
        return self.function(*args, **kwargs)

    def save(self, f: FileLike, _extra_files: dict[str, Any] | None = None) -> None:
        """Refused: a function has no state, and code is not saved."""
        raise TypeError(
            f"jit.save: {self.name} is a function, which has no tensors to save, and code is not "
            "saved; keep it in your script and import it, or make it the forward of an nn.Module"
        )

    def __getattr__(self, name: str) -> Any:
        if name in _COMPILED:
            raise _no_compiler(name)
        raise AttributeError(f"'ScriptFunction' object has no attribute '{name}'")


def copied(model: Module, what: str) -> Module:
    """A copy of a model, of all but its parameters, buffers and packed weights.

    Raises
    ------
    TypeError
        The model holds something that cannot be copied.
    """
    memo: dict[int, Any] = {}
    for module in model.modules():
        for registry in (module._parameters, module._buffers):
            memo.update({id(each): each for each in registry.values()})
        for value in vars(module).values():
            if _is_packed(value):
                memo[id(value)] = value
    try:
        return copy.deepcopy(model, memo)
    except (TypeError, RuntimeError) as error:
        raise TypeError(
            f"{what}: the {type(model).__name__} cannot be copied: {error}; keep what cannot be "
            "copied out of the model"
        ) from error


def _is_packed(value: Any) -> bool:
    """Return True for a packed weight, which is shared because nothing changes it."""
    return not isinstance(value, (Module, TensorBase)) and hasattr(type(value), "unpack")
