"""What would be held as a whole if it were not cut: dynamic and fused layers, long rows, views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ops.test_memory import (
    COMPILED,
    ON_IMAGES,
    OUT,
    SCRATCH,
    Operation,
    ops,
    quantized,
    real,
    scratch,
)

import pyqref

ORDERS: dict[str, Callable[[Any], Any]] = {
    "cropped": lambda x: x[:, :, 2:-1, 1:-2],
    "every other": lambda x: x[..., ::2],
    "exchanged": lambda x: x.permute(0, 1, 3, 2),
}
OBSERVER = pyqref.quantization.HistogramObserver()


def observe(x: Any) -> None:
    OBSERVER(x)


IN_ANY_ORDER: dict[str, Callable[[Any], Any]] = {
    **{
        name: ON_IMAGES[name]
        for name in ("relu", "clamp", "sigmoid", "dequantize", "prelu", "max_pool2d")
    },
    **{name: ON_IMAGES[name] for name in ("avg_pool2d", "adaptive_avg_pool2d", "bilinear")},
    **{name: ON_IMAGES[name] for name in ("group_norm", "instance_norm", "mean")},
    "add": lambda x: ops.add(x, x, *OUT),
    "quantize": lambda x: pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8),
    "fake_quantize": lambda x: pyqref.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255),
    "observe": observe,
}


def in_an_order(name: str, order: str) -> Operation:
    real_input = name in ("quantize", "fake_quantize", "observe")
    x = ORDERS[order](real(2, 64, 98, 200) if real_input else quantized(2, 64, 131, 300))
    return lambda: IN_ANY_ORDER[name](x)


VIEWS = {
    f"{name}, {order}": lambda name=name, order=order: in_an_order(name, order)
    for name in IN_ANY_ORDER
    for order in ORDERS
}


def dynamic_convolution(
    n: int, channels: int, size: int, outputs: int, kernel: int, last: bool, transposed: bool
) -> Operation:
    shape = (channels, outputs) if transposed else (outputs, channels)
    weight = quantized(*shape, *[kernel] * n, dtype=pyqref.qint8, zero_point=0)
    name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
    packed, x = getattr(ops, f"{name}_prepack")(weight, pyqref.zeros(outputs)), None
    x = real(1, channels, *[size] * n)
    x = x.contiguous(memory_format=pyqref.channels_last) if last else x
    return lambda: getattr(ops, f"{name}_dynamic")(x, packed)


def sum_of_convolution(groups: int, last: bool) -> Operation:
    weight = quantized(64, 64 // groups, 3, 3, dtype=pyqref.qint8, zero_point=0)
    packed = ops.conv2d_prepack(weight, pyqref.zeros(64), 1, 1, 1, groups)
    x, y = (quantized(2, 64, 72, 80, last=last) for _ in range(2))
    return lambda: ops.conv2d_add(x, y, packed, *OUT)


def counted(x: Any) -> Operation:
    """An observer has no result: it returns its input."""
    observer = pyqref.quantization.HistogramObserver()

    def run() -> None:
        observer(x)

    return run


def normalized(shape: tuple[int, ...], groups: int) -> Operation:
    x = quantized(*shape, last=True)
    one, zero = pyqref.ones(shape[1]), pyqref.zeros(shape[1])
    return lambda: ops.group_norm(x, groups, one, zero, 1e-5, *OUT)


def softmax_along(shape: tuple[int, ...], dim: int) -> Operation:
    x = quantized(*shape)
    return lambda: ops.softmax(x, dim, *OUT)


LARGE = (
    {
        f"dynamic {n}d, {'last' if last else 'first'}{', transposed' * transposed}": (
            lambda n=n, size=size, last=last, t=transposed: dynamic_convolution(
                n, 64, size, 32, 3, last, t
            )
        )
        for n, size in ((1, 30000), (2, 150), (3, 32))
        for last in ((False, True) if n == 2 else (False,))
        for transposed in (False, True)
    }
    | {
        f"conv2d_add, {groups} groups, {'last' if last else 'first'}": (
            lambda groups=groups, last=last: sum_of_convolution(groups, last)
        )
        for groups in (1, 8, 64)
        for last in (False, True)
    }
    | {
        "group_norm, 1 group": lambda: normalized((2, 64, 200, 200), 1),
        "group_norm, 2 groups": lambda: normalized((2, 64, 200, 200), 2),
        "instance_norm, 4 channels": lambda: normalized((1, 4, 1000, 1000), 4),
        "histogram": lambda: counted(real(8, 64, 128, 200)[..., 1:]),
        "softmax, last": lambda: softmax_along((4, 500_000), 1),
        "softmax, first": lambda: softmax_along((500_000, 4), 0),
    }
)


OPERATIONS = VIEWS | LARGE


@pytest.mark.skipif(not COMPILED, reason="the equations in NumPy take what they need")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_takes_at_most_a_mebibyte_a_thread(name: str, n_threads: int) -> None:
    assert scratch(OPERATIONS[name], n_threads) <= SCRATCH * n_threads
