"""One layer at a time: what quantizing it alone costs the output of the model."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from .. import nn
from .._typing import Tensor
from ..autograd import no_grad
from ..quantization import QConfig, QuantWrapper, convert, prepare
from .layers import plain_layers
from .noise import sqnr

__all__ = ["sensitivity"]


def sensitivity(
    model: nn.Module,
    qconfig: QConfig,
    inputs: Tensor,
    *,
    calibration: Tensor | None = None,
    layers: Sequence[str] | None = None,
) -> dict[str, float]:
    """Quantize each layer alone and compare the model's output with the float one, in dB.

    For each layer a copy of the model is made in which only that layer runs on integers:
    its input is quantized, its output quantized and dequantized. All else stays float, so the
    noise of one layer is seen after it went through the layers behind.

    Parameters
    ----------
    model
        A float model in evaluation mode, fused if it is to be quantized fused; it gives one
        tensor and is not changed.
    qconfig
        Observers of the layer's activations and of its weight.
    inputs
        What the model is called with; a tuple stands for several arguments.
    calibration
        What the observers see; ``inputs`` if None.
    layers
        Paths of modules to quantize, each with a weight; all such modules if None.

    Returns
    -------
    dict
        For each path the signal to quantization noise ratio of the model's output.

    Raises
    ------
    ValueError
        If the model has no layer with a weight.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    >>> qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    >>> found = sensitivity(model, qconfig, pyqref.rand(64, 8))
    >>> list(found), all(30 < ratio < 60 for ratio in found.values())
    (['0', '2'], True)
    """
    if layers is None:
        layers = weighted_layers(model)
    if not layers:
        raise ValueError("model must have a layer with a weight, got none")
    reference = run(model, inputs)
    ratios = {}
    for name in layers:
        alone = with_one_wrapped(model, name, qconfig)
        prepare(alone, inplace=True)
        run(alone, inputs if calibration is None else calibration)
        convert(alone, inplace=True)
        ratios[name] = sqnr(reference, run(alone, inputs))
    return ratios


def run(model: nn.Module, inputs: Tensor) -> Tensor:
    """Call the model without recording gradients."""
    with no_grad():
        return model(*inputs) if isinstance(inputs, tuple) else model(inputs)


def weighted_layers(model: nn.Module) -> list[str]:
    """Paths of the modules to quantize: those with a weight, or fused around one."""
    kinds = (nn.intrinsic._FusedModule, *SINGLE)
    return [name for name in plain_layers(model) if isinstance(model.get_submodule(name), kinds)]


SINGLE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
"""Layers that ``convert`` makes quantized ones of and that have a weight."""


def with_one_wrapped(model: nn.Module, name: str, qconfig: QConfig) -> nn.Module:
    """A copy of ``model`` in which the module ``name`` stands between two stubs."""
    alone = copy.deepcopy(model)
    for each in alone.modules():
        each.qconfig = None
    wrapper = QuantWrapper(alone.get_submodule(name))
    for each in wrapper.modules():
        each.qconfig = qconfig
    parent, _, last = name.rpartition(".")
    setattr(alone.get_submodule(parent) if parent else alone, last, wrapper)
    return alone
