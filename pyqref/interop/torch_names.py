"""Counterparts of modules, classes and functions of ``torch``, found by their names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn

from pyqref._advice import advice
from pyqref._insides.stack import caller
from pyqref.quantization.eager.observe import observe_input, observe_output

from .functions import function_of
from .layers import layer_class

__all__ = ["Absent", "TorchModule", "absent", "class_of_torch", "is_absent", "object_of_torch"]

_HERE = __name__.partition(".")[0]
#: Questions that code asks and the modules here do not answer. The answer is no.
_NO = (
    *("torch.fx._symbolic_trace.is_fx_tracing", "torch._dynamo.is_compiling"),
    *("torch.overrides.has_torch_function", "torch.overrides.is_tensor_method_or_property"),
)


def _no(*_: Any, **__: Any) -> bool:
    """Answer a question of :data:`_NO`."""
    return False


def _assert(condition: Any, message: str = "") -> None:
    """``torch._assert``: an assertion; a value that is only recorded is not looked at."""
    from pyqref.fx import Proxy

    if not isinstance(condition, Proxy):
        assert condition, message


_OWN: dict[str, Any] = {
    **dict.fromkeys(_NO, _no),
    "torch._assert": _assert,
    "torch.ao.quantization.quantize._observer_forward_hook": observe_output,
    "torch.ao.quantization.quantize._observer_forward_pre_hook": observe_input,
}


class Absent(type):
    """Class of stand-ins for names that are not here: using one raises, comparing does not."""

    def __call__(cls, *_: int, **__: object) -> NoReturn:
        frame = caller()
        place = f" ({frame.f_code.co_filename}:{frame.f_lineno} calls it)" if frame else ""
        remedy = advice(cls.__qualname__.removeprefix("torch."))
        raise NotImplementedError(
            f"{cls.__qualname__} is not in pyqref{place}" + (f"; {remedy}" if remedy else "")
        )

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return absent(f"{cls.__qualname__}.{name}")

    def __repr__(cls) -> str:
        return f"<{cls.__qualname__}, which pyqref does not have>"


def absent(name: str) -> type[Any]:
    """A stand-in for the name of ``torch`` that is not here.

    Examples
    --------
    >>> fft = absent("torch.fft.fft")
    >>> fft
    <torch.fft.fft, which pyqref does not have>
    >>> fft(3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    NotImplementedError: torch.fft.fft is not in pyqref (... calls it); use numpy.fft ...
    """
    return Absent(name.rpartition(".")[2], (), {"__qualname__": name})


def is_absent(value: object) -> bool:
    """Return True if a value is a stand-in for a missing name."""
    return isinstance(value, Absent)


class TorchModule(ModuleType):
    """Stands for a module of ``torch``, and has what the module of that name here has.

    Examples
    --------
    >>> TorchModule("torch").nn.Linear
    <class 'pyqref.nn.modules.linear.Linear'>
    >>> TorchModule("torch.jit").is_scripting()
    False
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__dict__["_twin"] = _module_here(name)

    def __getattr__(self, name: str) -> Any:
        full = f"{self.__name__}.{name}"
        if name.startswith("__"):
            return getattr(sys.modules[self.__name__], name)
        found = _OWN.get(full)
        if found is None:
            found = _attribute(self.__dict__["_twin"], name)
        if found is None or (isinstance(found, ModuleType) and not isinstance(found, TorchModule)):
            package = found is not None or any(each.startswith(f"{full}.") for each in _OWN)
            found = TorchModule(full) if package else absent(full)
        self.__dict__[name] = found
        return found


def _attribute(module: ModuleType | None, name: str) -> Any:
    """An attribute of a module, which may be a module of its own; None if there is none."""
    if module is None:
        return None
    try:
        return getattr(module, name)
    except (AttributeError, ImportError, NotImplementedError):
        return _import(f"{module.__name__}.{name}")


def _import(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def _module_here(name: str) -> ModuleType | None:
    """The module of the same path here."""
    path = name.split(".")[1:]
    return _import(".".join([_HERE, *path])) if path else sys.modules[_HERE]


def _homes(module: str) -> Iterator[ModuleType]:
    """The module of the same path, then the packages around it."""
    parts = module.split(".")[1:]
    for length in range(len(parts), -1, -1):
        found = _module_here(".".join(["torch", *parts[:length]]))
        if found is not None:
            yield found


def class_of_torch(cls: type) -> type:
    """The class of the same name, or a stand-in that says that there is none."""
    twin = layer_class(cls)
    if twin is not None:
        return twin
    for home in _homes(cls.__module__):
        found = _attribute(home, cls.__name__)
        if isinstance(found, type):
            return found
    return absent(f"{cls.__module__}.{cls.__qualname__}")


def object_of_torch(value: Any) -> object:
    """The function of the same name, or a stand-in that says that there is none."""
    name = getattr(value, "__name__", "") or type(value).__name__
    module = getattr(value, "__module__", None) or "torch"
    full = f"{module}.{name}"
    if full in _OWN:
        return _OWN[full]
    for home in _homes(module) if module.split(".")[0] == "torch" else ():
        found = _attribute(home, name)
        if callable(found):
            return found
    try:
        return function_of(value)
    except TypeError:
        return absent(full)
