"""Convolutions and linear maps of integers are exact, and wrap around as their type does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref

TYPES = ("uint8", "int8", "int16", "int32", "int64")
#: Function, shapes of input and weight, groups. Small ones, so that Python's integers check them.
LAYERS: list[tuple[str, tuple[int, ...], tuple[int, ...], int]] = [
    ("conv1d", (2, 4, 7), (6, 2, 3), 2),
    ("conv2d", (1, 2, 5, 5), (3, 2, 3, 3), 1),
    ("conv2d", (2, 5, 5), (2, 2, 3, 2), 1),
    ("conv2d", (1, 3, 5, 5), (3, 1, 3, 3), 3),
    ("conv3d", (1, 2, 3, 3, 3), (2, 2, 2, 2, 2), 1),
    ("conv_transpose1d", (2, 4, 3), (4, 3, 3), 1),
    ("conv_transpose2d", (1, 2, 3, 3), (2, 2, 3, 3), 2),
    ("linear", (3, 7), (4, 7), 1),
]


def operands(layer: Any, dtype: str, big: bool) -> tuple[list[np.ndarray], dict[str, Any]]:
    name, input_shape, weight_shape, groups = layer
    info = np.iinfo(dtype)
    low, high = (info.min, info.max) if big else (max(info.min, -9), 9)
    rng = np.random.default_rng(1)
    outputs = weight_shape[1] * groups if "transpose" in name else weight_shape[0]
    arrays = [
        rng.integers(low, high, shape, dtype=dtype, endpoint=True)
        for shape in (input_shape, weight_shape, (outputs,))
    ]
    options = {} if name == "linear" else {"stride": 2, "padding": 1, "groups": groups}
    return arrays, options


def run(library: Any, name: str, arrays: list[np.ndarray], options: dict[str, Any]) -> np.ndarray:
    function = getattr(library.nn.functional, name)
    return function(*map(library.from_numpy, arrays), **options).numpy()


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: f"{layer[0]}-{layer[3]}")
def test_sums_are_exact(layer: Any, dtype: str, big: bool) -> None:
    """The layer is linear: sums of 16-bit parts, each exact in double, give it in any type."""
    arrays, options = operands(layer, dtype, big)
    total = np.zeros((), object)
    for i, x in enumerate(parts(arrays[0])):
        for j, weight in enumerate(parts(arrays[1])):
            zero = np.zeros(arrays[2].shape)
            product = run(pyqref, layer[0], [x, weight, zero], options)
            total = total + product.astype(np.int64).astype(object) * 2 ** (16 * (i + j))
    bias = arrays[2].astype(object)
    total = total + (bias if layer[0] == "linear" else bias.reshape(-1, *[1] * (len(layer[2]) - 2)))
    bits = np.iinfo(dtype).bits
    expected = (total % 2**bits).astype(np.uint64).astype(dtype)
    actual = run(pyqref, layer[0], arrays, options)
    assert arrays[0].dtype == actual.dtype
    assert expected.tolist() == actual.tolist()


def parts(values: np.ndarray) -> list[np.ndarray]:
    """Digits in base 2**16, from the lowest; the highest has the sign."""
    digits, rest = [], values.astype(object)
    for _ in range(max(1, np.iinfo(values.dtype).bits // 16) - 1):
        digits.append((rest % 2**16).astype(np.float64))
        rest = rest // 2**16
    return [*digits, rest.astype(np.float64)]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: f"{layer[0]}-{layer[3]}")
def test_as_torch(layer: Any, dtype: str, big: bool) -> None:
    """The integers of torch, wherever it has the operation."""
    torch = pytest.importorskip("torch")
    arrays, options = operands(layer, dtype, big)
    try:
        expected = run(torch, layer[0], arrays, options)
    except NotImplementedError:
        pytest.skip("torch does not have it")
    actual = run(pyqref, layer[0], arrays, options)
    assert expected.dtype == actual.dtype
    assert expected.tolist() == actual.tolist()


def test_what_is_refused() -> None:
    """Truth values are no numbers, and types do not mix."""
    ones, weight = pyqref.ones(1, 1, 3, 3), pyqref.ones(1, 1, 2, 2)
    with pytest.raises(RuntimeError, match=r"floating point type, got pyqref\.bool"):
        pyqref.nn.functional.conv2d(ones.bool(), weight.bool())
    with pytest.raises(RuntimeError, match=r"same dtype, got pyqref\.int32 and"):
        pyqref.nn.functional.conv2d(ones.int(), weight.to(pyqref.int8))
