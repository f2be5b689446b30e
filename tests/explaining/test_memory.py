"""``ledger`` and ``explain_diff`` hold the activations of two models and one batch at most."""

from __future__ import annotations

import copy
import gc
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.explaining import differences, hybrid
from pyqref.explaining.progress import Progress
from pyqref.tensor.base import ANY_TENSOR

LAYERS, BATCHES = 6, 2
BATCH = 16
SIZE = BATCH * 4 * 12 * 12
"""Elements of the activations of every layer."""


def made(layers: int = LAYERS) -> nn.Module:
    """A chain of convolutions, whose activations are all of one size."""
    pyqref.manual_seed(0)
    pairs = [each for _ in range(layers) for each in (nn.Conv2d(4, 4, 3, padding=1), nn.ReLU())]
    return nn.Sequential(*pairs).eval()


def converted(model: nn.Module, x: pyqref.Tensor) -> nn.Module:
    mapping = pyqref.quantization.get_default_qconfig_mapping("fbgemm")
    prepared = pyqref.quantization.quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    return pyqref.quantization.quantize_fx.convert_fx(prepared)


def live() -> int:
    """Activations that are alive, by their memory."""
    gc.collect(1)
    arrays = [each._array for each in gc.get_objects() if isinstance(each, ANY_TENSOR)]
    bases = {id(each if each.base is None else each.base) for each in arrays if each.size == SIZE}
    return len(bases)


@pytest.fixture
def data() -> Iterator[list[pyqref.Tensor]]:
    """Batches; of what is older than they are no object is looked at."""
    gc.collect()
    gc.freeze()
    yield [pyqref.randn(BATCH, 4, 12, 12) for _ in range(BATCHES)]
    gc.unfreeze()


def test_the_ledger(monkeypatch, data) -> None:
    """At any depth it holds the activations of a few layers, and runs layers times batches."""
    most, runs = {}, {}
    for layers in (LAYERS // 2, LAYERS):
        model = made(layers)
        quantized = converted(model, data[0])
        seen: list[int] = []
        count: Counter[str] = Counter()
        before = live()

        def step(self, seen=seen, count=count, before=before) -> None:
            seen.append(live() - before)
            count["steps"] += 1

        monkeypatch.setattr(Progress, "step", step)
        after = hybrid.Stages.after

        def looked(self, *given, seen=seen, before=before, after=after):
            result = after(self, *given)
            seen.append(live() - before)
            return result

        monkeypatch.setattr(hybrid.Stages, "after", looked)
        pyqref.ledger(model, quantized, data, advice=False)
        monkeypatch.setattr(hybrid.Stages, "after", after)
        most[layers], runs[layers] = max(seen), count["steps"]
    # Output of the float model, the last step, the layer that runs: not the whole of a model.
    assert most[LAYERS] == most[LAYERS // 2] <= 8
    per_layer = (runs[LAYERS] - runs[LAYERS // 2]) / (LAYERS - LAYERS // 2)
    assert per_layer == 6 * BATCHES  # a run for every cause of a layer and every batch


def test_explain_diff(monkeypatch, data) -> None:
    """Inputs and results of both models, and the layer that is compared."""
    model = made()
    quantized = converted(model, data[0])
    broken = copy.deepcopy(quantized)
    layer = broken.get_submodule("0")
    layer.set_weight_bias(layer.weight(), layer.bias() + 0.3)
    before = live()
    seen: list[int] = []
    difference = differences.difference

    def looked(*given):
        seen.append(live() - before)
        result = difference(*given)
        seen.append(live() - before)
        return result

    monkeypatch.setattr(differences, "difference", looked)
    found = pyqref.explain_diff(quantized, broken, data[0])
    assert len(found.layers) >= LAYERS
    assert max(seen) <= 2 * (LAYERS + 3)
    # Those of the second model are let go, one after the other.
    assert seen[-1] < max(seen)
    assert np.all(np.diff(seen) <= 3)
