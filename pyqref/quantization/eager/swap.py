"""Swapping modules for their quantized forms: one, or all of a model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from pyqref._typing import Module
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.diagnostics import UncalibratedWarning

from .inner_warnings import at_path
from .observe import observe_input, observe_output
from .paths import require_mapping, require_module
from .reference import reference_form

__all__ = ["Swap", "ran_unobserved", "swap_children", "swap_module", "undo"]


def swap_module(
    mod: Module,
    mapping: Mapping[Any, Any],
    custom_module_class_mapping: Mapping[Any, Any] | None = None,
    use_precomputed_fake_quant: bool = False,
) -> Module:
    """The quantized form of a module, or the module itself if there is none.

    Parameters
    ----------
    mod
        A module with an observer.
    mapping
        From types to quantized types.
    custom_module_class_mapping
        From observed to quantized custom types.
    use_precomputed_fake_quant
        As for :func:`convert`.

    Returns
    -------
    Module
        The user's hooks on ``mod`` are on it, too.

    Notes
    -----
    Source: ``torch.quantization.swap_module``.

    Examples
    --------
    >>> from pyqref import nn
    >>> layer = nn.ReLU()
    >>> swap_module(layer, {}) is layer
    True
    """
    custom = custom_module_class_mapping or {}
    require_module("swap_module", mod)
    require_mapping("swap_module", "mapping", mapping)
    require_mapping("swap_module", "custom_module_class_mapping", custom)
    if getattr(mod, "qconfig", None) is None:
        return mod
    if type(mod) in custom:
        new = custom[type(mod)].from_observed(mod)
    elif getattr(mapping.get(type(mod)), "_IS_REFERENCE", False):
        new = reference_form(mod, mapping[type(mod)])
    elif type(mod) in mapping:
        from_float = mapping[type(mod)].from_float
        # A class of the user's may have the one argument of the documentation only.
        options = {"use_precomputed_fake_quant": True} if use_precomputed_fake_quant else {}
        new = from_float(mod, **options)
    else:
        return mod
    new.train(mod.training)
    for pre_hook in mod._forward_pre_hooks.values():
        if pre_hook is not observe_input:
            new.register_forward_pre_hook(pre_hook)
    for hook in mod._forward_hooks.values():
        if hook is not observe_output:
            new.register_forward_hook(hook)
    return new


def ran_unobserved(module: Module) -> bool:
    """Return True for a FloatFunctional that adds or multiplies by a number: it needs no range."""
    return bool(getattr(module, "_ran_unobserved", False))


@dataclass(frozen=True)
class Swap:
    """One exchange of modules: what stood where, and what stands there now."""

    parent: Any
    name: str
    path: str
    old: Any
    new: Any


@dataclass
class _Walk:
    """State that all steps of one conversion share."""

    asks: str
    mapping: Mapping[Any, Any]
    custom: Mapping[Any, Any]
    precomputed: bool
    done: list[Swap] = field(default_factory=list)

    def below(self, module: Module, above: str) -> None:
        for name, child in list(module.named_children()):
            path = f"{above}{name}"
            # Groups made by fusion and custom modules are swapped as one.
            if not isinstance(child, _FusedModule) and type(child) not in self.custom:
                self.below(child, f"{path}.")
            place = f"{path} ({type(child).__name__})"
            try:
                with warnings.catch_warnings():
                    if ran_unobserved(child):
                        warnings.simplefilter("ignore", UncalibratedWarning)
                    told = (
                        at_path(self.asks, place) if type(child) in self.custom else nullcontext()
                    )
                    with told:
                        new = swap_module(child, self.mapping, self.custom, self.precomputed)
            except (RuntimeError, TypeError, ValueError) as error:
                message = f"{self.asks}: {place}: {error}"
                raise type(error)(message) from error
            module._modules[name] = new
            if new is not child:
                self.done.append(Swap(module, name, path, child, new))


def swap_children(
    asks: str,
    module: Module,
    mapping: Mapping[Any, Any],
    custom: Mapping[Any, Any],
    precomputed: bool,
) -> list[Swap]:
    """Swap all submodules of a model that have a qconfig and a quantized form.

    Parameters
    ----------
    asks
        Who asks, for messages.
    module
        The model.
    mapping, custom, precomputed
        As for :func:`swap_module`.

    Returns
    -------
    list of Swap
        What was exchanged. On an error nothing is.
    """
    walk = _Walk(asks, mapping, custom, precomputed)
    try:
        walk.below(module, "")
    except BaseException:
        undo(walk.done)
        raise
    return walk.done


def undo(swaps: list[Swap]) -> None:
    """Put everything back where it stood."""
    for each in reversed(swaps):
        each.parent._modules[each.name] = each.old
