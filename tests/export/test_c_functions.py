"""The functions by which C rounds equal their equations where rounding is hard."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export.compiled import COMPILERS, STRICT

from pyqref.export.in_c.integer_rounding import INTEGER
from pyqref.export.in_c.piece import needed
from pyqref.export.in_c.real_rounding import HEAD, real_pieces
from pyqref.numerics.exponential import exp_below
from pyqref.numerics.fixed_point import multiply_rounded_twice
from pyqref.numerics.rounding import clamp_to_int, fma32, round_half_even

pytestmark = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")

f32 = np.float32


def library(folder: Path, text: str) -> Any:
    """Functions that are not static any more."""
    source = folder / "functions.c"
    source.write_text(f"#include <stdint.h>\n{text}\n")
    shared = folder / "functions.so"
    options = [*STRICT, "-O1", "-Dstatic=", "-fPIC", "-shared"]
    subprocess.run([COMPILERS[0], *options, source, "-o", shared], check=True)
    return ctypes.CDLL(str(shared))


def test_multiplied(tmp_path):
    """``eq-multiply-rounded-twice``: ties of both roundings, both signs, sums that saturate."""
    function = library(tmp_path, "\n".join(needed(INTEGER, ["multiplied"]))).multiplied
    function.restype = ctypes.c_int64
    random = np.random.default_rng(0)
    sums = [*range(-9, 10), 2**31 - 1, -(2**31), *random.integers(-(2**24), 2**24, 200).tolist()]
    for multiplier in (2**30, 2**30 + 2**29, 2**31 - 1, 1431655765, 0):
        for exponent in (-31, -7, -3, -1, 0, 1, 9, 30):
            expected = multiply_rounded_twice(sums, np.int64(multiplier), exponent)
            found = [function(each, multiplier, exponent) for each in sums]
            assert expected.tolist() == found, (multiplier, exponent)


def test_real_functions(tmp_path):
    """``eq-fma``, ``eq-requantize`` and ``eq-exp-below``: between two numbers, at ties."""
    pieces = needed(real_pieces("fbgemm"), ["rounded", "fused", "power"])
    found = library(tmp_path, HEAD + "\n".join(pieces))
    reals, integer = ctypes.c_float, ctypes.c_int32
    found.fused.restype = found.power.restype = reals
    found.rounded.restype = ctypes.c_uint8
    random = np.random.default_rng(0)
    # Sums in the middle between two numbers, and as little more or less as there can be.
    unit = f32(2.0**-23)
    a = (1 + random.integers(0, 4, 600) * unit).astype(f32)
    b = (f32(2.0**-24) * (1 + random.integers(-3, 4, 600) * unit / 2)).astype(f32)
    c = (1 + random.integers(0, 6, 600) * unit).astype(f32)
    for signs in ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        x, z = a * f32(signs[0]), c * f32(signs[1])
        made = [found.fused(reals(p), reals(q), reals(r)) for p, q, r in zip(x, b, z, strict=True)]
        assert np.array_equal(fma32(x, b, z), np.asarray(made, f32))
    v = np.concatenate([np.arange(-300, 300) / 2, random.normal(0, 90, 300), [1e30, -1e30]])
    v = np.concatenate([v, np.nextafter(v.astype(f32), f32(np.inf))]).astype(f32)
    for zero_point, low, high in ((0, 0, 255), (7, 7, 255), (255, 3, 201)):
        expected = clamp_to_int(
            round_half_even(v).astype(np.float64) + zero_point, low, high, np.uint8
        )
        ends = [integer(each) for each in (zero_point, low, high)]
        assert expected.tolist() == [found.rounded(reals(each), *ends) for each in v]
    below = -np.abs(np.concatenate([random.normal(0, 30, 500), [0, 87.6, 87.8, 1000]])).astype(f32)
    made = np.asarray([found.power(reals(each)) for each in below], f32)
    assert np.array_equal(exp_below(below), made)
