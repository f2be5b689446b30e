"""Quantized layers of a converted model, beside the float layers that they were."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from pyqref._typing import Module
from pyqref.nn import intrinsic as nni
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.nn.quantized.modules.weighted import WeightedQuantizedModule
from pyqref.quantization.diagnostics import NotRepairedWarning, warn

from .running import called, listening

__all__ = [
    "can_be_repaired",
    "channel_axis",
    "float_layer",
    "has_relu",
    "layers_in_order",
    "remedy_of",
]

_LINEAR = (nnq.Linear, nniq.LinearReLU)
_CONVOLUTIONS = (
    nnq.Conv1d,
    nnq.Conv2d,
    nnq.Conv3d,
    nnq.ConvTranspose1d,
    nnq.ConvTranspose2d,
    nnq.ConvTranspose3d,
    nniq.ConvReLU1d,
    nniq.ConvReLU2d,
    nniq.ConvReLU3d,
)
#: They compute more than a layer and its ReLU.
_FUSED = (nniq.ConvAdd2d, nniq.LinearLeakyReLU, nniq.LinearTanh)
_WITH_RELU = (nniq.LinearReLU, nniq.ConvReLU1d, nniq.ConvReLU2d, nniq.ConvReLU3d)


def float_layer(module: Module) -> Any:
    """The layer with the weight: the module itself, or the first one of a fused module."""
    return module[0] if isinstance(module, nni._FusedModule) else module


def channel_axis(quantized: Module) -> int:
    """The axis of the channels of a quantized layer's outputs."""
    return -1 if isinstance(quantized, _LINEAR) else 1


def has_relu(quantized: Module) -> bool:
    """Return True if a ReLU is part of a quantized layer."""
    return type(quantized) in _WITH_RELU


def can_be_repaired(module: object) -> bool:
    """Return True for quantized linear and convolution layers, also transposed ones."""
    return type(module) in (*_LINEAR, *_CONVOLUTIONS)


def remedy_of(module: object) -> str | None:
    """The way to get a layer that can be repaired, for one with a quantized weight that cannot."""
    if can_be_repaired(module) or not isinstance(module, WeightedQuantizedModule):
        return None
    if isinstance(module, _FUSED):
        return "leave it out of the fused groups, so that convert makes a layer by itself"
    return "give it a static QConfig, such as default_qconfig"


def layers_in_order(
    asks: str,
    left: str,
    float_model: Module,
    quantized_model: Module,
    batch: Any,
    layers: Sequence[str] | None,
) -> list[str]:
    """Paths of the layers to repair, in the order in which they are called.

    Parameters
    ----------
    asks
        Who asks, for messages.
    left
        How the warning says that a layer is left as it is.
    float_model, quantized_model
        Before prepare and after convert.
    batch
        A batch, with which the quantized model is called once.
    layers
        Paths to choose; all linear and convolution layers if None.

    Raises
    ------
    ValueError
        There is no such layer.

    Warns
    -----
    NotRepairedWarning
        A path has no such layer in both models, or a layer with a quantized weight is of another
        kind.
    """
    every = dict(quantized_model.named_modules())
    wanted = list(every) if layers is None else list(layers)
    theirs = dict(float_model.named_modules())
    order: list[str] = []
    with ExitStack() as stack:
        for path in wanted:
            remedy = remedy_of(every.get(path))
            if remedy is not None:
                warn(
                    f"{path}: {left}; a {type(every[path]).__name__} is not repaired; {remedy}",
                    NotRepairedWarning,
                )
            elif path in every and can_be_repaired(every[path]) and path in theirs:
                stack.enter_context(
                    listening(every[path], lambda _, __, path=path: order.append(path))
                )
            elif layers is not None or (path in every and can_be_repaired(every[path])):
                here, there = (_kind(models, path) for models in (every, theirs))
                warn(
                    f"{path}: {left}; it is {here} in the quantized model "
                    f"and {there} in the float one; pass the model that prepare was given, and "
                    "paths of layers that convert quantized",
                    NotRepairedWarning,
                )
        called(quantized_model, batch)
    found = list(dict.fromkeys(order))
    if not found:
        raise ValueError(
            f"{asks}: {type(quantized_model).__name__} has no quantized linear or "
            "convolution layer that float_model has, too; pass the models before prepare and after "
            "convert"
        )
    return found


def _kind(modules: dict[str, Module], path: str) -> str:
    return f"a {type(modules[path]).__name__}" if path in modules else "missing"
