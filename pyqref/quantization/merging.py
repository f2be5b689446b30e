"""``merge``: prepared models that saw parts of the data become one that saw all of it."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from pyqref.nn.modules.module import Module
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.tensor.foreign import kind_of

__all__ = ["merge", "merge_into", "watchers"]

_WATCHES = (ObserverBase, FakeQuantizeBase)


def merge(models: Iterable[Module]) -> Module:
    """Return one prepared model that saw what several of them saw.

    Each observer and fake quantizer takes in those at its path in the other models
    (:meth:`ObserverBase.merge`). For extremes, ranges of channels and counts on nested grids the
    result is that of one model that saw all data; ``docs/calibrate`` tells it for each class.

    Parameters
    ----------
    models
        Prepared models, at least one: copies of one model, which saw different data. They stay as
        they are.

    Returns
    -------
    Module
        A copy of the first, merged with the others in their order.

    Raises
    ------
    TypeError
        One of them is no module.
    ValueError
        There is none, they have no observers, or two of them differ in their modules, observers or
        weights; the message names the path.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(2, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> first, second = quantization.prepare(model), quantization.prepare(model)
    >>> _ = first(pyqref.zeros(1, 2)), second(pyqref.ones(1, 2))
    >>> merged = quantization.merge([first, second])
    >>> of_all = quantization.prepare(model)
    >>> _ = of_all(pyqref.zeros(1, 2)), of_all(pyqref.ones(1, 2))
    >>> str(merged) == str(of_all)
    True
    """
    given = list(models)
    if not given:
        raise ValueError("merge: models must hold at least one prepared model, got none")
    for index, each in enumerate(given):
        if not isinstance(each, Module):
            raise TypeError(f"merge: models[{index}] must be a module, got {kind_of(each)}")
    merged = copy.deepcopy(given[0])
    if not any(True for _ in watchers(merged)):
        raise ValueError(
            f"merge: models[0] ({type(merged).__name__}) has no observers; call prepare, "
            "prepare_fx or prepare_qat first"
        )
    for index, each in enumerate(given[1:], 1):
        merge_into(merged, each, f"models[{index}]")
    return merged


def merge_into(merged: Module, other: Module, name: str) -> None:
    """Merge the observers of ``other``, which messages call ``name``, into those of ``merged``."""
    require_same_modules(merged, other, name)
    theirs = dict(watchers(other))
    for path, own in watchers(merged):
        _merge_at(path, own, theirs[path], name)


def _merge_at(path: str, own: Any, other: Any, name: str) -> None:
    try:
        own.merge(other)
    except (TypeError, ValueError) as error:
        raise type(error)(f"merge: {name} differs at '{path}': {error}") from error


def watchers(model: Module) -> Iterator[tuple[str, Any]]:
    """Yield the path of each observer and fake quantizer, and it; not those inside another one."""
    inside: tuple[str, ...] = ()
    for path, module in model.named_modules():
        if isinstance(module, _WATCHES) and not path.startswith(inside or "\0"):
            yield path, module
            inside += (f"{path}.",)


def require_same_modules(first: Module, other: Module, name: str) -> None:
    """Raise ValueError unless two models have the same modules and, watchers aside, numbers."""
    mine, theirs = dict(first.named_modules()), dict(other.named_modules())
    missing = [path for path in mine if path not in theirs]
    unexpected = [path for path in theirs if path not in mine]
    if missing or unexpected:
        raise ValueError(
            f"merge: {name} must have the modules of models[0]; it lacks {missing[:5]} and has "
            f"{unexpected[:5]} besides; prepare both from the same model with the same qconfig"
        )
    for path, module in mine.items():
        if type(module) is not type(theirs[path]) and not _are_graphs(module, theirs[path]):
            raise ValueError(
                f"merge: {name} differs at '{path}': expected {type(module).__name__}, "
                f"got {type(theirs[path]).__name__}; prepare both from the same model"
            )
    watched = tuple(f"{path}." for path, _ in watchers(first))
    given = other.state_dict()
    for path, tensor in first.state_dict().items():
        if path.startswith(watched) or not hasattr(tensor, "_array"):
            continue
        if path not in given or not np.array_equal(
            tensor._array, given[path]._array, equal_nan=tensor._array.dtype.kind == "f"
        ):
            raise ValueError(
                f"merge: {name} differs at '{path}': the numbers are others; merge copies of one "
                "model that saw different data, in eval mode"
            )


def _are_graphs(first: Module, second: Module) -> bool:
    """Return True if both are graph modules, each of which has a class of its own."""
    return all(hasattr(each, "graph") for each in (first, second)) and (
        type(first).__name__ == type(second).__name__
    )
