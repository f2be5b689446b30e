"""Giving every module of a model its qconfig."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module, QConfigLike
from pyqref.nn.modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from pyqref.quantization.diagnostics import NoMatchWarning, UnusedMappingWarning, warn
from pyqref.quantization.qconfig.checks import require_qconfig

from .paths import require_module

__all__ = ["planned_qconfigs", "propagate_qconfig_", "require_entry", "require_qconfigs"]


def propagate_qconfig_(
    module: Module,
    qconfig_dict: Mapping[Any, Any] | None = None,
    prepare_custom_config_dict: Mapping[str, Any] | None = None,
) -> None:
    """Give every module below its ``qconfig``, in place.

    A module takes, in this order: its own ``qconfig`` attribute (None too: it is then not
    quantized), the entry for its name, the entry for its type, its parent's.

    Parameters
    ----------
    module
        The model.
    qconfig_dict
        From names of submodules (``"features.0"``; ``""`` is the model itself) or module
        types to qconfigs.
    prepare_custom_config_dict
        ``{"non_traceable_module_name": [...], "non_traceable_module_class": [...]}``: no
        qconfig goes into these.

    Warns
    -----
    NoMatchWarning
        A key, or the name of a module to leave out, fits no module; the message has it.

    Raises
    ------
    TypeError
        A key is neither a name nor a type, or a qconfig is none.
    ValueError
        A transposed convolution would get weights per channel, which it does not support.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(1, 1), pyqref.nn.Linear(1, 1))
    >>> propagate_qconfig_(model, {"1": pyqref.quantization.default_qconfig})
    >>> model[0].qconfig is None, model[1].qconfig is pyqref.quantization.default_qconfig
    (True, True)
    """
    require_module("propagate_qconfig_", module)
    if qconfig_dict is not None and not isinstance(qconfig_dict, Mapping):
        raise TypeError(
            "qconfig_dict must be a dictionary from names or types of submodules to qconfigs, "
            f"got {qconfig_dict!r}; to quantize the whole model write {{'': qconfig}}"
        )
    qconfigs = dict(qconfig_dict or {})
    if "object_type" in qconfigs or "module_name" in qconfigs:
        raise TypeError(
            "propagate_qconfig_: this dictionary has the form of graph mode; the keys here are "
            'names or types themselves, such as {nn.Linear: qconfig, "features.0": None}'
        )
    for key, qconfig in qconfigs.items():
        require_entry("qconfig_dict", key, qconfig)
    _warn_of_unmatched_keys(module, qconfigs)
    custom = prepare_custom_config_dict or {}
    if not isinstance(custom, Mapping):
        raise TypeError(f"prepare_custom_config_dict must be a dictionary, got {custom!r}")
    _warn_of_unmatched_exclusions(module, custom)
    modules = dict(module.named_modules(remove_duplicate=False))
    require_qconfigs("propagate_qconfig_", module)
    plan = planned_qconfigs(module, qconfigs, custom)
    for path, qconfig in plan.items():
        _check_transposed(modules[path], qconfig, path)
    for path, qconfig in plan.items():
        modules[path].qconfig = qconfig


def require_entry(argument: str, key: str | type[Any], qconfig: QConfigLike | None) -> None:
    """Raise TypeError unless an entry of a dictionary is a QConfig or None."""
    name = key.__qualname__ if isinstance(key, type) else repr(key)
    require_qconfig(qconfig, f"{argument}: the entry for {name}")


def require_qconfigs(asks: str, model: Module) -> None:
    """Raise TypeError where a module's ``qconfig`` attribute is no QConfig."""
    for path, each in model.named_modules():
        # A module that is assigned, such as an observer, becomes a submodule of this name.
        given = each.__dict__.get("qconfig", each._modules.get("qconfig"))
        require_qconfig(given, f"{asks}: {path or 'model'}.qconfig")


def planned_qconfigs(
    module: Module,
    qconfigs: Mapping[Any, Any] | None = None,
    custom: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The qconfig that :func:`propagate_qconfig_` gives to each module, by path.

    Parameters
    ----------
    module, qconfigs, custom
        As for :func:`propagate_qconfig_`.

    Returns
    -------
    dict
        Modules that are excluded are left out.
    """
    given, excluded = qconfigs or {}, custom or {}
    closed_names = set(excluded.get("non_traceable_module_name", ()))
    closed_types = set(excluded.get("non_traceable_module_class", ()))
    plan: dict[str, Any] = {}
    # A module that stands at two places has the qconfig of the first.
    decided: dict[int, Any] = {}

    def visit(each: Any, inherited: Any, path: str) -> None:
        qconfig = given.get(type(each), inherited)
        qconfig = given.get(path, qconfig)
        qconfig = getattr(each, "qconfig", qconfig)
        plan[path] = qconfig = decided.setdefault(id(each), qconfig)
        for name, child in each.named_children():
            below = f"{path}.{name}" if path else name
            if below not in closed_names and type(child) not in closed_types:
                visit(child, qconfig, below)

    visit(module, None, "")
    return plan


def _warn_of_unmatched_keys(module: Any, qconfigs: Mapping[Any, Any]) -> None:
    """Warn of each key of a qconfig dictionary that fits no submodule."""
    paths = {path for path, _ in module.named_modules()}
    types = {type(each) for each in module.modules()}
    for key in qconfigs:
        if not isinstance(key, str | type):
            raise TypeError(
                "a key of a qconfig dictionary must be the name of a submodule or a module type, "
                f"got {key!r}"
            )
        if key in paths or key in types:
            continue
        if isinstance(key, str):
            text = f"the name {key!r} fits no submodule{_near(key, paths)}"
        else:
            text = f"the type {key.__module__}.{key.__qualname__} fits no submodule"
        warn(f"qconfig dictionary: {text}; correct the key or leave it out", NoMatchWarning)


def _warn_of_unmatched_exclusions(module: Any, custom: Mapping[str, Any]) -> None:
    paths = {path for path, _ in module.named_modules()}
    types = {type(each) for each in module.modules()}
    for name in custom.get("non_traceable_module_name", ()):
        if name not in paths:
            text = f"the name {name!r} fits no submodule{_near(name, paths)}"
            warn(f"non_traceable_module_name: {text}; correct it or leave it out", NoMatchWarning)
    for kind in custom.get("non_traceable_module_class", ()):
        if kind not in types:
            text = f"the model has no {getattr(kind, '__qualname__', kind)}"
            warn(f"non_traceable_module_class: {text}; leave it out", UnusedMappingWarning)


def _near(name: Any, paths: set[str]) -> str:
    near = difflib.get_close_matches(str(name), sorted(paths - {""}), n=3)
    return f"; did you mean {' or '.join(repr(each) for each in near)}?" if near else ""


def _check_transposed(module: Any, qconfig: Any, path: str) -> None:
    if qconfig is None or not isinstance(
        module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d
    ):
        return
    observer = qconfig.weight()
    if getattr(observer, "qscheme", None) is not None and observer.qscheme.is_per_channel:
        raise ValueError(
            f"{path or 'the model'} ({type(module).__name__}): weights per channel are not "
            "supported for transposed convolutions; set its qconfig to one with "
            "default_weight_observer, or to None"
        )
