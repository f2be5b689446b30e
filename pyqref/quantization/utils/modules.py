"""Modules by path, and what they are given."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module, QConfigLike
from pyqref.quantization.eager.paths import is_leaf, require_module

from .qconfigs import get_quant_type

__all__ = [
    "get_combined_dict",
    "get_fqn_to_example_inputs",
    "get_swapped_custom_module_class",
    "getattr_from_fqn",
    "has_no_children_ignoring_parametrizations",
]


def get_combined_dict(
    default_dict: Mapping[Any, Any], additional_dict: Mapping[Any, Any]
) -> dict[Any, Any]:
    """Both dictionaries in one; the entries of the second come first.

    Examples
    --------
    >>> get_combined_dict({"a": 1, "b": 2}, {"b": 3})
    {'a': 1, 'b': 3}
    """
    return {**default_dict, **additional_dict}


def getattr_from_fqn(obj: Module, fqn: str) -> Any:
    """The attribute at a dotted path, such as ``"0.weight"``.

    Raises
    ------
    AttributeError
        There is none.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 3))
    >>> getattr_from_fqn(model, "0.weight").shape
    pyqref.Size([3, 2])
    """
    if not isinstance(fqn, str):
        raise TypeError(f"getattr_from_fqn: fqn must be a path such as '0.weight', got {fqn!r}")
    return functools.reduce(getattr, fqn.split("."), obj)


def has_no_children_ignoring_parametrizations(module: Module) -> bool:
    """Return True if a module has no submodules.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(1, 1)
    >>> has_no_children_ignoring_parametrizations(layer)
    True
    >>> has_no_children_ignoring_parametrizations(pyqref.nn.Sequential(layer))
    False
    """
    require_module("has_no_children_ignoring_parametrizations", module)
    return is_leaf(module)


def get_swapped_custom_module_class(
    custom_module: Module,
    custom_module_class_mapping: Mapping[Any, Any],
    qconfig: QConfigLike | None,
) -> type[Any]:
    """Return the class for a custom module, for the qconfig's kind of quantization.

    Parameters
    ----------
    custom_module
        A module.
    custom_module_class_mapping
        From :class:`~pyqref.quantization.QuantType` to mappings of types to types.
    qconfig
        The module's.

    Raises
    ------
    ValueError
        There is no entry for it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import QuantType, default_qconfig
    >>> layer = pyqref.nn.LSTM(2, 2)
    >>> mapping = {QuantType.STATIC: {pyqref.nn.LSTM: pyqref.nn.quantizable.LSTM}}
    >>> get_swapped_custom_module_class(layer, mapping, default_qconfig).__module__
    'pyqref.nn.quantizable.modules.rnn'
    """
    kind = get_quant_type(qconfig)
    if not isinstance(custom_module_class_mapping, Mapping) or not isinstance(
        custom_module_class_mapping.get(kind, {}), Mapping
    ):
        raise TypeError(
            "custom_module_class_mapping must be a dictionary from QuantType to dictionaries, "
            f"got {custom_module_class_mapping!r}"
        )
    found = custom_module_class_mapping.get(kind, {}).get(type(custom_module))
    if found is None:
        raise ValueError(
            f"custom_module_class_mapping has no entry for {type(custom_module).__name__} "
            f"under {kind!r}"
        )
    return found


def get_fqn_to_example_inputs(
    model: Module, example_inputs: tuple[Any, ...]
) -> dict[str, tuple[Any, ...]]:
    """The positional arguments that each submodule gets when the model runs once.

    Parameters
    ----------
    model
        The model.
    example_inputs
        Its positional arguments.

    Returns
    -------
    dict
        By path; ``""`` is the model itself.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.ReLU())
    >>> get_fqn_to_example_inputs(model, (pyqref.tensor([1.0]),))
    {'': (tensor([1.]),), '0': (tensor([1.]),)}
    """
    require_module("get_fqn_to_example_inputs", model)
    found: dict[str, tuple[Any, ...]] = {}
    handles = [
        each.register_forward_pre_hook(
            lambda _, inputs, path=path: found.__setitem__(path, tuple(inputs))
        )
        for path, each in model.named_modules()
    ]
    try:
        model(*example_inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found
