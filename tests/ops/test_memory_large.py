"""Operations that are cut so as not to hold everything: dynamic, fused, long rows, views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ops.test_memory import (
    COMPILED,
    ON_IMAGES,
    OUT,
    SCRATCH,
    Operation,
    convolution,
    dynamic,
    ops,
    quantized,
    real,
    scratch,
)

import pyqref
from pyqref import _kernels
from pyqref.nn import functional as F
from pyqref.tensor.quantized import make_per_tensor

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


def far(groups: int, kernel: int, dilation: int, *size: int, last: bool = True) -> Operation:
    """Many taps, or taps that are far apart."""
    weight = quantized(128, 128 // groups, kernel, kernel, dtype=pyqref.qint8, zero_point=0)
    padding = [kernel // 2 * dilation] * 2
    packed = ops.conv2d_prepack(weight, pyqref.zeros(128), 1, padding, [dilation] * 2, groups)
    x = quantized(1, 128, *size, last=last)
    return lambda: ops.conv2d(x, packed, *OUT)


def counted(x: Any) -> Operation:
    """An observer has no result: it returns its input."""
    observer = pyqref.quantization.HistogramObserver()

    def run() -> None:
        observer(x)

    return run


def passed_back() -> Operation:
    """A gradient that lies in another order than the numbers whose mask lets it through."""
    gradient, mask = real(2000, 1500).T, np.ones((1500, 2000), np.bool_)
    return lambda: pyqref.from_numpy(_kernels.straight_through(gradient._array, mask))


def passed_back_by_bits() -> Operation:
    """Pass gradients back by a mask that a kernel made."""
    gradient = real(2000, 1500).T
    _, mask = _kernels.fake_quantize_per_tensor(np.ones((1500, 2000), np.float32), 1, 0, 0, 1)
    return lambda: pyqref.from_numpy(_kernels.straight_through(gradient._array, mask))


def normalized(shape: tuple[int, ...], groups: int) -> Operation:
    x = quantized(*shape, last=True)
    one, zero = pyqref.ones(shape[1]), pyqref.zeros(shape[1])
    return lambda: ops.group_norm(x, groups, one, zero, 1e-5, *OUT)


def softmax_along(shape: tuple[int, ...], dim: int) -> Operation:
    x = quantized(*shape)
    return lambda: ops.softmax(x, dim, *OUT)


def reduced(run: Callable[[Any], Any], shape: tuple[int, ...], last: bool) -> Operation:
    x = quantized(*shape, last=last)
    return lambda: run(x)


def pooled(run: Callable[[Any], Any], *shape: int) -> Operation:
    x = quantized(*shape)[..., ::2]
    return lambda: run(x)


#: Windows that alone are larger than may be copied, or see more lines than may be copied.
POOLED: dict[str, Callable[[], Operation]] = {
    "max_pool2d, large": lambda: pooled(
        lambda x: ops.max_pool2d(x, [1100, 1000], [400, 400], [1, 1], [1, 1], False),
        *(1, 1, 1500, 3000),
    ),
    "max_pool2d, far": lambda: pooled(
        lambda x: ops.max_pool2d(x, [3, 3], [100, 90], [1, 1], [600, 650], False),
        *(1, 1, 1500, 3000),
    ),
    "avg_pool2d, large": lambda: pooled(
        lambda x: F.avg_pool2d(x, (1100, 1000), 400, 1), 1, 1, 1500, 3000
    ),
    "avg_pool2d, long lines": lambda: pooled(lambda x: F.avg_pool2d(x, 3), 1, 2, 4, 2_000_000),
    "avg_pool1d, long": lambda: pooled(lambda x: F.avg_pool1d(x, 1_200_000, 9000), 1, 2, 2_500_000),
    "avg_pool3d, large": lambda: pooled(
        lambda x: F.avg_pool3d(x, (90, 110, 120), 9), 1, 1, 100, 120, 260
    ),
    "adaptive_avg_pool2d, large": lambda: pooled(
        lambda x: F.adaptive_avg_pool2d(x, (1, 2)), 1, 2, 1500, 4000
    ),
    "adaptive_avg_pool2d, more results": lambda: pooled(
        lambda x: F.adaptive_avg_pool2d(x, (1500, 1500)), 1, 2, 400, 800
    ),
    "avg_pool1d, one channel": lambda: reduced(
        lambda x: F.avg_pool1d(x, 2), (1, 1, 1_000_000), False
    ),
    "adaptive_avg_pool2d, more than 32 bits": lambda: reduced(
        lambda x: F.adaptive_avg_pool2d(x, 1), (1, 1, 3000, 3000), False
    ),
}

MOMENTS = {
    f"{name}, {shape}, {'last' if last else 'first'}": (
        lambda run=run, shape=shape, last=last: reduced(run, shape, last)
    )
    for name, run in {
        "mean of channels": lambda x: x.mean(1),
        "mean of images": lambda x: x.mean([0], keepdim=True),
        "std": pyqref.std,
        "std of channels": lambda x: pyqref.std(x, 1),
        "std of the last": lambda x: pyqref.std(x, -1),
    }.items()
    for shape in ((2, 64, 128, 144), (2, 1_000_000), (200_000, 8))
    for last in ((False, True) if len(shape) == 4 else (False,))
} | {
    "mean of the last, turned": lambda: of_view(lambda x: x.mean(-1)),
    "mean of all, turned": lambda: of_view(lambda x: x.mean()),
    "std of all, turned": lambda: of_view(pyqref.std),
}


def of_view(run: Callable[[Any], Any]) -> Operation:
    x = quantized(150, 40, 500).permute(2, 0, 1)
    return lambda: run(x)


def joined(run: Callable[[list[Any]], Any], orders: tuple[bool, bool], dtype: Any) -> Operation:
    """Two tensors on different grids."""
    x, y = (
        make_per_tensor(
            quantized(2, 64, 100, 100, last=last)._array.astype(dtype.numpy_dtype), scale, 3, dtype
        )
        for last, scale in zip(orders, (0.05, 0.07), strict=True)
    )
    return lambda: run([x, y])


JOINED = {
    f"{run.__name__}, {axis}, {orders}, {dtype}": (
        lambda run=run, axis=axis, orders=orders, dtype=dtype: joined(
            lambda tensors: run(tensors, axis), orders, dtype
        )
    )
    for run in (pyqref.cat, pyqref.stack)
    for axis in (0, 1)
    for orders in ((False, False), (True, True), (False, True))
    for dtype in (pyqref.quint8, pyqref.qint32)
}


def packed_linear(columns: int, depth: int, zero_point: int = 0) -> Any:
    weight = quantized(columns, depth, dtype=pyqref.qint8, zero_point=zero_point)
    return ops.linear_prepack(weight, pyqref.zeros(columns))


def of_packed(name: str, x: Any, packed: Any, *rest: Any) -> Operation:
    return lambda: getattr(ops, name)(x, packed, *rest)


def given_grid(x: Any, relu: str) -> Operation:
    packed = packed_linear(256, 512)
    run = getattr(ops, f"linear_with_input_q_dq_qweight_dq_{relu}output_fp32")
    return lambda: run(x, 0.1, 7, packed)


def on_integers(function: Callable[..., Any], x: Any, *scales: float) -> Operation:
    """``linear_float`` and its like, of a view with gaps."""
    packed = packed_linear(256, 512)
    own = packed.packed, packed.weight_zero_points

    def run() -> Any:
        return pyqref.from_numpy(function(x._array, x.q_zero_point(), *own, *scales))

    return run


PRODUCTS: dict[str, Callable[[], Operation]] = {
    "linear, few features": lambda: of_packed(
        "linear", quantized(90000, 20)[:, 1:17], packed_linear(256, 16), *OUT
    ),
    "linear_dynamic, cropped along three axes": lambda: of_packed(
        "linear_dynamic", real(20, 21, 22, 600)[:, 1:, 2:, 1:513], packed_linear(256, 512)
    ),
    "linear_float, cropped": lambda: on_integers(
        _kernels.linear_float, quantized(6000, 600)[:, 1:513], 0.1, 0.1
    ),
    "linear_accumulator, cropped": lambda: on_integers(
        _kernels.linear_accumulator, quantized(6000, 600)[:, 1:513]
    ),
    "given grid": lambda: given_grid(real(6000, 512), ""),
    "given grid, cropped": lambda: given_grid(real(6000, 600)[:, 1:513], ""),
    "given grid, relu": lambda: given_grid(real(6000, 512), "relu_"),
} | {
    f"{name}, {depth} deep, zero point {zero_point}": (
        lambda name=name, make=make, depth=depth, zero_point=zero_point, rest=rest: of_packed(
            name, make(60, depth), packed_linear(40, depth, zero_point), *rest
        )
    )
    for name, make, rest in (("linear", quantized, OUT), ("linear_dynamic", real, ()))
    for depth, zero_point in ((40_000, 0), (40_000, 3), (70_000, 0))
}


def layers(name: str, **options: Any) -> Operation:
    """Layers over one another, in training."""
    module, x = getattr(dynamic, name)(64, 128, num_layers=3, **options), real(40, 200, 64)
    return lambda: module(x)


LAYERS = {
    f"{name}, {options}": lambda name=name, options=options: layers(name, **options)
    for name in ("LSTM", "GRU")
    for options in (
        {"bidirectional": True},
        {"bidirectional": True, "dropout": 0.5},
        {"dropout": 0.5},
    )
}


@pytest.mark.skipif(not COMPILED, reason="the equations in NumPy take what they need")
@pytest.mark.parametrize("name", ["LSTM", "GRU"])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_two_directions_of_float16_take_half_a_result(name: str, n_threads: int) -> None:
    """The one exception that is known: neither direction may replace what the other one wants."""
    half = 40 * 200 * 128 * 4
    make = LAYERS_OF_FLOAT16[name]
    assert scratch(make, n_threads) - half <= SCRATCH * n_threads


LAYERS_OF_FLOAT16 = {
    name: lambda name=name: layers(name, bidirectional=True, dtype=pyqref.float16)
    for name in ("LSTM", "GRU")
}

#: More products than 32 bits hold the sums of.
DEEP = (
    convolution(2, 8192, 8, 40, 3)
    | convolution(2, 1000, 20, 20, 6, 1, 1, 3)
    | convolution(2, 16384, 4, 40, 3, 1, 2)
    | {
        f"dynamic, deep, {'last' if last else 'first'}{', transposed' * transposed}": (
            lambda last=last, t=transposed: dynamic_convolution(2, 8192, 8, 40, 3, last, t)
        )
        for last in (False, True)
        for transposed in (False, True)
    }
)

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
        f"taps far apart, {groups} groups": lambda groups=groups: far(groups, 3, 1200, 10, 1500)
        for groups in (16, 128)
    }
    | {
        f"many taps, {'last' if last else 'first'}": (
            lambda last=last: far(128, 64, 1, 70, 72, last=last)
        )
        for last in (False, True)
    }
    | {
        "group_norm, 1 group": lambda: normalized((2, 64, 200, 200), 1),
        "group_norm, 2 groups": lambda: normalized((2, 64, 200, 200), 2),
        "instance_norm, 4 channels": lambda: normalized((1, 4, 1000, 1000), 4),
        "straight_through": passed_back,
        "straight_through, bits": passed_back_by_bits,
        "histogram": lambda: counted(real(8, 64, 128, 200)[..., 1:]),
        "softmax, last": lambda: softmax_along((4, 500_000), 1),
        "softmax, first": lambda: softmax_along((500_000, 4), 0),
    }
)


OPERATIONS = VIEWS | DEEP | LARGE | POOLED | MOMENTS | JOINED | PRODUCTS | LAYERS


@pytest.mark.skipif(not COMPILED, reason="the equations in NumPy take what they need")
@pytest.mark.filterwarnings("ignore:(cat|stack) puts tensor")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_takes_at_most_a_mebibyte_a_thread(name: str, n_threads: int) -> None:
    assert scratch(OPERATIONS[name], n_threads) <= SCRATCH * n_threads
