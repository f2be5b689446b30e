"""Outputs of every layer of a model, and how far a quantized model's are from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import nn
from ..autograd import no_grad
from ..quantization import DeQuantStub
from ..tensor import Tensor
from .noise import numbers, sqnr

__all__ = ["layer_outputs", "layer_sqnr", "plain_layers"]

Array = np.ndarray[Any, np.dtype[np.float64]]


def plain_layers(model: nn.Module) -> list[str]:
    """Paths of the layers of a model: modules without children, and fused ones as a whole.

    Modules that do nothing, such as ``Identity`` in the place of a folded batch norm and
    ``DeQuantStub``, are left out.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.ReLU(), nn.Identity()))
    >>> plain_layers(model)
    ['0', '1.0']
    """
    found: list[str] = []
    for name, each in model.named_modules():
        fused = isinstance(each, nn.intrinsic._FusedModule)
        inside = any(name.startswith(f"{outer}.") for outer in found)
        idle = isinstance(each, (nn.Identity, DeQuantStub))
        if name and not inside and not idle and (fused or not list(each.children())):
            found.append(name)
    return found


def layer_outputs(
    model: nn.Module, inputs: Tensor, layers: Sequence[str] | None = None
) -> dict[str, Array]:
    """Return the dequantized outputs of a model's modules when it runs on ``inputs``.

    Parameters
    ----------
    model
        Run once, without gradients.
    inputs
        What the model is called with; a tuple stands for several arguments.
    layers
        Paths of modules; those of :func:`plain_layers` if None.

    Returns
    -------
    dict
        By path, in the order in which the layers ran; of a layer that ran several times, the
        last output. Layers that did not run or gave no tensor are left out.

    Raises
    ------
    AttributeError
        If the model has no module of a path.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.ReLU(), nn.Flatten())
    >>> layer_outputs(model, pyqref.tensor([[-1.0, 2.0]]))["0"]
    array([[0., 2.]])
    """
    if layers is None:
        layers = plain_layers(model)
    seen: dict[str, Array] = {}

    def keep(name: str) -> Any:
        def hook(module: nn.Module, arguments: Any, output: Any) -> None:
            if isinstance(output, Tensor):
                seen.pop(name, None)
                seen[name] = numbers(output).copy()

        return hook

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in layers]
    try:
        with no_grad():
            model(*inputs) if isinstance(inputs, tuple) else model(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return seen


def layer_sqnr(
    reference: nn.Module,
    quantized: nn.Module,
    inputs: Tensor,
    layers: Sequence[str] | None = None,
) -> dict[str, float]:
    """Signal to quantization noise ratio of every layer's output, in dB.

    The noise that a layer inherits from those before it is included: what is measured is the
    quantized model as it runs, :func:`sensitivity` takes the layers apart.

    Parameters
    ----------
    reference
        The float model, fused if the quantized one was made of a fused model.
    quantized
        The quantized model, whose layers have the same paths.
    inputs
        What both are called with; a tuple stands for several arguments.
    layers
        Paths of modules to compare, which run in both models; those of :func:`plain_layers`
        of the reference that run in both if None.

    Returns
    -------
    dict
        By path, in the order in which the layers ran in ``reference``.

    Raises
    ------
    ValueError
        If the models share no layer, or a named one does not run in both.

    Examples
    --------
    A model is as far from itself as infinity is from zero:

    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Flatten(), nn.ReLU())
    >>> layer_sqnr(model, model, pyqref.ones(1, 2))
    {'0': inf, '1': inf}
    """
    demanded = set(layers or ())
    if layers is None:
        known = {name for name, _ in quantized.named_modules()}
        layers = [name for name in plain_layers(reference) if name in known]
    exact = layer_outputs(reference, inputs, layers)
    rounded = layer_outputs(quantized, inputs, layers)
    shared = [name for name in exact if name in rounded]
    if missing := sorted(demanded - set(shared)):
        raise ValueError(f"layers must run in both models and give a tensor, got {missing}")
    if not shared:
        raise ValueError(
            "reference and quantized share no layer that runs in both; pass the fused float model "
            "of which the quantized one was made"
        )
    return {name: sqnr(exact[name], rounded[name]) for name in shared}
