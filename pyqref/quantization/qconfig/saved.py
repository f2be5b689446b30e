"""A :class:`QConfig` in a file: names of observers and the arguments they will be made with.

Loading makes recipes, which name classes of this package only; it calls none of them.
"""

from __future__ import annotations

import functools
from functools import cache
from typing import Any

from pyqref.nn.modules.shape import Identity
from pyqref.quantization import fake_quantize, observer
from pyqref.quantization.observer.partial import PartialWrapper
from pyqref.serialization.kinds import Kind, add_kind

from .base import QConfig, QConfigDynamic

__all__ = ["add_to_files"]

_QCONFIGS = {each.__name__: each for each in (QConfig, QConfigDynamic)}


@cache
def _classes() -> dict[str, Any]:
    """The observers and fake quantizers of the package by name, and the identity."""
    found: dict[str, Any] = {"Identity": Identity}
    for module in (observer, fake_quantize):
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and hasattr(value, "with_args"):
                found[name] = value
    return found


def add_to_files() -> None:
    """Let ``save`` and ``load`` take qconfigs, and the recipes in them."""
    add_kind(Kind("qconfig", lambda value: type(value) in _QCONFIGS.values(), _apart, _together))
    add_kind(Kind("recipe", _is_recipe, _recipe_apart, _recipe_together))


def _apart(value: Any) -> Any:
    for recipe in value:
        made = _class_of(recipe)
        if recipe is not None and not _is_recipe(recipe):
            raise TypeError(
                f"save: a qconfig with {getattr(made, '__qualname__', repr(made))}, which is no "
                "observer of pyqref.quantization, so that a file cannot name it; save the state "
                "of the model, and write the qconfig in the script"
            )
    return [type(value).__name__, value.activation, value.weight]


def _together(parts: Any) -> Any:
    if not isinstance(parts, list) or len(parts) != 3 or parts[0] not in list(_QCONFIGS):
        raise ValueError(f"a qconfig is one of {', '.join(_QCONFIGS)} with two recipes")
    for recipe in parts[1:]:
        if recipe is not None and not _is_recipe(recipe):
            raise ValueError("a qconfig holds a recipe for activations and one for weights")
    if parts[0] == "QConfigDynamic" and parts[2] is None:
        raise ValueError("a QConfigDynamic has a recipe for weights")
    return _QCONFIGS[parts[0]](*parts[1:])


def _is_recipe(value: Any) -> bool:
    return isinstance(value, PartialWrapper | type) and _class_of(value) in _classes().values()


def _class_of(value: Any) -> Any:
    return value.p.func if isinstance(value, PartialWrapper) else value


def _recipe_apart(value: Any) -> Any:
    name = next(name for name, each in _classes().items() if each is _class_of(value))
    if not isinstance(value, PartialWrapper):
        return [name]
    if value.callable_args or value.p.args:
        raise TypeError(
            f"save: a recipe of {name} that calls a function for its arguments; with_args(...) "
            "gives them as values"
        )
    return [name, dict(value.p.keywords)]


def _recipe_together(parts: Any) -> Any:
    if not isinstance(parts, list) or len(parts) not in (1, 2) or parts[0] not in list(_classes()):
        raise ValueError("a recipe names a class of pyqref.quantization and its arguments")
    made = _classes()[parts[0]]
    if len(parts) == 1:
        return made
    keywords = parts[1]
    if not isinstance(keywords, dict) or not all(isinstance(name, str) for name in keywords):
        raise ValueError(f"a recipe of {parts[0]} has arguments without names")
    return PartialWrapper(functools.partial(made, **keywords))
