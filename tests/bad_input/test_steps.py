"""Wrong second arguments: states, weights of recurrent layers, operations, grids, qconfigs."""

from __future__ import annotations

from typing import Any

import pytest
from bad_input.engine import Entry
from bad_input.steps_table import ENTRIES

import pyqref
from pyqref import nn


@pytest.mark.parametrize("of", ENTRIES, ids=[each.name for each in ENTRIES])
def test_one_wrong_argument(of: Entry) -> None:
    """The valid call is answered; each wrong argument is answered, or refused by its name."""
    of.call(**of.valid)
    assert [] == list(of.cases())


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.quantizable.LSTM, nn.quantized.dynamic.LSTM])
def test_more_layers_than_memory(layer: Any) -> None:
    """A number of layers that no memory holds is refused at once, and so are layers so wide."""
    with pytest.raises(ValueError, match="num_layers must be at most 65536, got 1099511627776"):
        layer(3, 2, num_layers=2**40)
    with pytest.raises(
        (RuntimeError, ValueError), match=r"needs \d+ bytes|2\*\*31 elements or more"
    ):
        layer(3, 2**40, num_layers=2)


@pytest.mark.parametrize("make", ["zeros", "empty", "ones", "rand", "randn"])
def test_tensors_larger_than_memory(make: str) -> None:
    """A size that no memory holds is named."""
    with pytest.raises(RuntimeError, match=r"shape \(1099511627776, 2\d*\) needs \d+ bytes"):
        getattr(pyqref, make)(2**40, 2)
    with pytest.raises(RuntimeError, match="needs"):
        getattr(pyqref, make)(2**40, 2**40)


def test_layers_without_elements() -> None:
    """A size may be zero, as in torch."""
    assert (0, 4) == tuple(nn.Embedding(0, 4).weight.shape)


@pytest.mark.parametrize("name", ["Linear", "Embedding", "Conv1d"])
def test_decomposed_grids_are_refused(name: str) -> None:
    """Reference layers compute with quantized tensors only, and say so."""
    source = getattr(nn, name)(*{"Conv1d": (2, 2, 1)}.get(name, (3, 2)))
    grid = {"qscheme": pyqref.per_tensor_affine, "dtype": pyqref.qint8, "scale": 1.0,
            "zero_point": 0, "is_decomposed": True}  # fmt: skip
    with pytest.raises(NotImplementedError, match="is_decomposed must be False, got True"):
        getattr(nn.quantized.reference, name).from_float(source, grid)


def test_decomposed_grids_of_recurrent_layers_are_refused() -> None:
    """The flag is refused where it stands beside the grids of the weights."""
    with pytest.raises(NotImplementedError, match="is_decomposed must be False, got True"):
        nn.quantized.reference.LSTM.from_float(nn.LSTM(3, 2), {"is_decomposed": True})
