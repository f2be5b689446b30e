"""Every float layer beside torch's: printing, first values, outputs, gradients, statistics."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from nn.layer_table import ROWS, Row, run

import pyqref
from pyqref import nn

IDS = [row.id for row in ROWS]

#: Both libraries compute every result in float32 from at most ``SUMMANDS`` rounded terms (the
#: widest sum is a weight gradient over 2 x 60 pixels after sums over 36 products, the longest
#: chain an LSTM of 6 steps with 10 roundings each), in different orders. Each rounding is at most
#: eps/2 of a term, so two results differ by at most ``SUMMANDS * eps`` of the largest term.
#: Terms may be ``CANCELLATION`` times larger than the largest result.
SUMMANDS = 256
CANCELLATION = 2
BOUND = SUMMANDS * CANCELLATION * float(np.finfo(np.float32).eps)


@pytest.fixture(name="torch")
def _torch():
    torch = pytest.importorskip("torch", minversion="2.13")
    torch.set_num_threads(1)
    return torch


def _both(torch, row: Row):
    """The layer of torch and ours, made with the same seed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(3)
        theirs = row.make(torch.nn)
    pyqref.manual_seed(3)
    return theirs, row.make(nn)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_prints_as_torch(torch, row: Row) -> None:
    """``repr`` of the layer is torch's."""
    theirs, ours = _both(torch, row)
    assert repr(theirs) == repr(ours)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_starts_as_torch(torch, row: Row) -> None:
    """One seed gives torch's keys and torch's first values, to the bit.

    Normal numbers are left out: torch computes them with the vector functions of its build.
    """
    theirs, ours = _both(torch, row)
    expected, actual = theirs.state_dict(), ours.state_dict()
    assert list(expected) == list(actual)
    for name in expected:
        if "mbedding" in row.name or name in ("bias_k", "bias_v"):
            np.testing.assert_allclose(actual[name].numpy(), expected[name].numpy(), rtol=1e-5)
        else:
            assert np.array_equal(expected[name].numpy(), actual[name].numpy()), name


@pytest.mark.parametrize("mode", ["train", "eval"])
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_computes_as_torch(torch, row: Row, mode: str) -> None:
    """Outputs, gradients and running statistics are torch's within :data:`BOUND`."""
    theirs, ours = _both(torch, row)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = run(torch, row, getattr(theirs, mode)())
    actual = run(pyqref, row, getattr(ours, mode)())
    expected |= {f"state_{k}": v.numpy() for k, v in theirs.state_dict().items()}
    actual |= {f"state_{k}": v.numpy() for k, v in ours.state_dict().items()}
    assert list(expected) == list(actual)
    for name, value in expected.items():
        assert value.shape == actual[name].shape, name
        assert value.dtype == actual[name].dtype, name
        if value.dtype.kind == "f" and value.size:
            largest = max(1.0, float(np.abs(value).max()))
            assert float(np.abs(value - actual[name]).max()) <= BOUND * largest, name
        else:
            assert np.array_equal(value, actual[name]), name
