"""A look inside: ranges of activations, error layer by layer, error of the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pyqref
from pyqref import Tensor, nn
from pyqref._typing import AnyModule
from pyqref.measure import channel_error, layer_outputs, layer_sqnr
from pyqref.quantization import HistogramObserver, MinMaxObserver, MovingAverageMinMaxObserver

from .findings import Array, Reading
from .models import DigitCNN

__all__ = [
    "activations",
    "channel_errors",
    "chosen_range",
    "layer_errors",
    "observer_ranges",
    "readings",
]


def activations(model: nn.Module, images: Tensor, names: Sequence[str]) -> dict[str, Array]:
    """Return the dequantized outputs of the modules ``names`` of ``model`` on ``images``."""
    outputs = layer_outputs(model, images, names)
    return {name: outputs[name].astype(np.float32) for name in names}


def layer_errors(reference: nn.Module, quantized: nn.Module, images: Tensor) -> dict[str, float]:
    """Signal to noise ratio in dB of every layer's output, errors of the layers before included."""
    ratios = layer_sqnr(reference, quantized, images, DigitCNN.LAYERS)
    return {name: ratios[name] for name in DigitCNN.LAYERS}


def chosen_range(observer: AnyModule) -> tuple[float, float]:
    """The interval of real numbers that an observer's integers 0..255 stand for."""
    scale, zero_point = (float(each) for each in observer.calculate_qparams())
    return (0 - zero_point) * scale, (255 - zero_point) * scale


def observer_ranges(values: Array, batch_size: int = 32) -> dict[str, tuple[float, float]]:
    """The ranges that three observers choose after seeing ``values`` batch by batch."""
    observers = {
        "MinMax": MinMaxObserver(dtype=pyqref.quint8),
        "MovingAverage": MovingAverageMinMaxObserver(averaging_constant=0.1, dtype=pyqref.quint8),
        "Histogram": HistogramObserver(dtype=pyqref.quint8),
    }
    for start in range(0, len(values), batch_size):
        batch = pyqref.from_numpy(values[start : start + batch_size])
        for observer in observers.values():
            observer(batch)
    return {name: chosen_range(observer) for name, observer in observers.items()}


def channel_errors(reference: nn.Module, quantized: nn.Module, layer: str) -> Array:
    """Root mean square error of a layer's weight, in percent of that of the weight, per channel.

    Parameters
    ----------
    reference, quantized
        The fused float model, and the int8 model made of it.
    layer
        Name of a convolution or linear layer.
    """
    exact = convolution(reference.get_submodule(layer)).weight
    layer_of_integers: Any = quantized.get_submodule(layer)
    return channel_error(exact, layer_of_integers.weight())


def readings(images: Tensor, labels: Tensor, exact: Array, rounded: Array) -> list[Reading]:
    """Return how the float logits ``exact`` and the quantized ``rounded`` read each image.

    The images come first where the quantized model is least sure.
    """
    two = np.sort(rounded, axis=1)[:, -2:]
    margins = two[:, 1] - two[:, 0]
    pixels, digits = images.numpy()[:, 0], labels.numpy()
    return [
        Reading(
            pixels[i],
            int(digits[i]),
            int(exact[i].argmax()),
            int(rounded[i].argmax()),
            float(margins[i]),
        )
        for i in np.argsort(margins, kind="stable")
    ]


def convolution(module: nn.Module) -> nn.Module:
    """The layer with the weight: a fused module is a sequence that starts with it."""
    return module[0] if isinstance(module, nn.Sequential) else module
