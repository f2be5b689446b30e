"""Quantization-aware training: the network learns with the rounding in its forward pass."""

from __future__ import annotations

import copy
from collections.abc import Callable

from pyqref import nn
from pyqref.quantization import (
    convert,
    disable_fake_quant,
    disable_observer,
    fuse_modules_qat,
    get_default_qat_qconfig,
    prepare_qat,
)

from .data import Digits
from .models import DigitCNN
from .static import use_engine
from .train import train

__all__ = ["FINE_TUNING_LR", "converted", "fine_tuned", "without_fake_quant"]

FINE_TUNING_LR = 1e-3
"""A fifth of the learning rate of the float model, from which the training goes on."""


def fine_tuned(
    model: nn.Module,
    digits: Digits,
    *,
    engine: str,
    epochs: int,
    after_epoch: Callable[[float], None] | None = None,
) -> nn.Module:
    """A copy of ``model`` trained on with fake quantization, in evaluation mode.

    ``fuse_modules_qat`` keeps the batch norms alive: ``ConvBnReLU2d`` folds them into the
    convolution at every step, so that the rounded weight is the one that will be used.
    """
    with use_engine(engine):
        student = copy.deepcopy(model).train()
        fuse_modules_qat(student, DigitCNN.FUSED, inplace=True)
        student.qconfig = get_default_qat_qconfig(engine)
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


def converted(student: nn.Module, *, engine: str) -> nn.Module:
    """The int8 model of a fine-tuned one."""
    with use_engine(engine):
        return convert(student)


def without_fake_quant(student: nn.Module) -> nn.Module:
    """Return the model without fake quantization, with which the int8 model is compared."""
    return copy.deepcopy(student).apply(disable_fake_quant)
