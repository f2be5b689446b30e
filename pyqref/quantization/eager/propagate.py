"""Giving every module of a model its qconfig."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping
from typing import Any

from pyqref.nn.modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d

__all__ = ["NoMatchWarning", "propagate_qconfig_"]


class NoMatchWarning(UserWarning):
    """A key of a qconfig dictionary fits no module."""


def propagate_qconfig_(
    module: Any,
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
        A key fits no module; the message has the key.

    Raises
    ------
    TypeError
        A key is neither a name nor a type.
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
    qconfigs = dict(qconfig_dict or {})
    if "object_type" in qconfigs or "module_name" in qconfigs:
        raise TypeError(
            "propagate_qconfig_: this dictionary has the form of graph mode; the keys here are "
            'names or types themselves, such as {nn.Linear: qconfig, "features.0": None}'
        )
    _warn_of_unmatched_keys(module, qconfigs)
    custom = prepare_custom_config_dict or {}
    closed_names = set(custom.get("non_traceable_module_name", ()))
    closed_types = set(custom.get("non_traceable_module_class", ()))

    def visit(each: Any, inherited: Any, path: str) -> None:
        qconfig = qconfigs.get(type(each), inherited)
        qconfig = qconfigs.get(path, qconfig)
        qconfig = getattr(each, "qconfig", qconfig)
        _check_transposed(each, qconfig, path)
        each.qconfig = qconfig
        for name, child in each.named_children():
            below = f"{path}.{name}" if path else name
            if below not in closed_names and type(child) not in closed_types:
                visit(child, qconfig, below)

    visit(module, None, "")


def _warn_of_unmatched_keys(module: Any, qconfigs: Mapping[Any, Any]) -> None:
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
            near = difflib.get_close_matches(key, sorted(paths - {""}), n=3)
            hint = f"; did you mean {' or '.join(repr(each) for each in near)}?" if near else ""
            text = f"the name {key!r} fits no submodule{hint}"
        else:
            text = f"the type {key.__module__}.{key.__qualname__} fits no submodule"
        warnings.warn(f"qconfig dictionary: {text}", NoMatchWarning, stacklevel=4)


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
