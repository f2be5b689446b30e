"""Pruning of a parameter of a module, or of several together, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...._typing import Module, Tensor
from ....tensor.creation_like import ones_like
from ....tensor.joining import cat
from .base import BasePruningMethod, PruningContainer
from .structured import LnStructured, RandomStructured
from .unstructured import CustomFromMask, Identity, L1Unstructured, RandomUnstructured

__all__ = [
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def identity(module: Module, name: str) -> Module:
    """Give a parameter a mask of ones.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.

    Examples
    --------
    >>> import pyqref
    >>> layer = identity(pyqref.nn.Linear(2, 1), "bias")
    >>> layer.bias_mask.tolist()
    [1.0]
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements of a parameter at random.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.
    amount
        How many, or which part of those that are left, in [0, 1].

    Examples
    --------
    >>> import pyqref
    >>> layer = random_unstructured(pyqref.nn.Linear(4, 4), "weight", amount=3)
    >>> (layer.weight_mask == 0).sum().item()
    3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the smallest elements of a parameter.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.
    amount
        How many, or which part of those that are left, in [0, 1].
    importance_scores
        A tensor whose elements are compared in place of the parameter's.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(4, 1, bias=False)
    >>> layer.weight = pyqref.nn.Parameter(pyqref.tensor([[1.0, -4.0, 2.0, -3.0]]))
    >>> l1_unstructured(layer, "weight", amount=0.5).weight.tolist()
    [[0.0, -4.0, 0.0, -3.0]]
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune channels of a parameter at random.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.
    amount
        How many, or which part of those that are left, in [0, 1].
    dim
        The axis of the channels.

    Examples
    --------
    >>> import pyqref
    >>> layer = random_structured(pyqref.nn.Linear(4, 4), "weight", amount=1, dim=0)
    >>> sorted(layer.weight_mask.sum(1).tolist())
    [0.0, 4.0, 4.0, 4.0]
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: int,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the channels of a parameter with the smallest norm.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.
    amount
        How many, or which part of those that are left, in [0, 1].
    n
        Which norm: a number, ``inf``, ``-inf`` or ``"fro"``.
    dim
        The axis of the channels.
    importance_scores
        A tensor whose channels are compared in place of the parameter's.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Linear(2, 2, bias=False)
    >>> layer.weight = pyqref.nn.Parameter(pyqref.tensor([[3.0, 4.0], [1.0, 1.0]]))
    >>> ln_structured(layer, "weight", amount=0.5, n=2, dim=0).weight.tolist()
    [[3.0, 4.0], [0.0, 0.0]]
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune what a mask says.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.
    mask
        Ones where the parameter is kept, of its shape.

    Examples
    --------
    >>> import pyqref
    >>> layer = custom_from_mask(pyqref.nn.Linear(2, 2), "bias", pyqref.tensor([0, 1]))
    >>> layer.bias[0].item() == 0
    True
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Any, str], Any] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters as if they were one.

    Parameters
    ----------
    parameters
        Pairs of a module and the name of its parameter.
    pruning_method
        A class of ``PRUNING_TYPE`` ``"unstructured"``.
    importance_scores
        For each pair a tensor whose elements are compared in place of the parameter's.
    **kwargs
        Arguments of the class, such as ``amount``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(4, 4), pyqref.nn.Linear(4, 2))
    >>> pairs = [(model[0], "weight"), (model[1], "weight")]
    >>> global_unstructured(pairs, L1Unstructured, amount=6)
    >>> sum((each.weight_mask == 0).sum().item() for each in model)
    6
    """
    pairs = list(parameters) if isinstance(parameters, Iterable) else None
    if pairs is None:
        raise TypeError("global_unstructured(): 'parameters' must be pairs of module and name")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, Mapping):
        raise TypeError("global_unstructured(): importance_scores must be a dictionary")
    important = [scores.get((module, name), getattr(module, name)) for module, name in pairs]
    masks = [
        getattr(module, f"{name}_mask", ones_like(getattr(module, name).detach()))
        for module, name in pairs
    ]
    if not pairs:
        raise ValueError("global_unstructured(): there are no parameters to prune")
    container = PruningContainer()
    container._tensor_name = "temp"
    method: Any = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`, got '
            f"{pruning_method.__name__} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    together = cat([each.detach().reshape(-1) for each in important])
    mask = container.compute_mask(together, cat([each.reshape(-1) for each in masks]))
    start = 0
    for module, name in pairs:
        size = getattr(module, name).numel()
        part = mask[start : start + size].reshape(tuple(getattr(module, name).shape))
        custom_from_mask(module, name, mask=part)
        start += size


def remove(module: Module, name: str) -> Module:
    """Make the zeros of a pruned parameter permanent.

    Parameters
    ----------
    module
        Whose parameter it is; the same is returned.
    name
        Of the parameter.

    Raises
    ------
    ValueError
        It is not pruned.

    Examples
    --------
    >>> import pyqref
    >>> layer = l1_unstructured(pyqref.nn.Linear(2, 2), "weight", amount=1)
    >>> sorted(remove(layer, "weight").state_dict())
    ['bias', 'weight']
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {type(module).__name__} has to be pruned before pruning can "
        "be removed"
    )


def is_pruned(module: Module) -> bool:
    """Return True if a module, or one below it, is pruned.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 2))
    >>> is_pruned(model), is_pruned(identity(model[0], "weight"))
    (False, True)
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for _, each in module.named_modules()
        for hook in each._forward_pre_hooks.values()
    )
