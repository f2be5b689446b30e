"""Layers that are called again: few frames from the module to the kernel, and no call mistaken."""

from __future__ import annotations

import copy
import itertools
import pickle
import sys
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import kernels
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq

#: Of Python functions, from ``module(x)`` to the kernel.
MOST_FRAMES = 8
LAYERS: dict[str, Any] = {
    "Conv1d": lambda: nnq.Conv1d(8, 8, 3, padding=1),
    "Conv2d": lambda: nnq.Conv2d(8, 8, 3, padding=1),
    "Conv3d": lambda: nnq.Conv3d(8, 8, 3, padding=1),
    "ConvReLU2d": lambda: nniq.ConvReLU2d(8, 8, 3, padding=1),
    "ConvTranspose2d": lambda: nnq.ConvTranspose2d(8, 8, 3, stride=2),
    "Linear": lambda: nnq.Linear(8, 8),
    "LinearReLU": lambda: nniq.LinearReLU(8, 8),
}
SHAPES = {"Conv1d": (2, 8, 5), "Conv3d": (2, 8, 5, 5, 5), "Linear": (2, 8), "LinearReLU": (2, 8)}


def quantized(rng: np.random.Generator, *shape: int, dtype: Any = pyqref.quint8) -> Any:
    real = pyqref.tensor(rng.standard_normal(shape).astype(np.float32))
    return pyqref.quantize_per_tensor(real, 0.05, 128 if dtype is pyqref.quint8 else 0, dtype)


def layer_and_input(name: str) -> tuple[Any, Any]:
    """A layer with weights and a bias, and what it takes."""
    rng = np.random.default_rng(0)
    layer = LAYERS[name]()
    weight = quantized(rng, *layer.weight().shape, dtype=pyqref.qint8)
    layer.set_weight_bias(weight, pyqref.tensor(rng.standard_normal(8).astype(np.float32)))
    layer.scale, layer.zero_point = 0.25, 100
    return layer, quantized(rng, *SHAPES.get(name, (2, 8, 5, 5)))


def integers(y: Any) -> list[Any]:
    answer: list[Any] = y.int_repr().tolist()
    return answer


def afresh(layer: Any, x: Any) -> list[Any]:
    """Return the result of a copy of the layer that was never called."""
    return integers(copy.deepcopy(layer)(x))


@pytest.mark.parametrize("name", LAYERS)
def test_few_frames_from_module_to_kernel(name: str) -> None:
    """A call that is like the one before runs at most eight Python functions."""
    layer, x = layer_and_input(name)
    layer(x)
    called: list[str] = []

    def tell(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            called.append(f"{frame.f_code.co_filename}:{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(tell)
    try:
        layer(x)
    finally:
        sys.setprofile(before)
    assert len(called) <= MOST_FRAMES, called


@pytest.mark.parametrize("name", LAYERS)
def test_what_has_changed_since_the_last_call_is_seen(name: str) -> None:
    """Other parameters, another bias, range, input or kernel: as a layer that is called first."""
    layer, x = layer_and_input(name)
    results = [integers(layer(x))]
    layer.scale = 0.5
    results.append(integers(layer(x)))
    layer.zero_point = 90
    results.append(integers(layer(x)))
    layer._packed_weight().bias_tensor[1] = 40.0
    results.append(integers(layer(x)))
    layer._packed_weight().bias_tensor.numpy()[2] = -40.0
    results.append(integers(layer(x)))
    layer.keep_range(85, 110)
    results.append(integers(layer(x)))
    assert afresh(layer, x) == results[-1]
    other = pyqref.quantize_per_tensor(x.dequantize(), 0.1, 120, pyqref.quint8)
    results.append(integers(layer(other)))
    assert all(one != next_one for one, next_one in itertools.pairwise(results))
    assert afresh(layer, other) == results[-1]
    assert integers(layer(other[:1])) == integers(layer(other))[:1]
    with kernels.use("reference"):
        assert results[-1] == integers(layer(other))
    assert results[-1] == integers(layer(other))


@pytest.mark.parametrize("name", LAYERS)
def test_copies_of_a_called_layer_begin_anew(name: str) -> None:
    """Values that a call prepared are neither copied nor pickled."""
    layer, x = layer_and_input(name)
    expected = integers(layer(x))
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert "prepared" not in vars(copied._packed_weight())
        assert expected == integers(copied(x))


@pytest.mark.parametrize("name", LAYERS)
def test_a_second_call_is_refused_as_a_first_one_is(name: str) -> None:
    """A layer says once what is wrong with its input, and parameters are checked if they change."""
    layer, x = layer_and_input(name)
    layer.scale, layer.zero_point = 1.0, 1
    for _ in range(2):
        layer(x)
        with pytest.raises(RuntimeError, match="takes a quantized tensor, got one of") as refused:
            layer(x.dequantize())
        assert refused.value.__suppress_context__
        with pytest.raises(TypeError, match="takes a quantized tensor, got a"):
            layer([1.0])
        layer.zero_point = 1.5
        with pytest.raises(TypeError, match="zero_point must be"):
            layer(x)
        layer.zero_point = 1


def test_an_addition_in_the_same_rounding_is_called_again_as_at_first() -> None:
    """The addition is called again with other tensors, other grids and other shapes."""
    rng = np.random.default_rng(0)
    layer = nniq.ConvAdd2d(8, 8, 3, padding=1)
    weight = quantized(rng, 8, 8, 3, 3, dtype=pyqref.qint8)
    layer.set_weight_bias(weight, pyqref.tensor(rng.standard_normal(8).astype(np.float32)))
    layer.scale, layer.zero_point = 0.25, 100
    x, y = quantized(rng, 2, 8, 5, 5), quantized(rng, 2, 8, 5, 5)
    coarse = pyqref.quantize_per_tensor(y.dequantize(), 0.5, 3, pyqref.quint8)
    signed = quantized(rng, 2, 8, 5, 5, dtype=pyqref.qint8)
    packed = layer._packed_params
    operation = pyqref.ops.quantized.conv2d_add
    seen = []
    for first, second in ((x, y), (x, y), (y, x), (x, coarse), (x, y[:1, :1]), (x[:1], y[:1])):
        expected = integers(operation(first, second, copy.deepcopy(packed), 0.25, 100))
        seen.append(integers(layer(first, second)))
        assert expected == seen[-1]
    assert seen[0] == seen[1] != seen[2]
    expected = integers(operation(x, signed, copy.deepcopy(packed), 0.25, 100))
    for _ in range(2):
        assert expected == integers(operation(x, signed, packed, 0.25, 100))
    with pytest.raises(RuntimeError, match="qaccum must have the shape"):
        layer(x, y[:, :3])
    with kernels.use("reference"):
        assert seen[0] == integers(layer(x, y))
