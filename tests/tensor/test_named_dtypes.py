"""Types of torch that are named here and hold no tensor: refused on use, with what to do."""

from __future__ import annotations

import copy
import pickle

import pytest

import pyqref
from pyqref._advice import advice
from pyqref.dtypes import _NamedDtype

NAMED = sorted(name for name, value in vars(pyqref).items() if isinstance(value, _NamedDtype))


@pytest.mark.parametrize("name", NAMED)
def test_a_named_dtype(name):
    """It can be compared, copied, pickled and printed, and has its size; the rest is refused."""
    dtype = getattr(pyqref, name)
    assert dtype is copy.deepcopy(dtype) is pickle.loads(pickle.dumps(dtype))
    assert dtype != pyqref.float32
    assert dtype.itemsize in (1, 2, 4, 8, 16)
    assert dtype.is_complex == (name.startswith("c"))
    assert dtype.is_floating_point == ("float" in name and not dtype.is_complex)
    assert advice(f"dtype.{dtype._name}")
    x = pyqref.ones(1)
    for use in (
        lambda: x.to(dtype),
        lambda: pyqref.zeros(1, dtype=dtype),
        lambda: pyqref.tensor([1.0], dtype=dtype),
        lambda: pyqref.nn.Linear(1, 1, dtype=dtype),
        lambda: pyqref.promote_types(pyqref.float32, dtype),
        lambda: pyqref.iinfo(dtype),
    ):
        with pytest.raises(TypeError, match=f"no tensor is of type {dtype._name}: "):
            use()


@pytest.mark.parametrize("name", NAMED)
def test_against_torch(name):
    """Size and kind are those of torch."""
    torch = pytest.importorskip("torch")
    ours, its = getattr(pyqref, name), getattr(torch, name)
    for attribute in ("itemsize", "is_complex", "is_floating_point", "is_signed"):
        assert getattr(its, attribute) == getattr(ours, attribute)


@pytest.mark.parametrize(
    ("name", "largest", "eps", "tiny"),
    [
        ("bfloat16", 3.3895313892515355e38, 2**-7, 2**-126),
        ("float8_e4m3fn", 448.0, 2**-3, 2**-6),
        ("float8_e5m2", 57344.0, 2**-2, 2**-14),
    ],
)
def test_limits_are_known(name: str, largest: float, eps: float, tiny: float) -> None:
    """``finfo`` of a dtype that is only named: the largest number, the step at one, the least."""
    limits = pyqref.finfo(getattr(pyqref, name))
    assert (largest, -largest, eps, tiny) == (limits.max, limits.min, limits.eps, limits.tiny)
