"""Scales, zero points and gradients of observers that find better ranges, to the bit."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from quantization.samples import normal
from quantization.test_better_ranges import CHANNELS, OBSERVERS, qparams, shown

from pyqref import quantization as q

#: Of each observer the scales, in hexadecimal, and the zero points after two batches.
RECORDED: dict[str, tuple[list[str], list[int]]] = {
    "percentile": (["0x1.a5a5a6p-5"], [117]),
    "percentile, symmetric": (["0x1.a1b4b0p-5"], [122]),
    "percentile, onnxruntime": (["0x1.a2f830p-5"], [116]),
    "entropy": (["0x1.4e4e4ep-5"], [128]),
    "entropy, onnxruntime": (["0x1.ae2a04p-5"], [118]),
    "MSE": (["0x1.ae2a04p-5"], [118]),
    "MSE, golden section": (["0x1.ac892ep-5"], [118]),
    "power of two": (["0x1p-4"], [99]),
    "LSQ": (["0x1.24b550p-2"], [0]),
    "percentile per channel": (["0x1.414142p-5", "0x1.717172p-5", "0x1.c9c9cap-5"], [0] * 3),
    "entropy per channel": (["0x1.4d4014p-5", "0x1.8e342cp-5", "0x1.ce1fdcp-5"], [0] * 3),
    "MSE per channel": (["0x1.4d4014p-5", "0x1.8e342cp-5", "0x1.ce1fdcp-5"], [0] * 3),
    "power of two per channel": (["0x1p-4"] * 3, [0] * 3),
    "LSQ per channel": (["0x1.06afe8p-2", "0x1.384db0p-2", "0x1.2f2258p-2"], [0] * 3),
}
#: Of each fake quantizer its trained number and the gradient of that.
TRAINED: dict[str, tuple[Any, list[str], list[str]]] = {
    "LSQ": (
        partial(q.LSQFakeQuantize, quant_min=-8, quant_max=7),
        ["0x1.398554p-1"],
        ["0x1.475f22p-5"],
    ),
    "LSQ per channel": (
        partial(q.LSQFakeQuantize, quant_min=-8, quant_max=7, ch_axis=0, **CHANNELS),
        ["0x1.126bdep-1", "0x1.5a76e8p-1", "0x1.3fad38p-1"],
        ["0x1.c65c8p-8", "0x1.b9c108p-6", "0x1.559e14p-4"],
    ),
    "PACT": (partial(q.PACTFakeQuantize, alpha=1.5), ["0x1.8p+0"], ["0x1.c88e18p+0"]),
}


def test_every_observer_is_recorded() -> None:
    """A new one joins the table."""
    assert list(OBSERVERS) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_bits_stay(name: str) -> None:
    """The parameters of every release are these, on every machine."""
    observer = shown(OBSERVERS[name](), 3 * normal(3, 50), normal(3, 50, seed=1))
    scales, zero_points = RECORDED[name]
    assert [[float.fromhex(each) for each in scales], zero_points] == qparams(observer)


@pytest.mark.parametrize("name", TRAINED)
def test_bits_of_training_stay(name: str) -> None:
    """The number that is trained, and its gradient after two batches."""
    make, numbers, gradients = TRAINED[name]
    made = make()
    trained = made.alpha if name == "PACT" else made.scale
    for seed in range(2):
        x = normal(3, 50, seed=seed)
        (made(x) * normal(3, 50, seed=seed + 2)).sum().backward()
    assert [float.fromhex(each) for each in numbers] == trained.tolist()
    assert [float.fromhex(each) for each in gradients] == trained.grad.tolist()
