"""No operation holds more than its inputs, its output, its weights and 1 MiB of scratch a thread.

``tracemalloc`` counts the arrays of NumPy, and what kernels take. What an operation took at most,
less its result, must be below 1 MiB a thread, however large its input is.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import kernels, nn
from pyqref.nn import functional as F
from pyqref.tensor.quantized import make_per_tensor

ops, dynamic = pyqref.ops.quantized, nn.quantized.dynamic
OUT = (0.1, 7)
Operation = Callable[[], Any]
SCRATCH = 1 << 20
COMPILED = [name for name in kernels.usable() if name != "reference"]


def quantized(
    *shape: int, last: bool = False, dtype: Any = pyqref.quint8, zero_point: int = 3
) -> Any:
    """A tensor whose channels are first in memory, or last."""
    storage = np.uint8 if dtype is pyqref.quint8 else np.int8
    integers = np.random.default_rng(0).integers(0, 120, shape).astype(storage)
    if last:
        integers = np.moveaxis(np.ascontiguousarray(np.moveaxis(integers, 1, -1)), -1, 1)
    return make_per_tensor(integers, 0.05, zero_point, dtype)


def real(*shape: int) -> Any:
    return pyqref.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def convolution(
    n: int,
    channels: int,
    size: int,
    outputs: int,
    kernel: int,
    stride: int = 1,
    groups: int = 1,
    zero_point: int = 0,
) -> dict[str, Callable[[], Operation]]:
    """The convolution and its transpose, of images in both orders."""

    def make(last: bool, transposed: bool) -> Operation:
        shape = (channels, outputs // groups) if transposed else (outputs, channels // groups)
        weight = quantized(*shape, *[kernel] * n, dtype=pyqref.qint8, zero_point=zero_point)
        name = f"conv_transpose{n}d" if transposed else f"conv{n}d"
        steps = [[stride] * n, [1] * n, *([[0] * n] if transposed else []), [1] * n, groups]
        packed = getattr(ops, f"{name}_prepack")(weight, pyqref.zeros(outputs), *steps)
        x = quantized(1, channels, *[size] * n, last=last)
        return lambda: getattr(ops, name)(x, packed, *OUT)

    what = f"{n}d {channels}x{size} -> {outputs}, {kernel}/{stride}, {groups} groups, {zero_point}"
    return {
        f"{what}, {order}{', transposed' * transposed}": lambda last=last, t=transposed: make(
            last, t
        )
        for last, order in ((False, "first"), (True, "last"))
        for transposed in (False, True)
    }


CONVOLUTIONS = (
    convolution(1, 64, 30000, 32, 4, 2)
    | convolution(2, 3, 800, 8, 7, 2)
    | convolution(2, 64, 150, 32, 3)
    | convolution(2, 256, 80, 64, 2)
    | convolution(2, 256, 60, 128, 3)  # transformed tiles
    | convolution(2, 64, 150, 64, 3, 1, 64)
    | convolution(2, 64, 150, 64, 4, 2, 64, 3)
    | convolution(2, 2048, 24, 2048, 3, 1, 2048, 3)
    | convolution(2, 2048, 24, 2048, 3, 1, 256, 3)
    | convolution(2, 64, 150, 32, 3, 1, 1, 3)
    | convolution(2, 64, 150, 64, 3, 1, 8)
    | convolution(2, 64, 150, 32, 3, 2, 32)
    | convolution(2, 2048, 24, 32, 3, 2, 16)
    | convolution(3, 32, 36, 16, 3, 2)
)


def linear(operation: Callable[..., Any], x: Any, *rest: Any) -> Operation:
    packed = ops.linear_prepack(quantized(256, 512, dtype=pyqref.qint8), pyqref.zeros(256))
    return lambda: operation(x, packed, *rest)


def float16(operation: Callable[..., Any]) -> Operation:
    packed, x = ops.linear_prepack_fp16(real(256, 512), pyqref.zeros(256)), real(4000, 512)
    return lambda: operation(x, packed)


LINEAR: dict[str, Callable[[], Operation]] = {
    "linear": lambda: linear(ops.linear, quantized(8000, 512), *OUT),
    "linear, cropped": lambda: linear(ops.linear, quantized(4000, 600)[:, 1:513], *OUT),
    "linear_dynamic, cropped": lambda: linear(ops.linear_dynamic, real(4000, 600)[:, 1:513]),
    "linear_dynamic, turned": lambda: linear(ops.linear_dynamic, real(512, 4000).permute(1, 0)),
    "linear_relu": lambda: linear(ops.linear_relu, quantized(8000, 512), *OUT),
    "linear_leaky_relu": lambda: linear(ops.linear_leaky_relu, quantized(8000, 512), *OUT, 0.1),
    "linear_tanh": lambda: linear(ops.linear_tanh, quantized(8000, 512), *OUT),
    "linear_dynamic": lambda: linear(ops.linear_dynamic, real(4000, 512)),
    "linear_relu_dynamic": lambda: linear(ops.linear_relu_dynamic, real(4000, 512)),
    "linear_dynamic_fp16": lambda: float16(ops.linear_dynamic_fp16),
    "linear_relu_dynamic_fp16": lambda: float16(ops.linear_relu_dynamic_fp16),
}

ONE, ZERO = pyqref.ones(64), pyqref.zeros(64)
IMAGES = (2, 64, 128, 144)
ON_IMAGES: dict[str, Callable[[Any], Any]] = {
    "relu": F.relu,
    "relu6": ops.relu6,
    "sigmoid": lambda x: ops.sigmoid(x, *OUT),
    "tanh": pyqref.tanh,
    "hardswish": lambda x: ops.hardswish(x, *OUT),
    "hardsigmoid": F.hardsigmoid,
    "hardtanh": F.hardtanh,
    "elu": lambda x: ops.elu(x, *OUT),
    "celu": lambda x: ops.celu(x, *OUT),
    "leaky_relu": lambda x: ops.leaky_relu(x, 0.1, False, *OUT),
    "clamp": lambda x: ops.clamp(x, 0.0, 1.0),
    "threshold": lambda x: ops.threshold(x, 0.1, 0.2),
    "prelu": lambda x: ops.prelu(x, quantized(64), *OUT),
    "softmax": lambda x: ops.softmax(x, 1, *OUT),
    "add_scalar": lambda x: ops.add_scalar(x, 1.5),
    "mul_scalar": lambda x: ops.mul_scalar(x, -1.5),
    "dropout": lambda x: ops.dropout(x, 0.5, 3),
    "max_pool2d": lambda x: ops.max_pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1], False),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 7),
    "nearest": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "layer_norm": lambda x: ops.layer_norm(
        x, [144], pyqref.ones(144), pyqref.zeros(144), 1e-5, *OUT
    ),
    "group_norm": lambda x: ops.group_norm(x, 8, ONE, ZERO, 1e-5, *OUT),
    "instance_norm": lambda x: ops.instance_norm(x, ONE, ZERO, 1e-5, *OUT),
    "batch_norm": lambda x: ops.batch_norm2d(x, ONE, ZERO, ZERO, ONE, 1e-5, *OUT),
    "batch_norm_relu": lambda x: ops.batch_norm2d_relu(x, ONE, ZERO, ZERO, ONE, 1e-5, *OUT),
    "dequantize": lambda x: x.dequantize(),
    "int_repr": lambda x: x.int_repr(),
    "mean": lambda x: x.mean([2, 3]),
}
PAIRS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: ops.add(x, y, *OUT),
    "add_relu": lambda x, y: ops.add_relu(x, y, *OUT),
    "mul": lambda x, y: ops.mul(x, y, *OUT),
    "cat": lambda x, y: ops.cat([x, y], 1, *OUT),
    "cat_relu": lambda x, y: ops.cat_relu([x, y], 1, *OUT),
    "cat on the same grid": lambda x, y: pyqref.cat([x, y], 1),
}
ELEMENTWISE = {
    f"{name}, {order}": lambda run=run, last=last: _of_one(run, last)
    for name, run in ON_IMAGES.items()
    for last, order in ((False, "first"), (True, "last"))
} | {
    f"{name}, {order} and {other}": lambda run=run, a=a, b=b: _of_two(run, a, b)
    for name, run in PAIRS.items()
    for a, order in ((False, "first"), (True, "last"))
    for b, other in ((False, "first"), (True, "last"))
}


def _of_one(run: Callable[[Any], Any], last: bool) -> Operation:
    x = quantized(*IMAGES, last=last)
    return lambda: run(x)


def _of_two(run: Callable[[Any, Any], Any], first: bool, second: bool) -> Operation:
    x, y = quantized(*IMAGES, last=first), quantized(*IMAGES, last=second)
    return lambda: run(x, y)


def broadcast() -> Operation:
    x, y = quantized(*IMAGES, last=True), quantized(2, 64, 1, 1)
    return lambda: ops.mul(x, y, *OUT)


def of_real(run: Callable[[Any], Any]) -> Operation:
    x = real(2, 64, 96, 100)
    return lambda: run(x)


def observer(name: str, *arguments: float) -> Operation:
    module = getattr(pyqref.quantization, name)(*arguments)

    def run(x: Any) -> Any:
        result = module(x)
        return None if result is x else result

    return of_real(run)


SCALES = pyqref.full((64,), 0.1)
HALVES = pyqref.full((64,), 0.5)
NUMBERS: dict[str, Callable[[], Operation]] = {
    "broadcast": broadcast,
    "quantize_per_tensor": lambda: of_real(
        lambda x: pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8)
    ),
    "quantize_per_channel": lambda: of_real(
        lambda x: pyqref.quantize_per_channel(x, SCALES, ZERO, 1, pyqref.quint8)
    ),
    "fake_quantize_per_tensor": lambda: of_real(
        lambda x: pyqref.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255)
    ),
    "fake_quantize_per_channel": lambda: of_real(
        lambda x: pyqref.fake_quantize_per_channel_affine(
            x, SCALES, pyqref.zeros(64, dtype=pyqref.int32), 1, 0, 255
        )
    ),
    "fake_quantize_per_channel, real zero points": lambda: of_real(
        lambda x: pyqref.fake_quantize_per_channel_affine(x, SCALES, HALVES, 1, 0, 255)
    ),
} | {
    name: lambda name=name, arguments=arguments: observer(name, *arguments)
    for name, arguments in (
        ("MinMaxObserver", ()),
        ("MovingAverageMinMaxObserver", ()),
        ("PerChannelMinMaxObserver", ()),
        ("MovingAveragePerChannelMinMaxObserver", ()),
        ("HistogramObserver", ()),
        ("FixedQParamsObserver", (0.1, 0)),
        ("PlaceholderObserver", ()),
        ("NoopObserver", ()),
        ("FakeQuantize", ()),
        ("FusedMovingAvgObsFakeQuantize", ()),
    )
}


def table(module: type, dtype: Any) -> Operation:
    rows = module(2000, 64, dtype=dtype)
    indices = pyqref.from_numpy(np.random.default_rng(2).integers(0, 2000, (3000, 8)))
    return lambda: rows(indices)


TABLES = {
    f"{module.__name__}, {dtype}": lambda module=module, dtype=dtype: table(module, dtype)
    for module in (nn.quantized.Embedding, nn.quantized.EmbeddingBag)
    for dtype in (pyqref.quint8, pyqref.quint4x2)
}


def matmul(a: tuple[int, ...], b: tuple[int, ...], dtype: Any = pyqref.quint8) -> Operation:
    x, y = quantized(*a, dtype=dtype), quantized(*b, dtype=dtype)
    return lambda: ops.matmul(x, y, *OUT)


PRODUCTS = {
    "matmul": lambda: matmul((2, 600, 700), (2, 700, 800)),
    "matmul, int8": lambda: matmul((600, 700), (700, 800), pyqref.qint8),
    "matmul, deep": lambda: matmul((400, 40000), (40000, 100)),
    "matmul, wide": lambda: matmul((1, 3), (3, 3000000)),
}


def on_volumes(run: Callable[[Any], Any], last: bool) -> Operation:
    x = quantized(2, 32, 40, 40, 40, last=last)
    return lambda: run(x)


VOLUMES = {
    f"{name}, {'last' if last else 'first'}": lambda run=run, last=last: on_volumes(run, last)
    for name, run in (
        ("avg_pool3d", lambda x: F.avg_pool3d(x, 3, 2, 1)),
        ("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, 7)),
    )
    for last in (False, True)
}


def layer(name: str, dtype: Any, rows: int, **options: Any) -> Operation:
    """A recurrent layer on 40 steps of some rows."""
    module, shape = getattr(dynamic, name)(64, 128, dtype=dtype, **options), (40, rows, 64)
    x = real(rows, 40, 64) if "batch_first" in options else real(*shape)
    return lambda: module(x)


def cell(name: str, dtype: Any, **options: Any) -> Operation:
    module = getattr(dynamic, name)(64, 256, dtype=dtype, **options)
    x, states = real(3000, 64), [real(3000, 256) for _ in range(2)]
    return lambda: module(x, tuple(states) if name == "LSTMCell" else states[0])


RECURRENT = {
    f"{name}, {dtype}, {rows} rows, {options}": (
        lambda name=name, dtype=dtype, rows=rows, options=options: layer(
            name, dtype, rows, **options
        )
    )
    for name in ("LSTM", "GRU")
    for dtype in (pyqref.qint8, pyqref.float16)
    for rows, options in (
        (30, {}),
        (3000, {}),
        (30, {"bidirectional": True}),
        (200, {"batch_first": True}),
        (200, {"num_layers": 2}),
    )
} | {
    f"{name}, {dtype}, {options}": (
        lambda name=name, dtype=dtype, options=options: cell(name, dtype, **options)
    )
    for name, options in (
        ("LSTMCell", {}),
        ("GRUCell", {}),
        ("RNNCell", {}),
        ("RNNCell", {"nonlinearity": "relu"}),
    )
    for dtype in (pyqref.qint8, pyqref.float16)
}


OPERATIONS = CONVOLUTIONS | LINEAR | ELEMENTWISE | NUMBERS | TABLES | PRODUCTS | VOLUMES | RECURRENT


def bytes_of(result: Any) -> int:
    if isinstance(result, tuple):
        return sum(map(bytes_of, result))
    return 0 if result is None else int(result._array.nbytes)


def scratch(make: Callable[[], Operation], n_threads: int) -> int:
    """Bytes that an operation takes at most, less those of its result."""
    threads = pyqref.get_num_threads()
    pyqref.set_num_threads(n_threads)
    try:
        run = make()
        held = run()  # what is imported, and kept for good; a small result, until nobody holds it
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        result = run()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        pyqref.set_num_threads(threads)
    del held
    assert bytes_of(result) <= most - before, "the result was not made by the operation"
    return most - before - bytes_of(result)


@pytest.mark.skipif(not COMPILED, reason="the equations in NumPy take what they need")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_takes_at_most_a_mebibyte_a_thread(name: str, n_threads: int) -> None:
    assert scratch(OPERATIONS[name], n_threads) <= SCRATCH * n_threads
