"""Every network of the benchmarks builds, is quantized and runs, in a tiny size."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import pyqref

ROOT = str(Path(__file__).parents[2])
if ROOT not in sys.path:
    sys.path.append(ROOT)  # behind the installed package
recipes, zoo = (importlib.import_module(f"benchmarks.{name}") for name in ("recipes", "zoo"))


@pytest.mark.parametrize("name", list(zoo.NETWORKS))
@pytest.mark.filterwarnings("ignore")
def test_quantized_networks_follow_their_float_selves(name: str) -> None:
    """Integers move results by less than a quarter of the largest one, and are used."""
    pyqref.manual_seed(0)
    model = zoo.build(pyqref, name, small=True)
    inputs = tuple(pyqref.from_numpy(each) for each in zoo.batch_of(name, 1, small=True))
    with pyqref.no_grad():
        expected = np.asarray(model(*inputs))
        converted = recipes.quantized(pyqref, model, inputs, zoo.NETWORKS[name].dynamic, "fbgemm")
        found = np.asarray(converted(*inputs))
    assert expected.shape == found.shape
    assert np.abs(expected - found).max() <= 0.25 * np.abs(expected).max()
    kinds = [type(each).__module__ for each in converted.modules()]
    assert any("quantized" in each for each in kinds)


@pytest.mark.filterwarnings("ignore")
def test_words_are_calibrated_and_trained() -> None:
    """Observers are put into a network of words, and a step of training lowers its loss."""
    inputs = tuple(pyqref.from_numpy(each) for each in zoo.batch_of("MiniLM", 2, small=True))
    for histogram in (False, True):
        recipes.observed(pyqref, zoo.build(pyqref, "MiniLM", True), inputs, histogram)(*inputs)
    step = recipes.training_step(pyqref, zoo.build(pyqref, "MiniLM", True), inputs)
    assert float(step()) > float(step())


def test_one_text_for_both_libraries() -> None:
    """Torch's networks are the same text: it has the same tensors under the same names."""
    torch = pytest.importorskip("torch")
    for name in ("ShuffleNetV2", "DLRM"):
        mine, theirs = (zoo.build(space, name, True).state_dict() for space in (pyqref, torch))
        assert {k: tuple(v.shape) for k, v in theirs.items()} == {
            k: tuple(v.shape) for k, v in mine.items()
        }
