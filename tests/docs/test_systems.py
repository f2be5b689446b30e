"""The tables of the hardware track that compare systems: each row says what is computed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import arithmetic
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops

PAGE = Path(__file__).parents[2] / "docs" / "hardware" / "systems.rst"
NAMES = {
    "fbgemm": "fbgemm",
    "qnnpack": "qnnpack",
    "TFLite": "tflite",
    "CMSIS-NN": "cmsis-nn",
    "ONNX QLinear": "onnx",
    "ONNX QDQ": "onnx-qdq",
    "TensorRT": "tensorrt",
}
#: What the step of a name does, as the table says it.
WORDS = {
    "sum": "+ bias",
    "bias added": "+ bias",
    "real result": "· A",
    "product, upper half": "· m, round, shift",
    "rounded": "round",
    "zero point added": "+ z",
    "clamped": "clamp",
}


def rows(number: int) -> list[list[str]]:
    """The cells of each row of a table but the first."""
    table = PAGE.read_text(encoding="utf-8").split(".. list-table::")[number]
    lines = [line for line in table.split("\n\n")[1].splitlines() if "- " in line]
    cells = [re.sub(r"^ +(\* )?- (\\)?", "", line) for line in lines]
    width = len(table.split(":widths:")[1].splitlines()[0].split())
    return [cells[start : start + width] for start in range(width, len(cells), width)]


def test_every_system_has_a_row() -> None:
    assert [list(NAMES)] * 2 == [[row[0] for row in rows(number)] for number in (1, 2)]


def multiplier(steps: Any, s_x: float, s_w: float, s_y: float) -> str:
    """Return how the number of that name was made."""
    found = [step.value for step in steps if step.name == "multiplier"]
    if not found:
        return "none"
    if isinstance(found[0], int):
        return "31-bit integer"
    unit, y = np.float32(s_x) * np.float32(s_w), np.float32(s_y)
    quotient, product = unit / y, unit * (np.float32(1) / y)
    assert quotient != product
    return {quotient: "float32, A / s", product: "float32, A · (1 / s)"}[found[0]]


@pytest.mark.parametrize("row", rows(1), ids=lambda row: row[0])
def test_layers(row: list[str]) -> None:
    """The order of the steps, what the multiplier is, and where ties go."""
    model = arithmetic.get(NAMES[row[0]])
    scales = 0.1, 0.03, 0.05
    numbers = scales[0], np.array([scales[1]]), scales[2], 4
    steps = model.steps([200, 30], 10, [5, -3], 0, 0.02, *numbers)
    scaled = "· M" if any(step.name == "multiplier" for step in steps) else "/ s"
    words = {**WORDS, "scaled": scaled}
    assert row[1] == ", ".join(words[step.name] for step in steps if step.name in words)
    assert row[2] == multiplier(steps, *scales)
    bias = model.bias(np.float32([0.625]), 0.5, np.array([0.5])).item()
    sums = np.array([[10], [-10]])
    ties = model.requantize(sums, None, 0.5, 0.5, 1.0, 0, -128, 127)[:, 0]
    moved = model.requantize(sums, None, 0.5, 0.5, 1.0, 11)[0, 0]
    assert row[3:] == [f"{bias:g}", *map(str, ties), str(moved)]


@pytest.mark.parametrize("row", rows(2), ids=lambda row: row[0])
def test_sums_and_means(row: list[str]) -> None:
    """Each system rounds 2.5 above the zero point, and a mean 2.5 below it, as the table says."""

    def image(z: int) -> Any:
        above = [[z + 2, z + 3]] * 2
        below = [[z - 2, z - 3]] * 2
        given = pyqref.tensor([[[*above, [z, z]], [*below, [z, z]]]], dtype=pyqref.uint8)
        return pyqref._make_per_tensor_quantized_tensor(given, 0.1, z)

    a, b = (
        pyqref._make_per_tensor_quantized_tensor(
            pyqref.tensor([q, q], dtype=pyqref.uint8), 0.5, 100
        )
        for q in (105, 100)
    )
    with arithmetic.use(NAMES[row[0]]):
        added = [int(ops.add(a, b, 1.0, z).int_repr()[0]) for z in (10, 11)]
        means = [F.avg_pool2d(image(z), 2, 1).int_repr()[0, :, 0, 0].tolist() for z in (10, 11)]
    assert row[2:4] == list(map(str, added))
    assert row[5:] == [str(each) for each in (*means[0], means[1][0])]


@pytest.mark.parametrize("row", rows(2), ids=lambda row: row[0])
def test_words_of_sums_and_means(row: list[str]) -> None:
    """Floats or integers, and whether the zero point comes before the rounding."""
    name = NAMES[row[0]]
    quantize = pyqref.quantize_per_tensor
    x = quantize(pyqref.randn(1, 1, 3, 2), 0.05, 100, pyqref.quint8)
    engine = name if name in ("fbgemm", "qnnpack") else "fbgemm"
    pyqref.backends.quantized.engine = engine
    with pyqref.explaining.recording() as ran:
        ops.add(x, x, 0.07, 90)
        F.avg_pool2d(x, 2, 1)
    for cell, layer in zip((row[1], row[4]), ran.layers, strict=True):
        steps = ran.explain(layer, (0, 0, 0, 0), [name]).others[name]
        words = [step.name for step in steps]
        last = max(at for at, word in enumerate(words) if "rounded" in word)
        is_real = isinstance(steps[last - 1].value, np.floating)
        assert is_real == cell.startswith("float32")
        zero_first = "zero point added" not in words[last:]
        assert zero_first == cell.endswith("+ z, round")
