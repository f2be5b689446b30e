"""Everything that torch refuses of quantized tensors is refused here, in every form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.tensor.quantized import make_per_channel, make_per_tensor

WHERE = pyqref.tensor([1, 0])
MASK = pyqref.tensor([[True], [False], [True]])
REFUSED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "isclose": ("isclose", lambda x: pyqref.isclose(x, x)),
    "allclose": ("allclose", lambda x: pyqref.allclose(x, x)),
    "isin": ("isin", lambda x: pyqref.isin(x, x)),
    "median": ("median", lambda x: x.median()),
    "median of none": ("median", lambda x: x[:0].median()),
    "median of columns": ("median", lambda x: x.median(0, keepdim=True)),
    "median of one": ("median", lambda x: x[0, 0].median(0)),
    "kthvalue": ("kthvalue", lambda x: x.kthvalue(2)),
    "kthvalue of one": ("kthvalue", lambda x: x[0, 0].kthvalue(1)),
    "take": ("take", lambda x: x.take(WHERE)),
    "index_copy": ("index_copy", lambda x: x.index_copy(0, WHERE, x[:2])),
    "index_copy_": ("index_copy_", lambda x: x.index_copy_(0, WHERE, x[:2].clone())),
    "index_copy_ of real": ("index_copy_", lambda x: x.index_copy_(0, WHERE, pyqref.ones(2, 4))),
    "index_copy_ to real": (
        "index_copy_",
        lambda x: pyqref.ones(3, 4).index_copy_(0, WHERE, x[:2]),
    ),
    "index_fill": ("index_fill", lambda x: x.index_fill(0, WHERE, 0.5)),
    "index_fill_": ("index_fill_", lambda x: x.index_fill_(0, WHERE, 0.5)),
    "masked_scatter": ("masked_scatter", lambda x: x.masked_scatter(MASK, x)),
    "masked_scatter_": ("masked_scatter_", lambda x: x.masked_scatter_(MASK, x.clone())),
    "masked_scatter_ of real": (
        "masked_scatter_",
        lambda x: x.masked_scatter_(MASK, pyqref.ones(3, 4)),
    ),
    "index_put to real": ("index_put", lambda x: pyqref.ones(3, 4).index_put((WHERE,), x[0])),
    "masked_fill of real": ("masked_fill", lambda x: pyqref.ones(3, 4).masked_fill(MASK, x[0, 0])),
}


def _tensor(kind: Any) -> Any:
    integers = np.arange(12).reshape(3, 4)
    if kind == "per channel":
        return make_per_channel(integers.astype(np.uint8), [0.1] * 3, [3] * 3, 0, pyqref.quint8)
    return make_per_tensor(integers.astype(kind.numpy_dtype), 0.1, 3, kind)


@pytest.mark.parametrize("kind", [pyqref.quint8, pyqref.qint8, pyqref.qint32, "per channel"])
@pytest.mark.parametrize("case", REFUSED)
def test_what_torch_refuses(case: str, kind: Any) -> None:
    """The error names the function, and nothing is changed."""
    name, run = REFUSED[case]
    x = _tensor(kind)
    before = x._array.copy()
    with pytest.raises(RuntimeError, match=f"^{name} is not defined for quantized tensors"):
        run(x)
    assert np.array_equal(before, x._array)


WRITTEN: dict[str, Callable[[Any, Any], Any]] = {
    "index_put": lambda x, values: x.index_put((WHERE,), values),
    "index_put_": lambda x, values: x.index_put_((WHERE,), values),
    "assignment": lambda x, values: x.__setitem__(WHERE, values),
    "assignment under a mask": lambda x, values: x.__setitem__(MASK[:, 0], values),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_only_real_numbers_are_written_at_indices(name: str) -> None:
    """To one quantized tensor from another, as to one with channels."""
    x = _tensor(pyqref.quint8)
    with pytest.raises(RuntimeError, match="must be real numbers; call dequantize"):
        WRITTEN[name](x, x[0])
    with pytest.raises(RuntimeError, match="is defined for per tensor quantized tensors"):
        WRITTEN[name](_tensor("per channel"), pyqref.ones(4))
    with pytest.raises(RuntimeError, match="shape mismatch"):
        WRITTEN[name](x, pyqref.ones(3, 4))
    assert np.array_equal(np.arange(12).reshape(3, 4), x._array)


def test_nothing_is_added_at_indices() -> None:
    with pytest.raises(RuntimeError, match=r"index_put\(accumulate=True\) is not defined"):
        _tensor(pyqref.quint8).index_put_((WHERE,), pyqref.ones(4), accumulate=True)
