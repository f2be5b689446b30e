"""A float layer, loss or operator fed a quantized tensor says where, and what is missing."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from nn.layer_table import FAMILIES, Row

import pyqref
from pyqref import nn

MORE = [
    Row("AlphaDropout", (0.5,), ((3, 4),)),
    Row("FeatureAlphaDropout", (0.5,), ((3, 4, 2),)),
    Row("Dropout", (0.5,), ((3, 4),)),
    Row("Dropout1d", (0.5,), ((3, 4, 2),)),
    Row("Dropout3d", (0.5,), ((3, 4, 2, 2, 2),)),
    Row("LPPool1d", (2, 2), ((2, 3, 5),)),
    Row("LPPool3d", (2, 2), ((2, 3, 4, 4, 4),)),
    Row("HingeEmbeddingLoss", (), ((3, 4), ("sign", 3, 4))),
    Row("SoftMarginLoss", (), ((3, 4), ("sign", 3, 4))),
    Row("RNN", (4, 5), ((6, 3, 4), (1, 3, 5))),
    Row("GRU", (4, 5), ((6, 3, 4), (1, 3, 5))),
    Row("GRUCell", (4, 5), ((3, 4), (3, 5))),
    Row("Flatten", (), ((3, 4, 2),)),
    Row("Unflatten", (1, (2, 2)), ((3, 4, 2),)),
    Row("Identity", (), ((3, 4, 2),)),
]
ROWS = [row for family in FAMILIES.values() for row in family] + MORE
CHECKED = [(row, place) for row in ROWS for place in range(len(row.inputs))]


class Block(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *inputs: Any) -> Any:
        return self.layer(*inputs)


class Net(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.block = Block(layer)

    def forward(self, *inputs: Any) -> Any:
        return self.block(*inputs)


def _quantized(x: Any, dtype: Any = pyqref.quint8) -> Any:
    return pyqref.quantize_per_tensor(x.float(), 0.05, 20, dtype)


def _first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


def _outcome(row: Row, inputs: list[Any]) -> Any:
    """Return the result of a new layer within a model, always the same one, or its error."""
    pyqref.manual_seed(0)
    model = Net(row.make(nn))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _first(model(*inputs))
    except RuntimeError as error:
        return error


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8])
@pytest.mark.parametrize(("row", "place"), CHECKED, ids=lambda each: getattr(each, "id", each))
def test_a_layer_names_its_path(row: Row, place: int, dtype: Any) -> None:
    """It has a quantized form, within a step of the real one, or says that a stub is missing."""
    inputs = [pyqref.from_numpy(each.copy()) for each in row.arrays()]
    inputs[place] = _quantized(inputs[place], dtype)
    real = [each.dequantize() if each.is_quantized else each.clone() for each in inputs]
    outcome = _outcome(row, inputs)
    if isinstance(outcome, RuntimeError):
        text = str(outcome)
        if "return_indices=False only" in text or "mode of a quantized tensor must be" in text:
            return  # there is a quantized form of the layer with another option
        assert text.startswith("block.layer")
        assert f" takes float tensors, got one of {dtype}: a DeQuantStub is missing before" in text
        return
    expected = _outcome(row, real)
    step = outcome.q_scale() if outcome.is_quantized else 0.0
    assert np.all(abs(expected.numpy() - outcome.dequantize().numpy()) <= 1.001 * step)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    each.__name__: each
    for each in (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.pow, operator.matmul, operator.and_, operator.or_, operator.xor),
        *(operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv),
        *(operator.imod, operator.ipow, pyqref.maximum, nn.functional.mse_loss, pyqref.atan2),
    )
}
QUANTIZED_FORM = {
    "add": ("self.f.add(x, y)", "self.f.add_scalar(x, number)"),
    "mul": ("self.f.mul(x, y)", "self.f.mul_scalar(x, number)"),
    "matmul": ("self.f.matmul(x, y)", ""),
    "sub": ("", "self.f.add_scalar(x, -number)"),
    "truediv": ("", "self.f.mul_scalar(x, 1 / number)"),
}
QUANTIZED_FORM |= {f"i{name}": forms for name, forms in QUANTIZED_FORM.items()}


@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_names_the_module(name: str) -> None:
    """The module that applies it to a quantized operand, on either side, and what to use."""
    q, x = _quantized(pyqref.ones(3, 3)), pyqref.ones(3, 3)
    with_tensor, with_number = QUANTIZED_FORM.get(name, ("", ""))
    pairs = [((q, q), with_tensor), ((q, x), with_tensor), ((x.clone(), q), with_tensor)]
    if name not in ("matmul", "maximum", "mse_loss", "atan2"):
        pairs.append(((q, 2.0), with_number))
    for operands, form in pairs:
        before = [each.clone() for each in operands if isinstance(each, pyqref.Tensor)]
        with pytest.raises(RuntimeError) as raised:
            Net(lambda a, b: OPERATORS[name](a, b))(*operands)
        text = str(raised.value)
        assert "is not defined for quantized tensors in block (Block), got one of" in text
        assert "a DeQuantStub is missing before it" in text
        assert text.endswith(form)
        assert all(a.equal(b) for a, b in zip(operands, before, strict=False))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("softmin", lambda q: nn.functional.softmin(q, 1)),
        ("batch_norm", lambda q: nn.functional.batch_norm(q, pyqref.ones(3), pyqref.ones(3))),
        ("round", lambda q: q.round()),
        ("log_softmax", lambda q: q.log_softmax(1)),
        ("linear", lambda q: nn.functional.linear(q, pyqref.ones(2, 3))),
        ("conv1d", lambda q: nn.functional.conv1d(q[None], pyqref.ones(1, 3, 1))),
        ("rms_norm", lambda q: nn.functional.rms_norm(q, (3,))),
        ("clamp", lambda q: q.clamp(pyqref.zeros(3, 3))),
        ("mse_loss", lambda q: nn.functional.mse_loss(q, q)),
        ("add_", lambda q: q.add_(1.0)),
        ("floor_divide", lambda q: 2.0 // q),
        ("div", lambda q: 2.0 / q),
    ],
)
def test_no_internal_names(name: str, call: Any) -> None:
    """The function has the name by which it was called."""
    with pytest.raises(RuntimeError, match=f"^{name} is not defined for quantized tensors, got"):
        call(_quantized(pyqref.ones(3, 3)))
