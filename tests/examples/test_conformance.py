"""The example on conformance finds the three mistakes that stand in its C, and no other."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples" / "conformance"

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or not shutil.which("cc"), reason="there is no C compiler"
)


def test_the_three_mistakes_are_named(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("conformance_check", FOLDER / "check.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    found = {each.operation: each.mistake for each in example.check(example.build(tmp_path))}
    expected = {
        "linear": "rounds halves away from zero",
        "conv1d": "pads with 0 instead of the zero point",
        "mul": "casts before it clamps",
    }
    assert expected == found
