"""The four numbers of the table: accuracy, bytes, latency, signal to quantization noise."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import pyqref
from pyqref import Tensor, nn
from pyqref.measure import sqnr
from pyqref.tensor import QuantizedTensor

__all__ = ["accuracy", "latency", "sqnr", "weight_bytes"]


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Share of images whose largest logit is that of their label, in percent."""
    right = logits.numpy().argmax(axis=1) == labels.numpy()
    return 100 * float(right.mean())


def weight_bytes(model: nn.Module) -> int:
    """Bytes of all tensors in the state dict: weights, biases, batch norms, scales.

    A quantized weight counts its integers and, per channel, its scales and zero points.
    """
    return sum(tensor_bytes(each) for each in tensors_in(model.state_dict()))


def tensor_bytes(tensor: Tensor) -> int:
    """Bytes of the elements of one tensor and of its quantization parameters."""
    if not isinstance(tensor, QuantizedTensor):
        return tensor.numel() * tensor.element_size()
    integers = tensor.int_repr()
    size = integers.numel() * integers.element_size()
    if tensor.qscheme() in (pyqref.per_channel_affine, pyqref.per_channel_symmetric):
        for each in (tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()):
            size += each.numel() * each.element_size()
        return size
    return size + 8 + 8  # one scale (double) and one zero point (int64)


def tensors_in(value: object) -> Iterator[Tensor]:
    """Every tensor in nested dicts, lists and tuples; other values are passed over."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from tensors_in(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from tensors_in(each)


def latency(model: nn.Module, images: Tensor, *, repeats: int) -> float:
    """Median time of ``repeats`` calls, in microseconds an image.

    Parameters
    ----------
    model
        Called once before the clock starts.
    images
        One batch `(N, 1, 8, 8)`.
    repeats
        How many calls are timed, at least 1.
    """
    with pyqref.no_grad():
        model(images)
        seconds = []
        for _ in range(repeats):
            start = time.perf_counter()
            model(images)
            seconds.append(time.perf_counter() - start)
    return 1e6 * statistics.median(seconds) / len(images)
