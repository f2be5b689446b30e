"""Implementations of every kind are run, and what is wrong with them is named."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.numerics.affine import dequantize_per_tensor
from pyqref.testing import (
    check_implementation,
    conformance,
    from_library,
    from_program,
    write_cases,
)
from pyqref.testing.conformance_set import operation_of


def dequantize(x, scale, zero_point):
    """Right."""
    return dequantize_per_tensor(x, scale, zero_point)


@pytest.mark.parametrize(
    ("operation", "engine", "name"),
    [
        ("linear", "fbgemm", "rounds halves away from zero"),
        ("linear", "fbgemm", "rounding order: the zero point inside the rounding"),
        ("conv1d", "qnnpack", "clamps before it adds the zero point"),
        ("linear", "tflite", "saturates at 16 bits"),
        ("conv1d", "qnnpack", "takes the scale of another axis"),
        ("conv1d", "fbgemm", "pads with 0 instead of the zero point"),
        ("linear", "fbgemm", "reads the weight transposed"),
        ("linear", "fbgemm", "forgets the ReLU"),
        ("linear", "fbgemm", "computes as tflite"),
        ("quantize", "fbgemm", "rounds the product before it adds the zero point"),
        ("linear_dynamic", "fbgemm", "takes a grid for each row"),
    ],
)
def test_each_mistake_is_named(operation: str, engine: str, name: str) -> None:
    """The mistake that explains every case is told, with the first element that differs."""
    mistakes = operation_of(operation).mistakes(engine)
    function = next(each.function for each in mistakes if each.name == name)
    result = check_implementation(lambda **arguments: function(arguments), operation, engine)
    assert (False, name) == (result.passed, result.mistake)
    assert f"The mistake: {name}." in str(result)
    with pytest.raises(AssertionError, match="step by step"):
        result.raise_if_wrong()


def test_two_mistakes_are_told_apart() -> None:
    """No mistake alone explains all: each is named with the failures that it explains."""

    def quantize(x, scale, zero_point, quant_min, quant_max):
        steps = np.float64(x) * np.float64(np.float32(1) / np.float32(scale)) + zero_point
        whole = np.floor(steps + 0.5)
        return np.clip(whole, quant_min + 1, quant_max).astype(np.uint8)

    result = check_implementation(quantize, "quantize")
    assert "" == result.mistake
    assert "Perhaps: rounds halves up (3 of the failures)." in str(result)


def test_what_is_returned_may_be_a_tensor_or_nothing() -> None:
    def by_tensor(x, scale, zero_point):
        return pyqref.from_numpy(dequantize(x, scale, zero_point))

    assert check_implementation(by_tensor, "dequantize")
    for function, problem in (
        (lambda x: None, "it returned None: is there a return?"),
        (lambda x: "y", "y"),
        (lambda x: [None], "it should return numbers, got list"),
        (lambda x: x[:1].astype(np.float32), r"the shape is (1,), expected (256,)"),
        (lambda x: 1 / 0, "it raised ZeroDivisionError: division by zero"),
    ):
        result = check_implementation(function, "dequantize")
        assert problem == result.failures[0].problem
        assert "" == result.mistake
    result = check_implementation(lambda x: x * 1.5, "quantize")
    assert "it should return integers, got float32" == result.failures[0].problem


def test_arguments_are_copies() -> None:
    """An implementation that works in place does not change the case."""

    def in_place(x, scale, zero_point):
        y = dequantize(x, scale, zero_point)
        x[...] = 0
        return y

    assert check_implementation(in_place, "dequantize")


def test_shared_libraries() -> None:
    """``memcpy`` copies the stored integers, which is right where the scale is 1 and z is 0."""
    standard = ctypes.CDLL(None)
    copy = from_library(standard, "memcpy", "y, x, y.size: size_t")
    result = check_implementation(copy, "dequantize")
    assert result.failures[0].got is not None
    assert result.failures[0].got.view(np.uint8)[:3].tolist() == [0, 1, 2]
    status = from_library(standard, "abs", "stride[0], x_scale: double, bias", has_status=True)
    assert "abs returned 2, not 0" == check_implementation(status, "conv1d").failures[0].problem


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("no_such_function", "x", "function must be one of the library's, which has no"),
        ("abs", "x y", "arguments must be names divided by commas"),
        ("abs", "x: int128", "a type among float, double"),
    ],
)
def test_wrong_signatures(function: str, arguments: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_library(ctypes.CDLL(None), function, arguments)


def test_wrong_arguments_of_a_library() -> None:
    standard = ctypes.CDLL(None)
    with pytest.raises(TypeError, match="arguments names z; dequantize has x, scale, zero_point"):
        check_implementation(from_library(standard, "abs", "z"), "dequantize")
    with pytest.raises(TypeError, match=r"arguments asks for x.shape\[4\], but x is"):
        check_implementation(from_library(standard, "abs", "x.shape[4]"), "dequantize")


PROGRAM = """
import sys
import numpy as np
given = np.load(sys.argv[1])
results = {}
for number, name in enumerate(given["names"]):
    x, scale, zero_point = (given[f"{number}/{each}"] for each in ("x", "scale", "zero_point"))
    results[f"{number}/y"] = (x.astype(int) + zero_point).astype("f") * scale.astype("f")
np.savez(sys.argv[2], **results)
"""


def test_programs_and_recorded_results(tmp_path: Path) -> None:
    """One file of cases goes in, one of results comes out, at once or later."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "program.py")]
    assert (
        "adds the zero point" == check_implementation(from_program(command), "dequantize").mistake
    )
    right = {f"{number}/y": case.expected for number, case in enumerate(conformance("dequantize"))}
    np.savez(tmp_path / "got.npz", **right)  # type: ignore[arg-type]
    assert check_implementation(tmp_path / "got.npz", "dequantize")
    del right["2/y"]
    np.savez(tmp_path / "got.npz", **right)  # type: ignore[arg-type]
    (failed,) = check_implementation(str(tmp_path / "got.npz"), "dequantize").failures
    assert "the results have no 2/y" == failed.problem


def test_programs_that_fail(tmp_path: Path) -> None:
    result = check_implementation(from_program("false"), "dequantize")
    assert "false ended with 1, no results: " == result.failures[0].problem
    slow = from_program([sys.executable, "-c", "while True: pass"], timeout=0.01)
    cases = conformance("dequantize")
    assert f"{sys.executable} took more than 0.01 seconds" == slow.answers(cases)[0]
    missing = from_program("./no such program").answers(cases)[0]
    assert "./no such program cannot be run: No such file or directory" == missing
    (tmp_path / "got.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"got.npz must be an .npz file of results"):
        check_implementation(tmp_path / "got.npz", "dequantize")


def test_cases_are_written_whole(tmp_path: Path) -> None:
    """Every argument that is not None, under its number and name; nothing half-written is left."""
    path = tmp_path / "cases.npz"
    write_cases(path, "linear", "qnnpack", without=["per channel"])
    cases = conformance("linear", "qnnpack", without=["per channel"])
    with np.load(path) as file:
        assert [case.name for case in cases] == file["names"].tolist()
        assert np.array_equal(cases[1].arguments["x"], file["1/x"])
        assert ("1/bias" in file, "0/bias" in file) == (False, True)
    assert [path] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("implementation", "error", "message"),
    [
        (3, TypeError, "implementation must be a function, from_library"),
        (lambda y: y, TypeError, "the implementation asks for y; dequantize has the arguments x,"),
    ],
)
def test_what_cannot_be_run(implementation: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        check_implementation(implementation, "dequantize")
    with pytest.raises(TypeError, match="command must be a program or a list"):
        from_program([])
    with pytest.raises(ValueError, match="without leaves no case of add"):
        check_implementation(dequantize, "add", without=["tie", "clamp above", "odd shape"])
