"""``testing.assert_close`` passes and refuses what torch's does, in its words."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref

PAIRS: dict[str, Any] = {
    "equal": lambda t: (t.ones(2), t.ones(2), {}),
    "close": lambda t: (t.ones(2), t.ones(2) + 1e-6, {}),
    "not close": lambda t: (t.ones(2), t.tensor([1.0, 1.5]), {}),
    "tolerant": lambda t: (t.ones(2), t.tensor([1.0, 1.5]), {"rtol": 0.0, "atol": 1.0}),
    "integers": lambda t: (t.tensor([1, 2]), t.tensor([1, 3]), {}),
    "bools": lambda t: (t.tensor([True]), t.tensor([False]), {}),
    "dtypes": lambda t: (t.ones(2), t.ones(2, dtype=t.float64), {}),
    "dtypes do not matter": lambda t: (t.ones(2), t.ones(2, dtype=t.int64), {"check_dtype": False}),
    "shapes": lambda t: (t.ones(2), t.ones(3), {}),
    "nan": lambda t: (t.tensor([float("nan")]), t.tensor([float("nan")]), {}),
    "equal nan": lambda t: (
        t.tensor([float("nan")]),
        t.tensor([float("nan")]),
        {"equal_nan": True},
    ),
    "infinite": lambda t: (t.tensor([float("inf")]), t.tensor([float("inf")]), {}),
    "half": lambda t: (t.ones(2).half(), t.ones(2).half() * 1.0009, {}),
    "strides": lambda t: (t.ones(2, 3), t.ones(3, 2).t(), {"check_stride": True}),
    "numbers": lambda t: (1.0, 2.0, {}),
    "lists": lambda t: ([t.ones(1), 2], [t.ones(1), 3], {}),
    "lengths": lambda t: ([1], [1, 2], {}),
    "dicts": lambda t: ({"a": t.ones(1)}, {"a": t.zeros(1)}, {}),
    "keys": lambda t: ({"a": 1}, {"b": 1}, {}),
    "message": lambda t: (1, 2, {"msg": "mine"}),
    "one tolerance": lambda t: (1, 2, {"rtol": 1.0}),
    "text": lambda t: ("a", "a", {}),
}
GOOD = {"equal", "close", "tolerant", "dtypes do not matter", "equal nan", "infinite", "half"}


def outcome(namespace: Any, name: str) -> str:
    actual, expected, options = PAIRS[name](namespace)
    try:
        namespace.testing.assert_close(actual, expected, **options)
    except (AssertionError, ValueError, TypeError) as error:
        return f"{type(error).__name__} {str(error).splitlines()[0][:22]}"
    return "passes"


@pytest.mark.parametrize("name", PAIRS)
def test_what_passes(name: str) -> None:
    assert (name in GOOD) is (outcome(pyqref, name) == "passes")


@pytest.mark.parametrize("name", [each for each in PAIRS if each not in ("one tolerance", "text")])
def test_live_torch(name: str) -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    assert outcome(torch, name).replace("torch.", "") == outcome(pyqref, name).replace(
        "pyqref.", ""
    )
