"""Comparison of a float model with its quantized one, as torch's numeric suite does it."""

from __future__ import annotations

import copy
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pyqref


def suite(library: Any) -> Any:
    return import_module(f"{library.__name__}.ao.ns._numeric_suite")


def models(library: Any) -> tuple[Any, Any, Any]:
    """A fused float model with known weights, the quantized one, and an input."""
    nn, quantization = library.nn, library.ao.quantization

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
            self.conv, self.relu = nn.Conv2d(1, 2, 3), nn.ReLU()
            self.sum = library.ao.nn.quantized.FloatFunctional()
            self.fc = nn.Sequential(nn.Linear(18, 4))

        def forward(self, x: Any) -> Any:
            x = self.relu(self.conv(self.quant(x)))
            return self.dequant(self.fc(self.sum.add(x, x).flatten(1)))

    rng = np.random.default_rng(0)
    model = Model().eval()
    state = {
        key: library.from_numpy(rng.standard_normal(tuple(value.shape)).astype(np.float32))
        for key, value in model.state_dict().items()
    }
    model.load_state_dict(state)
    model.qconfig = quantization.default_qconfig
    x = library.from_numpy(rng.standard_normal((2, 1, 5, 5)).astype(np.float32))
    fused = quantization.fuse_modules(model, [["conv", "relu"]])
    prepared = quantization.prepare(fused)
    prepared(x)
    return fused, quantization.convert(prepared), x


def compared(library: Any) -> dict[str, Any]:
    ns = suite(library)
    fused, quantized, x = models(library)
    swap = {library.nn.Linear, library.ao.nn.intrinsic.ConvReLU2d}
    return {
        "weights": ns.compare_weights(fused.state_dict(), quantized.state_dict()),
        "stubs": ns.compare_model_stub(fused, copy.deepcopy(quantized), swap, x),
        "outputs": ns.compare_model_outputs(copy.deepcopy(fused), copy.deepcopy(quantized), x),
    }


def test_pairs() -> None:
    """Every pair is a float tensor and a quantized one, which are alike."""
    found = compared(pyqref)
    packed = "fc.0._packed_params._packed_params"
    assert ["conv.weight", packed] == sorted(found["weights"])
    assert ["conv.stats", "fc.0.stats"] == sorted(found["stubs"])
    assert ["conv.stats", "fc.0.stats", "quant.stats", "sum.stats"] == sorted(found["outputs"])
    for pairs in found.values():
        for pair in pairs.values():
            first, second = pair["float"], pair["quantized"]
            if isinstance(first, list):
                assert 1 == len(first) == len(second)
                first, second = first[0], second[0]
            assert second.is_quantized
            error = (first - second.dequantize()).norm() / first.norm()
            assert error < 0.05


def test_loggers_remember_every_call() -> None:
    """Two calls, two tensors; a call of its own does not change what the model gives."""
    ns = suite(pyqref)
    fused, quantized, x = models(pyqref)
    expected = quantized(x)
    ns.prepare_model_outputs(fused, quantized)
    for _ in range(2):
        fused(x)
        assert pyqref.equal(expected, quantized(x))
    found = ns.get_matching_activations(fused, quantized)
    assert 2 == len(found["conv.stats"]["float"]) == len(found["conv.stats"]["quantized"])
    assert set(found) <= set(ns.get_logger_dict(quantized))


def test_as_torch() -> None:
    """Keys and values of torch; a batch stays whole here, and a fused module is heard once."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = compared(torch)
    ours = compared(pyqref)
    for what in ("weights", "stubs", "outputs"):
        assert sorted(theirs[what]) == sorted(ours[what])
        for key, pair in theirs[what].items():
            for side in ("float", "quantized"):
                expected, actual = pair[side], ours[what][key][side]
                if isinstance(expected, list):
                    expected, actual = expected[0], actual[0]
                if what == "stubs":
                    actual = actual[0]
                if expected.is_quantized:
                    assert expected.int_repr().tolist() == actual.int_repr().tolist()
                else:
                    # Sums of at most 18 products of float32.
                    close = np.abs(expected.detach().numpy() - actual.detach().numpy()).max()
                    assert close <= 64 * 2.0**-24 * float(expected.detach().abs().max())


def test_loggers_of_ones_own() -> None:
    """One that remembers nothing has no entry; torch 2.13 raises KeyError."""
    ns = suite(pyqref)
    fused, quantized, x = models(pyqref)

    class Silent(ns.Logger):
        def forward(self, x: object) -> object:
            return x

    assert {} == ns.compare_model_outputs(fused, quantized, x, logger_cls=Silent)
