"""Following the messages of the searches of bits works; wrong arguments are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from messages.following import says

import pyqref
from pyqref import nn
from pyqref.quantization import default_qconfig
from pyqref.quantization.mixed_precision import (
    quantize_with_accuracy_control,
    search_mixed_precision,
)

X = pyqref.arange(32.0).reshape(8, 4) / 32
MODEL = nn.Sequential(nn.Linear(4, 3)).eval()


def search(**changes: Any) -> Any:
    """A search with one thing changed."""
    given: dict[str, Any] = {"model": MODEL, "data": X, "metric": "sqnr", "budget": {"bits": 8}}
    options = {"qconfig": default_qconfig, "choices": (8, 4)}
    return search_mixed_precision(**(given | options | changes))


def distance(output: Any, target: Any) -> Any:
    return (output - target).abs().max()


def test_a_function_is_told_which_values_are_good() -> None:
    """A metric of one's own may be a loss or a score; that of a name is known."""
    with says("pass better='higher' or better='lower' to say which values of the metric are good"):
        search(metric=distance)
    search(metric=distance, better="lower")
    with pytest.raises(ValueError, match="of metric='sqnr' lower values are better, got 'higher'"):
        search(better="higher")
    with pytest.raises(ValueError, match="better must be 'higher' or 'lower', got 'up'"):
        search(better="up")


def test_a_budget_that_is_too_small() -> None:
    """Narrower widths, or a larger budget."""
    with says("add narrower widths to choices, or give a larger budget"):
        search(budget={"bits": 3})
    search(budget={"bits": 3}, choices=(8, 2))
    search(budget={"bits": 4})


def test_a_checkpoint_of_something_else(tmp_path: Path) -> None:
    """The same model, or a new beginning; a checkpoint of a calibration is none."""
    path = tmp_path / "bits.safetensors"
    search(checkpoint=path)
    with says("give the same ones to go on, or remove the file to begin anew"):
        search(checkpoint=path, data=X + 1)
    search(checkpoint=path)
    path.unlink()
    search(checkpoint=path, data=X + 1)
    pyqref.save({"x": X}, path)
    with says("give another path"):
        search(checkpoint=path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budget": 4}, r"budget must be one of \{'bits': ...\}, .* got 4"),
        ({"budget": {"bits": 4, "bytes": 4}}, "budget must be one of"),
        ({"budget": {"bytes": 0}}, "the budget of bytes must be above 0, got 0"),
        ({"budget": {"bits": "4"}}, "the budget of bits must be a number, got '4'"),
        ({"choices": 8}, r"choices must be a list of widths such as \(8, 4\), got 8"),
        ({"choices": ()}, "choices must have one width at least"),
        ({"choices": (9,)}, r"bits must be in \[2, 8\], or 32 .* got 9"),
        ({"choices": (8.0,)}, "each of choices must be a number of bits, or a pair .* got 8.0"),
        ({"choices": ((32, 8),)}, r"bits must be in \[2, 8\]"),
        ({"exhaustive": 1.5}, "exhaustive must be an int, got 1.5"),
        ({"model": MODEL[0].train}, "search_mixed_precision takes a Module"),
        ({"model": nn.Sequential(nn.Linear(4, 3))}, "takes a model in evaluation mode"),
        ({"model": nn.Sequential(nn.ReLU()).eval()}, "has no layer with weights that can be"),
        ({"metric": "speed"}, "metric must be 'sqnr', 'accuracy', 'loss'"),
        ({"metric": "accuracy"}, "metric='accuracy' needs targets"),
        ({"data": []}, "data must have one batch at least"),
        ({"qconfig": "int8"}, "qconfig must be a QConfig or a QConfigMapping, got a str"),
    ],
)
def test_wrong_arguments_of_a_search(changes: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        search(**changes)


@pytest.mark.parametrize(
    ("max_drop", "message"),
    [
        (-0.1, "max_drop must be at least 0, got -0.1"),
        (float("nan"), "max_drop must be at least 0, got nan"),
        ("1%", "max_drop must be a number, got '1%'"),
    ],
)
def test_wrong_drops(max_drop: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        quantize_with_accuracy_control(MODEL, X, "sqnr", max_drop)


def test_a_model_without_anything_to_quantize() -> None:
    with pytest.raises(ValueError, match="the model has no operation that can be quantized"):
        quantize_with_accuracy_control(nn.Sequential(nn.GELU()).eval(), X, "sqnr", 0)
