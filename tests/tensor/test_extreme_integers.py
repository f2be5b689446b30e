"""Integers at the ends of 64 bits, sizes beyond any memory, and results beyond the floats.

What no memory or type can hold is refused by a message; no call crashes, never ends, or gives
something else than the numbers that were asked for.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F

MOST, LEAST, BIG = 2**63 - 1, -(2**63), 2**62
VECTOR, MATRIX, MANY = pyqref.ones(3), pyqref.ones(2, 3), pyqref.ones(2**20)

#: Each would be larger than the memory of any machine; the size comes from an argument.
TOO_LARGE: dict[str, Callable[[], Any]] = {
    "arange": lambda: pyqref.arange(MOST),
    "arange by a tiny step": lambda: pyqref.arange(0, 1, 1e-30),
    "bincount": lambda: pyqref.bincount(pyqref.tensor([2, 1, 1, MOST, 5])),
    "bincount of two": lambda: pyqref.bincount(pyqref.tensor([MOST, 10**15])),
    "bincount minlength": lambda: pyqref.bincount(pyqref.tensor([1]), minlength=BIG),
    "broadcast": lambda: MANY.reshape(-1, 1) + MANY,
    "cartesian_prod": lambda: pyqref.cartesian_prod(MANY, MANY),
    "cdist": lambda: pyqref.cdist(MANY.reshape(-1, 1), MANY.reshape(-1, 1)),
    "conv2d": lambda: F.conv2d(MATRIX[None, None], MATRIX[None, None], padding=2**31 - 1),
    "conv_transpose2d": lambda: F.conv_transpose2d(
        MATRIX[None, None], MATRIX[None, None], stride=2**31 - 1
    ),
    "diag": lambda: pyqref.diag(VECTOR, MOST),
    "einsum": lambda: pyqref.einsum("i,j->ij", MANY, MANY),
    "expand": lambda: VECTOR.expand(MOST, 3),
    "expand and copy": lambda: VECTOR.expand(2**45, 3).contiguous(),
    "eye": lambda: pyqref.eye(2**40),
    "full": lambda: pyqref.full((BIG,), 1),
    "histc": lambda: pyqref.histc(VECTOR, bins=BIG),
    "linspace": lambda: pyqref.linspace(0, 1, BIG),
    "logspace": lambda: pyqref.logspace(0, 1, BIG),
    "multinomial": lambda: pyqref.multinomial(VECTOR, BIG, True),
    "no elements": lambda: pyqref.zeros(2**32, 2**32, 0),
    "one_hot": lambda: F.one_hot(pyqref.tensor([0, MOST])),
    "one_hot of classes": lambda: F.one_hot(pyqref.tensor([0, 1]), MOST),
    "outer": lambda: pyqref.outer(MANY, MANY),
    "pad": lambda: F.pad(VECTOR, (MOST, MOST)),
    "pad by edges": lambda: F.pad(MATRIX, (BIG, 0), mode="replicate"),
    "randint": lambda: pyqref.randint(0, 2, (BIG,)),
    "randperm": lambda: pyqref.randperm(10**15),
    "repeat": lambda: VECTOR.repeat(BIG),
    "repeat_interleave": lambda: VECTOR.repeat_interleave(BIG),
    "repeat_interleave by a tensor": lambda: VECTOR.repeat_interleave(pyqref.tensor([BIG] * 3)),
    "resize_": lambda: pyqref.zeros(2).resize_(BIG),
    "tensor_split": lambda: VECTOR.tensor_split(2**50),
    "tile": lambda: VECTOR.tile(BIG),
    "tril_indices": lambda: pyqref.tril_indices(BIG, BIG),
    "triu_indices": lambda: pyqref.triu_indices(BIG, 3),
}


@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_no_memory_holds_is_refused(name: str) -> None:
    """A RuntimeError that tells the shape or the bytes, before anything is made."""
    with pytest.raises(
        RuntimeError, match=r"must be at most|needs \d+ bytes|memory does not|too large|addressed"
    ):
        TOO_LARGE[name]()


#: The numbers are those of torch, or where it is silent, those that were asked for.
EXACT: dict[str, tuple[Callable[[], Any], Any]] = {
    "arange": (lambda: pyqref.arange(MOST - 2, MOST), [MOST - 2, MOST - 1]),
    "arange from below": (lambda: pyqref.arange(LEAST, LEAST + 2), [LEAST, LEAST + 1]),
    "tensor": (lambda: pyqref.tensor([MOST, LEAST]), [MOST, LEAST]),
    "full": (lambda: pyqref.full((2,), MOST), [MOST, MOST]),
    "diff": (lambda: pyqref.diff(VECTOR, n=MOST), []),
    "diagonal": (lambda: pyqref.diagonal(MATRIX, LEAST), []),
    "tril": (lambda: pyqref.tril(MATRIX, MOST), [[1.0] * 3] * 2),
    "triu": (lambda: pyqref.triu(MATRIX, MOST), [[0.0] * 3] * 2),
    "tril_indices": (lambda: pyqref.tril_indices(1, 2, MOST), [[0, 0], [0, 1]]),
    "triu_indices": (lambda: pyqref.triu_indices(1, 2, MOST), [[], []]),
    "repeat nothing": (lambda: pyqref.ones(0).repeat(BIG), []),
    "roll": (lambda: pyqref.arange(3).roll(MOST), [2, 0, 1]),
    "unfold": (lambda: pyqref.arange(2).unfold(0, 1, MOST), [[0]]),
    "bincount of nothing": (
        lambda: pyqref.bincount(pyqref.tensor([], dtype=pyqref.int64), minlength=2),
        [0, 0],
    ),
    "round": (lambda: pyqref.round(VECTOR, decimals=2**31), [np.nan] * 3),
    "round to tens": (lambda: pyqref.round(VECTOR, decimals=LEAST), [np.nan] * 3),
    "round halves": (
        lambda: pyqref.round(pyqref.tensor([10.07], dtype=pyqref.float16), decimals=4),
        [10.0703125],
    ),
    "linear of no features": (
        lambda: F.linear(pyqref.ones(1, 2, 0), pyqref.ones(2, 0), pyqref.ones(2)),
        [[[1.0, 1.0], [1.0, 1.0]]],
    ),
    "multinomial of no rows": (lambda: pyqref.multinomial(pyqref.ones(0, 3), 1), []),
}


@pytest.mark.parametrize("name", EXACT)
def test_what_can_be_given_is_exact(name: str) -> None:
    function, expected = EXACT[name]
    np.testing.assert_array_equal(np.asarray(expected), np.asarray(function().tolist()))


def test_width_of_random_integers() -> None:
    """Half of all integers and more: they wrap to where they belong."""
    x = pyqref.randint(LEAST, MOST, (1000,)).tolist()
    assert min(x) < LEAST // 2
    assert max(x) > MOST // 2


#: Values that a type cannot hold, and counts and bounds that mean nothing.
REFUSED: dict[str, Callable[[], Any]] = {
    "bincount minlength": lambda: pyqref.bincount(pyqref.tensor([1]), minlength=-1),
    "bincount weights": lambda: pyqref.bincount(pyqref.tensor([1, 2]), VECTOR),
    "index_put": lambda: pyqref.zeros(3, dtype=pyqref.int32).index_put(
        (pyqref.tensor([0]),), pyqref.tensor([np.inf])
    ),
    "masked_scatter": lambda: pyqref.zeros(3, dtype=pyqref.int32).masked_scatter(
        VECTOR > 0, VECTOR * np.inf
    ),
    "multinomial of none": lambda: pyqref.multinomial(VECTOR, 0),
    "multinomial of fewer": lambda: pyqref.multinomial(VECTOR, -1),
    "multinomial of an empty batch": lambda: pyqref.multinomial(pyqref.ones(0, 3), 5),
    "normal": lambda: pyqref.normal(VECTOR, -VECTOR),
    "power": lambda: pyqref.ones(2, dtype=pyqref.int8) ** 256,
    "quantile of integers": lambda: pyqref.quantile(pyqref.tensor([1, 2]), 0.5),
    "randint": lambda: pyqref.randint(0, 300, (2,), dtype=pyqref.int8),
    "random_": lambda: pyqref.zeros(2, dtype=pyqref.uint8).random_(-1, 2),
    "randperm": lambda: pyqref.randperm(-1),
    "randperm of a small type": lambda: pyqref.randperm(300, dtype=pyqref.uint8),
    "roll": lambda: VECTOR.roll((1, 2)),
    "round of integers": lambda: pyqref.round(pyqref.tensor([1]), decimals=2),
    "sum with a larger integer": lambda: pyqref.tensor([1]) + 2**64,
    "tensordot": lambda: pyqref.tensordot(MATRIX, MATRIX, 2**31),
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_that_mean_nothing_are_refused(name: str) -> None:
    """Arguments that mean nothing are refused, as in torch."""
    with pytest.raises(RuntimeError):
        REFUSED[name]()


@pytest.mark.parametrize("high", [2**63, 2**64])
def test_bounds_of_more_than_64_bits(high: int) -> None:
    with pytest.raises(ValueError, match="randint: high must fit 64 bits"):
        pyqref.randint(0, high, (2,))


#: Everything that writes a Python number into a tensor.
WRITERS: dict[str, Callable[[Any, Any], Any]] = {
    "fill_": lambda x, value: x.fill_(value),
    "full": lambda x, value: pyqref.full((2,), value, dtype=x.dtype),
    "full_like": lambda x, value: pyqref.full_like(x, value),
    "new_full": lambda x, value: x.new_full((2,), value),
    "masked_fill": lambda x, value: x.masked_fill(pyqref.tensor([True, True]), value),
    "index_fill": lambda x, value: x.index_fill(0, pyqref.tensor([0, 1]), value),
    "scatter": lambda x, value: x.scatter(0, pyqref.tensor([0, 1]), value),
    "assignment": lambda x, value: (x.__setitem__(slice(None), value), x)[1],
    "assignment at indices": lambda x, value: (x.__setitem__(([0, 1],), value), x)[1],
    "pad": lambda x, value: F.pad(x[:0], (2, 0), value=value),
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize(
    ("dtype", "beyond", "fitting"),
    [
        (pyqref.int8, (300, -129, 127.5, np.inf, np.nan), (127, -128, -1.5)),
        (pyqref.uint8, (256, -256, -1.5), (255, -1, 2.5)),
        (pyqref.int64, (2**63, LEAST - 1, 2.0**63), (MOST, LEAST, 3.5)),
        (pyqref.float16, (1e6, -1e6), (65504.0, np.inf, -np.inf)),
        (pyqref.float32, (1e300,), (3e38, np.inf, 7)),
    ],
)
def test_numbers_written(
    name: str, dtype: Any, beyond: tuple[Any, ...], fitting: tuple[Any, ...]
) -> None:
    """A number that the type cannot hold is refused, as in torch; -1 is 255 of uint8."""
    write = WRITERS[name]
    for value in beyond:
        with pytest.raises(RuntimeError, match="without overflow, got"):
            write(pyqref.zeros(2, dtype=dtype), value)
    for value in fitting:
        expected = np.array(value).astype(dtype.numpy_dtype)
        assert [expected.item()] * 2 == write(pyqref.zeros(2, dtype=dtype), value).tolist()


@pytest.mark.parametrize("name", ["clamp", "clamp_min", "clamp_max"])
def test_bounds_must_fit(name: str) -> None:
    """A bound that wraps would clamp everything to something else."""
    x = pyqref.tensor([1, 2, 3], dtype=pyqref.int8)
    with pytest.raises(RuntimeError, match="without overflow, got 300"):
        getattr(x, name)(300)
    with pytest.raises(RuntimeError, match="without overflow, got 300"):
        pyqref.where(x > 1, x, 300)


#: Results that overflow or are not defined; NumPy would warn of each.
OVERFLOWS: dict[str, Callable[[], Any]] = {
    "histc": lambda: pyqref.histc(VECTOR, bins=3, min=-3e38, max=3e38),
    "logspace": lambda: pyqref.logspace(0, 1000, 3),
    "round": lambda: pyqref.round(VECTOR, decimals=300),
    "randint of floats": lambda: pyqref.randint(0, 60_000, (2,), dtype=pyqref.float16),
    "cast": lambda: pyqref.tensor([np.inf, np.nan]).to(pyqref.int32),
    "tensor": lambda: pyqref.tensor([1e300, np.inf]).half(),
    "dist": lambda: pyqref.dist(VECTOR * 3e38, VECTOR * -3e38),
    "integers": lambda: pyqref.tensor([LEAST]) // pyqref.tensor([-1]),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_results_beyond_the_floats_are_silent(name: str) -> None:
    """Infinity and nan are results like others."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        OVERFLOWS[name]()


def test_no_function_dies_of_extreme_integers() -> None:
    """Every function of tensors, called with extreme int64 in a process with 4 GiB of memory."""
    script = """
import resource, pyqref
from pyqref.nn import functional as F
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
x = pyqref.tensor([2**63 - 1, -(2**63), 10**15, -1])
few, f = pyqref.tensor([2, 1, 2**63 - 1, 5]), pyqref.ones(4)
calls = [(x,), (few,), (x, x), (f, x), (x, f), (f, 0, x), (f, 0, x, f), (x, 0, x, x), (x, 0)]
for module in (pyqref, F, pyqref.Tensor):
    for name in dir(module):
        if name[0] == "_" or name.startswith(("set_", "use_")) or name in ("save", "load"):
            continue
        function = getattr(module, name)
        if callable(function) and not isinstance(function, type):
            for args in calls:
                args = [a.clone() if isinstance(a, pyqref.Tensor) else a for a in args]
                print(module.__name__, name, args, flush=True)
                try:
                    function(*args)
                except Exception:
                    pass
print("whole")
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.stdout.endswith("whole\n"), (run.stdout[-300:], run.stderr[-300:])
