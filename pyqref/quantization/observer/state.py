"""The state of all observers of a model, apart from the model's own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.quantization.eager.paths import require_module

__all__ = ["get_observer_state_dict", "is_observer_path", "load_observer_state_dict"]

OBSERVER_NAME = "activation_post_process"


def is_observer_path(path: str) -> bool:
    """Return True if a path of a module or tensor belongs to an observer."""
    # Graph mode numbers its observers: activation_post_process_0.
    return any(part.startswith(OBSERVER_NAME) for part in path.split("."))


def get_observer_state_dict(mod: Module) -> OrderedDict[str, Any]:
    """Return the state of the observers of a prepared model.

    Parameters
    ----------
    mod
        A prepared model.

    Returns
    -------
    OrderedDict
        The entries of ``mod.state_dict()`` that belong to observers.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 2))
    >>> model.qconfig = pyqref.quantization.default_qconfig
    >>> prepared = pyqref.quantization.prepare(model)
    >>> list(get_observer_state_dict(prepared))[1:]
    ['0.activation_post_process.min_val', '0.activation_post_process.max_val']
    """
    require_module("get_observer_state_dict", mod)
    found: OrderedDict[str, Any] = OrderedDict()
    whole = mod.state_dict()
    for key, value in whole.items():
        if is_observer_path(key):
            found[key] = value
    found._metadata = OrderedDict(  # type: ignore[attr-defined]
        (path, each)
        for path, each in getattr(whole, "_metadata", {}).items()
        if is_observer_path(path)
    )
    return found


def load_observer_state_dict(mod: Module, obs_dict: Mapping[str, Any]) -> None:
    """Give the observers of a prepared model what other observers have seen.

    Parameters
    ----------
    mod
        A prepared model.
    obs_dict
        What :func:`get_observer_state_dict` gave.

    Raises
    ------
    RuntimeError
        Keys are missing or have no place, or a size does not fit; the model is then as
        it was.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> first, second = quantization.prepare(model), quantization.prepare(model)
    >>> _ = first(pyqref.ones(1, 4))
    >>> saved = quantization.get_observer_state_dict(first)
    >>> quantization.load_observer_state_dict(second, saved)
    >>> observers = first[0].activation_post_process, second[0].activation_post_process
    >>> observers[0].max_val.item() == observers[1].max_val.item()
    True
    """
    require_module("load_observer_state_dict", mod)
    if not isinstance(obs_dict, Mapping):
        raise TypeError(
            "load_observer_state_dict: obs_dict must be a dictionary, "
            f"got {type(obs_dict).__name__}"
        )
    own = set(get_observer_state_dict(mod))
    missing = sorted(own - set(obs_dict))
    unexpected = sorted(str(each) for each in set(obs_dict) - own)
    if missing or unexpected:
        raise RuntimeError(
            f"load_observer_state_dict: missing keys {missing}, unexpected keys {unexpected}; "
            "the state must come from the same model, prepared with the same qconfig"
        )
    mod.load_state_dict(obs_dict, strict=False)
