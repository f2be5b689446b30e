"""Static quantization after training: fuse, prepare, calibrate, convert."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager

import pyqref
from pyqref import Tensor, nn
from pyqref.quantization import (
    HistogramObserver,
    MinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    QConfig,
    convert,
    fuse_modules,
    prepare,
)

from .models import DigitCNN
from .train import predict

__all__ = ["OBSERVERS", "calibrated", "fused", "qconfig", "quantize_static", "use_engine"]

OBSERVERS: dict[str, type[ObserverBase]] = {
    "MinMax": MinMaxObserver,
    "Histogram": HistogramObserver,
}
"""Activation observers by the name that the report gives them."""


@contextmanager
def use_engine(engine: str) -> Iterator[None]:
    """Set ``pyqref.backends.quantized.engine``, and set it back at the end."""
    before = pyqref.backends.quantized.engine
    pyqref.backends.quantized.engine = engine
    try:
        yield
    finally:
        pyqref.backends.quantized.engine = before


def qconfig(engine: str, weights: str, observer: str) -> QConfig:
    """Return a QConfig with these observers.

    Parameters
    ----------
    engine
        ``"fbgemm"`` or ``"qnnpack"``; the first takes one bit off the activations, as
        ``get_default_qconfig("fbgemm")`` does.
    weights
        ``"per tensor"`` or ``"per channel"``.
    observer
        A key of :data:`OBSERVERS`.
    """
    activation = OBSERVERS[observer].with_args(dtype=pyqref.quint8, reduce_range=engine == "fbgemm")
    if weights == "per channel":
        weight = PerChannelMinMaxObserver.with_args(
            dtype=pyqref.qint8, qscheme=pyqref.per_channel_symmetric
        )
    else:
        weight = MinMaxObserver.with_args(dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric)
    return QConfig(activation=activation, weight=weight)


def fused(model: nn.Module) -> nn.Module:
    """A copy of a trained CNN in which batch norms are folded into their convolutions."""
    return fuse_modules(copy.deepcopy(model).eval(), DigitCNN.FUSED)


def calibrated(model: nn.Module, config: QConfig, images: Tensor) -> nn.Module:
    """A copy of ``model``, fused, with observers that have seen ``images``."""
    prepared = fused(model)
    prepared.qconfig = config
    prepare(prepared, inplace=True)
    predict(prepared, images)
    return prepared


def quantize_static(
    model: nn.Module, images: Tensor, *, engine: str, weights: str, observer: str
) -> nn.Module:
    """The int8 model that results from calibrating ``model`` on ``images``.

    Run it under the same :func:`use_engine`.
    """
    with use_engine(engine):
        return convert(calibrated(model, qconfig(engine, weights, observer), images))
