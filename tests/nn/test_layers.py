"""Every float layer passes these checks: gradients, dtypes, state, copies."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from nn.layer_table import ROWS, Row, flatten, run

import pyqref
from pyqref import nn
from pyqref.autograd import gradcheck

IDS = [row.id for row in ROWS]
#: A row of an embedding may get no gradient, or be rescaled in the forward pass, on purpose.
ON_PURPOSE = ("max_norm", "padding_idx")
DIFFERENTIABLE = [
    row for row in ROWS if row.name != "Embedding" or not set(ON_PURPOSE) & set(row.kwargs)
] + [Row("Embedding", (4, 3), (("index", 3, 4),))]


def _as_double(row: Row) -> tuple[nn.Module, list]:
    pyqref.manual_seed(1)
    layer = row.make(nn).double()
    tensors = []
    for spec, array in zip(row.inputs, row.arrays(), strict=True):
        tensor = pyqref.from_numpy(array.copy())
        if tensor.is_floating_point():
            tensor = tensor.double().requires_grad_(spec[0] != "sign")
        tensors.append(tensor)
    return layer, tensors


@pytest.mark.parametrize("row", DIFFERENTIABLE, ids=[row.id for row in DIFFERENTIABLE])
def test_gradients_are_differences(row: Row) -> None:
    """In double precision the gradients of inputs and parameters are those of differences."""
    layer, tensors = _as_double(row)
    parameters = list(layer.parameters())
    inplace = getattr(layer, "inplace", False)

    def function(*arguments: pyqref.Tensor) -> tuple:
        inputs = arguments[: len(tensors)]
        outputs = flatten(layer(*(each * 1 if inplace else each for each in inputs)))
        return tuple(each for each in outputs if each.is_floating_point())

    assert gradcheck(function, (*tensors, *parameters))


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_float32_stays_float32(row: Row) -> None:
    """No result, gradient or buffer of a float32 layer is of another floating type."""
    pyqref.manual_seed(1)
    layer = row.make(nn)
    results = run(pyqref, row, layer)
    kinds = {name: array.dtype for name, array in results.items() if array.dtype.kind == "f"}
    assert {np.dtype(np.float32)} == set(kinds.values()), kinds
    buffers = {b.dtype for b in layer.buffers() if b.is_floating_point()}
    assert buffers <= {pyqref.float32}


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_results_are_contiguous_where_nothing_is_transposed(row: Row) -> None:
    """Outputs can be viewed in another shape, but for layers that are documented to transpose."""
    pyqref.manual_seed(1)
    layer = row.make(nn)
    if row.kwargs.get("batch_first") or row.inputs[0] == (6, 4):
        return
    outputs = flatten(layer(*(pyqref.from_numpy(a.copy()) for a in row.arrays())))
    assert all(each.is_contiguous() for each in outputs)


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_state_and_copy_keep_the_layer(row: Row) -> None:
    """A layer that loads the state of another, and a deep copy, give the same outputs."""
    pyqref.manual_seed(1)
    layer = row.make(nn).eval()
    expected = run(pyqref, row, layer)
    pyqref.manual_seed(2)
    other = row.make(nn).eval()
    other.load_state_dict(layer.state_dict())
    layer.zero_grad()
    for twin in (other, copy.deepcopy(layer)):
        actual = run(pyqref, row, twin)
        assert list(expected) == list(actual)
        assert all(np.array_equal(expected[name], actual[name]) for name in expected)
