"""Accuracy for few bits: fake quantization imitates every integer width from 2 to 8."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pyqref
from pyqref import Tensor, nn
from pyqref.quantization import (
    FakeQuantize,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    ObserverBase,
    PerChannelMinMaxObserver,
    QConfig,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    fuse_modules_qat,
    prepare_qat,
)

from .data import Digits
from .models import DigitCNN
from .static import fused
from .train import predict, train

__all__ = ["FINE_TUNING_LR", "fake_quantized", "fine_tuned", "qconfig_of_width"]

FINE_TUNING_LR = 2e-3
"""Larger than for 8 bits: the weights have farther to go."""


def qconfig_of_width(
    bits: int, weights: str, observer: type[ObserverBase] = MinMaxObserver
) -> QConfig:
    """Fake quantizers whose grid has ``2 ** bits`` points.

    Parameters
    ----------
    bits
        Width of activations and weights, 2 to 8.
    weights
        ``"per tensor"`` or ``"per channel"``.
    observer
        What chooses the ranges of the activations.
    """
    activation = FakeQuantize.with_args(
        observer=observer, dtype=pyqref.quint8, quant_min=0, quant_max=2**bits - 1
    )
    signed = {
        "dtype": pyqref.qint8,
        "quant_min": -(2 ** (bits - 1)),
        "quant_max": 2 ** (bits - 1) - 1,
    }
    if weights == "per channel":
        weight = FakeQuantize.with_args(
            observer=PerChannelMinMaxObserver, qscheme=pyqref.per_channel_symmetric, **signed
        )
    else:
        weight = FakeQuantize.with_args(
            observer=MinMaxObserver, qscheme=pyqref.per_tensor_symmetric, **signed
        )
    return QConfig(activation=activation, weight=weight)


def fake_quantized(model: nn.Module, images: Tensor, *, bits: int, weights: str) -> nn.Module:
    """A copy of ``model`` that rounds as ``bits`` wide integers would, without training.

    The observers look at the unrounded activations of ``images``; then they are fixed.
    """
    student = fused(model).train()
    student.qconfig = qconfig_of_width(bits, weights)
    prepare_qat(student, inplace=True)
    student.eval().apply(disable_fake_quant)
    predict(student, images)
    return student.apply(disable_observer).apply(enable_fake_quant)


def fine_tuned(
    model: nn.Module,
    digits: Digits,
    *,
    bits: int,
    epochs: int,
    after_epoch: Callable[[float], None] | None = None,
) -> nn.Module:
    """A copy of ``model`` trained on with the rounding of ``bits`` wide integers."""
    student = fuse_modules_qat(copy.deepcopy(model).train(), DigitCNN.FUSED)
    student.qconfig = qconfig_of_width(bits, "per channel", MovingAverageMinMaxObserver)
    prepare_qat(student, inplace=True)
    train(
        student,
        digits.train_images,
        digits.train_labels,
        epochs=epochs,
        lr=FINE_TUNING_LR,
        after_epoch=after_epoch,
    )
    return student.apply(disable_observer)
