"""A module of ``torch`` of a class of its own as a module here that runs the same Python code."""

from __future__ import annotations

import copy
import sys
from typing import Any

from pyqref import nn

from .._typing import AnyModule, Module
from .layers import layer_class, make_layer
from .torch_names import is_absent
from .translation import Translation

__all__ = ["add_attributes", "add_hooks", "mirrored_module", "without_reparametrization"]


def mirrored_module(source: object, objects: Translation) -> Module:
    """A module of the mirrored class, empty but for what the layer that it extends needs.

    Parameters
    ----------
    source
        A module of ``torch``.
    objects
        Translates what it holds.

    Raises
    ------
    TypeError
        Its class cannot be mirrored.
    """
    cls = objects.value(type(source))
    if is_absent(cls) or not issubclass(cls, nn.Module):
        raise TypeError(f"its class {type(source).__name__} cannot be taken over")
    twin = cls.__new__(cls)
    nn.Module.__init__(twin)
    for base in type(source).__mro__:
        layer = layer_class(base)
        if layer is not None and not issubclass(layer, _CONTAINERS):
            made = make_layer(layer, source, base.__name__, {})
            for name, value in vars(made).items():
                twin.__dict__[name] = {} if name == "_modules" else value
            break
    return twin


_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def add_attributes(source: object, twin: AnyModule, objects: Translation) -> None:
    """Give a twin the plain attributes of the original, but for those that it has already.

    Parameters
    ----------
    source
        The module of ``torch``.
    twin
        Its mirrored module.
    objects
        Translates attributes.
    """
    internal = vars(sys.modules["torch"].nn.Module())
    for name, value in vars(source).items():
        if name not in internal and name not in twin.__dict__ and name != "qconfig":
            twin.__dict__[name] = objects.value(value)


def add_hooks(source: Any, twin: AnyModule, objects: Translation) -> None:
    """Give a twin the forward hooks of the original.

    Parameters
    ----------
    source
        The module of ``torch``.
    twin
        What became of it.
    objects
        Translates the hooks.

    Raises
    ------
    TypeError
        A hook is not here.
    """
    for kind in ("forward_pre_hook", "forward_hook"):
        for key, hook in getattr(source, f"_{kind}s").items():
            if str(getattr(hook, "__module__", "")).startswith("torch.export"):
                continue  # checks the inputs of an exported graph
            translated = objects.value(hook)
            if is_absent(translated):
                name = translated.__qualname__
                raise TypeError(
                    f"has the {kind.replace('_', ' ')} {name}, which pyqref does not have; "
                    "remove it"
                )
            options = {"with_kwargs": key in getattr(source, f"_{kind}s_with_kwargs")}
            if kind == "forward_hook":
                options["always_call"] = key in source._forward_hooks_always_called
            getattr(twin, f"register_{kind}")(translated, **options)


def without_reparametrization(source: Any) -> object:
    """A copy whose normed or parametrized weights are plain ones; itself, if it has none.

    Parameters
    ----------
    source
        A module of ``torch``.
    """
    utils = sys.modules["torch"].nn.utils
    hooks = {type(each).__name__: each for each in source._forward_pre_hooks.values()}
    parametrized = type(source).__module__ == "torch.nn.utils.parametrize" and hasattr(
        source, "parametrizations"
    )
    if not parametrized and not hooks.keys() & {"WeightNorm", "SpectralNorm"}:
        return source
    if parametrized:
        return _without_parametrizations(source)
    plain = copy.deepcopy(source)
    for kind, remove in _REMOVERS.items():
        if kind in hooks:
            getattr(utils, remove)(plain, hooks[kind].name)
    return plain


def _without_parametrizations(source: Any) -> Any:
    """The module as it was before, with the present values of its parameters.

    ``torch`` removes them from the class that all copies of a module share.
    """
    base: Any = type(source).__bases__[0]
    plain = base.__new__(base)
    plain.__dict__.update(vars(source))
    members = {name: dict(vars(source)[name]) for name in ("_modules", "_parameters", "_buffers")}
    del members["_modules"]["parametrizations"]
    for name in source.parametrizations:
        members["_parameters"][name] = sys.modules["torch"].nn.Parameter(
            getattr(source, name).detach().clone()
        )
    plain.__dict__.update(members)
    return plain


_REMOVERS = {"WeightNorm": "remove_weight_norm", "SpectralNorm": "remove_spectral_norm"}
