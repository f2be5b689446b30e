"""A look inside: ranges of activations, error layer by layer, error of the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import pyqref
from pyqref import Tensor, nn
from pyqref.quantization import HistogramObserver, MinMaxObserver, MovingAverageMinMaxObserver
from pyqref.tensor import QuantizedTensor

from .findings import Array, Reading
from .measure import sqnr
from .models import DigitCNN
from .train import predict

__all__ = [
    "activations",
    "channel_errors",
    "chosen_range",
    "layer_errors",
    "observer_ranges",
    "readings",
]


def activations(model: nn.Module, images: Tensor, names: Sequence[str]) -> dict[str, Array]:
    """What the modules ``names`` give when ``model`` runs on ``images``, dequantized."""
    seen: dict[str, list[Array]] = {name: [] for name in names}

    def keep(name: str) -> Any:
        def hook(_module: nn.Module, _inputs: Any, output: Tensor) -> None:
            values = output.dequantize() if isinstance(output, QuantizedTensor) else output
            seen[name].append(values.detach().numpy().copy())

        return hook

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in names]
    predict(model, images)
    for handle in handles:
        handle.remove()
    return {name: np.concatenate(batches) for name, batches in seen.items()}


def layer_errors(reference: nn.Module, quantized: nn.Module, images: Tensor) -> dict[str, float]:
    """Signal to noise ratio in dB of every layer's output, errors of the layers before included."""
    exact = activations(reference, images, DigitCNN.LAYERS)
    rounded = activations(quantized, images, DigitCNN.LAYERS)
    return {name: sqnr(exact[name], rounded[name]) for name in DigitCNN.LAYERS}


def chosen_range(observer: nn.Module) -> tuple[float, float]:
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
    exact = convolution(reference.get_submodule(layer)).weight.detach().numpy()
    rounded = quantized.get_submodule(layer).weight().dequantize().numpy()
    exact, rounded = (each.reshape(len(each), -1).astype(np.float64) for each in (exact, rounded))
    error = np.sqrt(((exact - rounded) ** 2).mean(axis=1))
    return 100 * error / np.sqrt((exact**2).mean(axis=1))


def readings(images: Tensor, labels: Tensor, exact: Array, rounded: Array) -> list[Reading]:
    """What the float logits ``exact`` and the quantized ``rounded`` make of each image.

    The images of which the quantized model is least sure come first.
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
