"""How many bits does it take? Fake quantization imitates every integer width from 2 to 8."""

from __future__ import annotations

import pyqref
from pyqref import Tensor, nn
from pyqref.quantization import (
    FakeQuantize,
    MinMaxObserver,
    PerChannelMinMaxObserver,
    QConfig,
    disable_fake_quant,
    disable_observer,
    enable_fake_quant,
    prepare_qat,
)

from .static import fused
from .train import predict

__all__ = ["fake_quantized", "qconfig_of_width"]


def qconfig_of_width(bits: int, weights: str) -> QConfig:
    """Fake quantizers whose grid has ``2 ** bits`` points.

    Parameters
    ----------
    bits
        Width of activations and weights, 2 to 8.
    weights
        ``"per tensor"`` or ``"per channel"``.
    """
    activation = FakeQuantize.with_args(
        observer=MinMaxObserver, dtype=pyqref.quint8, quant_min=0, quant_max=2**bits - 1
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
