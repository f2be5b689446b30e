"""Operations on floats, and the error that torch makes in each: root mean square, against double.

``python tests/parity/float_errors.py`` asks the installed torch, and prints pyqref's error beside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["OPERATIONS", "Operation", "error"]

SEEDS = range(3)
ROWS, IMAGE = (100, 768), (2, 64, 14, 14)

#: How much larger than torch's the root mean square of the errors may be, and why.
SAME = 1.02  # the scatter of a sample
TWO_ROUNDINGS = 1.12  # x - mean and the product are rounded; torch rounds x * a + b once
WEIGHTS_FIRST = 1.4  # weights are rounded before the windows are added up
OTHER_ORDER = 1.5  # as many roundings in a sum of products, in an order that BLAS or a kernel keeps


class Operation(NamedTuple):
    """Operation to compute, the shapes of its tensors, and the errors to compare.

    Attributes
    ----------
    of
        Called with the library, its ``nn.functional`` and the tensors.
    shapes
        Of the tensors.
    theirs
        The error of torch 2.13 on x86 with AVX2.
    most
        The largest that pyqref's may be, as a multiple of it.
    """

    of: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    theirs: float
    most: float = SAME


def _numbers(shapes: tuple[tuple[int, ...], ...], seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(1, 2, shape).astype(np.float32) for shape in shapes]


def error(operation: Operation, library: Any, exact: Any = None) -> float:
    """Root mean square of the difference between float32 and double."""
    exact = library if exact is None else exact
    found = []
    for seed in SEEDS:
        numbers = _numbers(operation.shapes, seed)
        one, other = (
            operation.of(lib, lib.nn.functional, *[lib.from_numpy(x.astype(kind)) for x in numbers])
            for lib, kind in ((library, np.float32), (exact, np.float64))
        )
        found.append(((one.double().numpy() - other.numpy()) ** 2).mean())
    return float(np.sqrt(np.mean(found)))


OPERATIONS = {
    "gelu": Operation(lambda lib, F, x: F.gelu(x), (ROWS,), 1.028e-07),
    "gelu tanh": Operation(lambda lib, F, x: F.gelu(x, approximate="tanh"), (ROWS,), 6.491e-08),
    "sigmoid": Operation(lambda lib, F, x: lib.sigmoid(x), (ROWS,), 2.673e-08),
    "tanh": Operation(lambda lib, F, x: lib.tanh(x), (ROWS,), 1.573e-08),
    "silu": Operation(lambda lib, F, x: F.silu(x), (ROWS,), 8.107e-08),
    "glu": Operation(lambda lib, F, x: F.glu(x), (ROWS,), 7.226e-08),
    "mish": Operation(lambda lib, F, x: F.mish(x), (ROWS,), 6.243e-08),
    "softplus": Operation(lambda lib, F, x: F.softplus(x), (ROWS,), 5.738e-08),
    "logsigmoid": Operation(lambda lib, F, x: F.logsigmoid(x), (ROWS,), 2.799e-08),
    "elu": Operation(lambda lib, F, x: F.elu(x), (ROWS,), 7.984e-09),
    "selu": Operation(lambda lib, F, x: F.selu(x), (ROWS,), 9.204e-08),
    "hardswish": Operation(lambda lib, F, x: F.hardswish(x), (ROWS,), 6.753e-08),
    "hardsigmoid": Operation(lambda lib, F, x: F.hardsigmoid(x), (ROWS,), 2.084e-08),
    "leaky relu": Operation(lambda lib, F, x: F.leaky_relu(x), (ROWS,), 3.111e-10),
    "softsign": Operation(lambda lib, F, x: F.softsign(x), (ROWS,), 2.112e-08),
    "exp": Operation(lambda lib, F, x: lib.exp(x), (ROWS,), 5.176e-06),
    "log": Operation(lambda lib, F, x: lib.log(x.abs() + 0.5), (ROWS,), 3.389e-08),
    "erf": Operation(lambda lib, F, x: lib.erf(x), (ROWS,), 1.536e-08),
    "rsqrt": Operation(lambda lib, F, x: lib.rsqrt(x.abs() + 0.1), (ROWS,), 4.09e-08),
    "softmax": Operation(lambda lib, F, x: F.softmax(x, -1), (ROWS,), 6.929e-10),
    "softmax of channels": Operation(lambda lib, F, x: F.softmax(x, 1), (IMAGE,), 6.499e-09),
    "log softmax": Operation(lambda lib, F, x: F.log_softmax(x, -1), (ROWS,), 3.215e-07),
    "logsumexp": Operation(lambda lib, F, x: lib.logsumexp(x, -1), (ROWS,), 2.782e-07),
    "cross entropy": Operation(
        lambda lib, F, x: F.cross_entropy(x, lib.arange(100), reduction="none"), (ROWS,), 3.199e-07
    ),
    "layer norm": Operation(
        lambda lib, F, x, w, b: F.layer_norm(x, (768,), w, b), (ROWS, (768,), (768,)), 1.647e-07
    ),
    "rms norm": Operation(
        lambda lib, F, x, w: F.rms_norm(x, (768,), w, 1e-5), (ROWS, (768,)), 1.317e-07
    ),
    "group norm": Operation(
        lambda lib, F, x, w, b: F.group_norm(x, 16, w, b), (IMAGE, (64,), (64,)), 1.518e-07
    ),
    "instance norm": Operation(
        lambda lib, F, x: F.instance_norm(x), (IMAGE,), 4.653e-08, TWO_ROUNDINGS
    ),
    "batch norm": Operation(
        lambda lib, F, x, m, v, w, b: F.batch_norm(x, m, v.abs() + 0.1, w, b),
        (IMAGE, (64,), (64,), (64,), (64,)),
        3.526e-07,
        TWO_ROUNDINGS,
    ),
    "batch norm training": Operation(
        lambda lib, F, x, m, v, w, b: F.batch_norm(x, m, v.abs() + 0.1, w, b, True),
        (IMAGE, (64,), (64,), (64,), (64,)),
        1.331e-07,
    ),
    "sum of rows": Operation(lambda lib, F, x: x.sum(-1), (ROWS,), 3.765e-05),
    "sum of columns": Operation(lambda lib, F, x: x.sum(0), (ROWS,), 5.597e-06),
    "sum of channels": Operation(lambda lib, F, x: x.sum((0, 2, 3)), (IMAGE,), 1.791e-05),
    "mean over space": Operation(lambda lib, F, x: x.mean((2, 3)), (IMAGE,), 6.006e-08),
    "std": Operation(lambda lib, F, x: x.std(-1), (ROWS,), 5.163e-08),
    "norm": Operation(lambda lib, F, x: lib.norm(x, dim=-1), (ROWS,), 2.389e-06),
    "cumsum": Operation(lambda lib, F, x: x.cumsum(-1), (ROWS,), 1.149e-05),
    "average pooling": Operation(lambda lib, F, x: F.avg_pool2d(x, 3, 2, 1), (IMAGE,), 6.415e-08),
    "adaptive pooling": Operation(
        lambda lib, F, x: F.adaptive_avg_pool2d(x, (1, 1)), (IMAGE,), 6.006e-08
    ),
    "bilinear": Operation(
        lambda lib, F, x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        (IMAGE,),
        6.183e-08,
        WEIGHTS_FIRST,
    ),
    "bicubic": Operation(
        lambda lib, F, x: F.interpolate(x, scale_factor=2, mode="bicubic"),
        (IMAGE,),
        1.22e-07,
        WEIGHTS_FIRST,
    ),
    "linear": Operation(
        lambda lib, F, x, w, b: F.linear(x, w, b),
        (ROWS, (256, 768), (256,)),
        8.849e-05,
    ),
    "matmul": Operation(
        lambda lib, F, x, y: x @ y, ((8, 64, 128), (8, 128, 64)), 2.392e-05, OTHER_ORDER
    ),
    "conv 3x3": Operation(
        lambda lib, F, x, w, b: F.conv2d(x, w, b, padding=1),
        (IMAGE, (64, 64, 3, 3), (64,)),
        0.0001894,
        SAME,
    ),
    "conv 1x1": Operation(
        lambda lib, F, x, w, b: F.conv2d(x, w, b),
        (IMAGE, (128, 64, 1, 1), (128,)),
        9.511e-06,
        OTHER_ORDER,
    ),
    "conv depthwise": Operation(
        lambda lib, F, x, w, b: F.conv2d(x, w, b, padding=1, groups=64),
        (IMAGE, (64, 1, 3, 3), (64,)),
        8.838e-07,
        SAME,
    ),
    "conv grouped": Operation(
        lambda lib, F, x, w, b: F.conv2d(x, w, b, padding=1, groups=8),
        (IMAGE, (64, 8, 3, 3), (64,)),
        1.021e-05,
        SAME,
    ),
    "conv of first layer": Operation(
        lambda lib, F, x, w, b: F.conv2d(x, w, b, stride=2, padding=3),
        ((1, 3, 64, 64), (32, 3, 7, 7), (32,)),
        2.82e-05,
        SAME,
    ),
    "conv1d": Operation(
        lambda lib, F, x, w, b: F.conv1d(x, w, b, padding=1),
        ((1, 80, 300), (64, 80, 3), (64,)),
        5.925e-05,
        SAME,
    ),
    "conv3d": Operation(
        lambda lib, F, x, w, b: F.conv3d(x, w, b, padding=1),
        ((1, 16, 8, 16, 16), (16, 16, 3, 3, 3), (16,)),
        5.179e-05,
        SAME,
    ),
    "transposed": Operation(
        lambda lib, F, x, w, b: F.conv_transpose2d(x, w, b, stride=2),
        ((1, 32, 14, 14), (32, 16, 4, 4), (16,)),
        1.304e-05,
        SAME,
    ),
    "attention": Operation(
        lambda lib, F, q, k, v: F.scaled_dot_product_attention(q, k, v),
        ((1, 8, 64, 32), (1, 8, 64, 32), (1, 8, 64, 32)),
        9.287e-07,
        OTHER_ORDER,
    ),
}


if __name__ == "__main__":
    import torch

    import pyqref

    torch.set_num_threads(1)
    for name, each in OPERATIONS.items():
        theirs, ours = error(each, torch), error(each, pyqref, torch)
        print(f"{name:20} torch {theirs:.3e} pyqref {ours:.3e} ratio {ours / theirs:.2f}")
