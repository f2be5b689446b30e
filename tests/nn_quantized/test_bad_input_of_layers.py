"""Anything at the doors of activations, norms and embeddings: an answer or a clear error."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import nn
from pyqref.nn.quantized import functional as qF
from pyqref.ops import quantized as ops

nnq = nn.quantized
CLEAR = (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError, OverflowError)

anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.floats(allow_nan=True),
    st.text(max_size=2),
    st.lists(st.integers(0, 3), max_size=3),
)
shapes = st.lists(st.integers(0, 4), max_size=5)
dtypes = st.sampled_from([pyqref.quint8, pyqref.qint8, pyqref.qint32])


@st.composite
def tensors(draw: st.DrawFn) -> Any:
    """Quantized tensors of any small shape, float tensors, and what is no tensor."""
    shape = draw(shapes)
    real = pyqref.ones(*shape) if shape else pyqref.tensor(1.0)
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return draw(st.sampled_from([real, real.long(), 3, None, "x"]))
    return pyqref.quantize_per_tensor(real, 0.1, 3, draw(dtypes))


LAYERS = {
    "hardswish": lambda: nnq.Hardswish(0.1, 3),
    "elu": lambda: nnq.ELU(0.1, 3),
    "leaky_relu": lambda: nnq.LeakyReLU(0.1, 3),
    "sigmoid": lambda: nnq.Sigmoid(0.1, 3),
    "softmax": lambda: nnq.Softmax(None, 0.1, 3),
    "prelu": lambda: nnq.PReLU(0.1, 3, 2),
    "layer_norm": lambda: nnq.LayerNorm([2, 3], None, None, 0.1, 3),
    "group_norm": lambda: nnq.GroupNorm(2, 4, None, None, 0.1, 3),
    "instance_norm": lambda: nnq.InstanceNorm2d(4, None, None, 0.1, 3),
    "batch_norm": lambda: nnq.BatchNorm2d(3),
    "batch_norm_relu": lambda: nn.intrinsic.quantized.BNReLU3d(3),
    "embedding": lambda: nnq.Embedding(4, 3),
    "embedding_bag": lambda: nnq.EmbeddingBag(4, 3, mode="mean", dtype=pyqref.quint4x2),
}


@pytest.mark.parametrize("name", LAYERS)
@settings(max_examples=30, deadline=None)
@given(x=tensors())
def test_any_input_of_a_layer(name: str, x: Any) -> None:
    """A tensor, or an error that says what is wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            y = LAYERS[name]()(x)
        except CLEAR:
            return
    assert isinstance(y, pyqref.Tensor)


FUNCTIONS: dict[str, tuple[Any, int]] = {
    "hardswish": (qF.hardswish, 2),
    "hardsigmoid": (qF.hardsigmoid, 0),
    "elu": (qF.elu, 3),
    "celu": (qF.celu, 3),
    "leaky_relu": (qF.leaky_relu, 4),
    "threshold": (qF.threshold, 2),
    "max_pool1d": (qF.max_pool1d, 3),
    "avg_pool3d": (qF.avg_pool3d, 3),
    "adaptive_avg_pool3d": (qF.adaptive_avg_pool3d, 1),
    "softmax": (ops.softmax, 3),
    "layer_norm": (ops.layer_norm, 6),
    "group_norm": (ops.group_norm, 6),
    "instance_norm": (ops.instance_norm, 5),
    "dropout": (ops.dropout, 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=50, deadline=None)
@given(x=tensors(), data=st.data())
def test_any_arguments_of_a_function(name: str, x: Any, data: st.DataObject) -> None:
    """A tensor, or an error that says what is wrong."""
    function, count = FUNCTIONS[name]
    arguments = [data.draw(anything) for _ in range(count)]
    try:
        y = function(x, *arguments)
    except CLEAR:
        return
    assert isinstance(y, pyqref.Tensor)
