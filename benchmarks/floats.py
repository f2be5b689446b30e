"""Operations on real numbers, on which calibration and the float half of networks run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from .elements import both
from .models import same_weights
from .race import Race

Script = Callable[[Any, dict[str, Any]], Any]

#: An image of EfficientNet and a sentence of BERT.
SHAPES = [(1, 144, 56, 56), (1, 128, 3072)]

ACTIVATIONS: dict[str, Script] = {
    "gelu": lambda s, t: s.nn.functional.gelu(t["x"]),
    "gelu tanh": lambda s, t: s.nn.functional.gelu(t["x"], approximate="tanh"),
    "sigmoid": lambda s, t: s.sigmoid(t["x"]),
    "tanh": lambda s, t: s.tanh(t["x"]),
    "silu": lambda s, t: s.nn.functional.silu(t["x"]),
    "glu": lambda s, t: s.nn.functional.glu(t["x"], 1),
    "mish": lambda s, t: s.nn.functional.mish(t["x"]),
    "softplus": lambda s, t: s.nn.functional.softplus(t["x"]),
    "elu": lambda s, t: s.nn.functional.elu(t["x"]),
    "selu": lambda s, t: s.nn.functional.selu(t["x"]),
    "relu": lambda s, t: s.relu(t["x"]),
    "leaky relu": lambda s, t: s.nn.functional.leaky_relu(t["x"]),
    "prelu": lambda s, t: s.nn.functional.prelu(t["x"], t["channels"]),
    "hardswish": lambda s, t: s.nn.functional.hardswish(t["x"]),
    "hardsigmoid": lambda s, t: s.nn.functional.hardsigmoid(t["x"]),
    "hardtanh": lambda s, t: s.nn.functional.hardtanh(t["x"]),
}
#: Of an image ``(N, C, H, W)``.
SPACE: dict[str, Script] = {
    "batch norm": lambda s, t: s.nn.functional.batch_norm(
        t["x"], t["channels"], t["ones"], t["ones"], t["channels"]
    ),
    "batch norm, training": lambda s, t: s.nn.functional.batch_norm(
        t["x"], None, None, t["ones"], t["channels"], training=True
    ),
    "group norm": lambda s, t: s.nn.functional.group_norm(t["x"], 8, t["ones"], t["channels"]),
    "instance norm": lambda s, t: s.nn.functional.instance_norm(t["x"]),
    "mean over space": lambda _, t: t["x"].mean((2, 3)),
    "adaptive pooling": lambda s, t: s.nn.functional.adaptive_avg_pool2d(t["x"], 1),
    "max pooling": lambda s, t: s.nn.functional.max_pool2d(t["x"], 3, 2, 1),
    "interpolate": lambda s, t: s.nn.functional.interpolate(
        t["x"], scale_factor=2, mode="bilinear", align_corners=False
    ),
    "cat": lambda s, t: s.cat([t["x"], t["x"]], 1),
    "pad": lambda s, t: s.nn.functional.pad(t["x"], (1, 1, 1, 1)),
    "permute and copy": lambda _, t: t["x"].permute(0, 2, 3, 1).contiguous(),
    "where": lambda s, t: s.where(t["mask"], t["x"], t["x"]),
    "masked fill": lambda _, t: t["x"].masked_fill(t["mask"], 0.0),
}
#: Of rows ``(..., K)``.
ROWS: dict[str, Script] = {
    "softmax": lambda s, t: s.softmax(t["x"], -1),
    "log softmax": lambda s, t: s.log_softmax(t["x"], -1),
    "layer norm": lambda s, t: s.nn.functional.layer_norm(t["x"], t["x"].shape[-1:]),
    "rms norm": lambda s, t: s.nn.functional.rms_norm(t["x"], t["x"].shape[-1:]),
    "sum of rows": lambda _, t: t["x"].sum(-1),
    "topk": lambda s, t: s.topk(t["x"], 5)[0],
    "sort": lambda s, t: s.sort(t["x"])[0],
}
ROW_SHAPES = [(12, 128, 128), (200, 1000), (1, 197, 768)]
#: Convolutions by name: inputs, outputs, size of an image, and the arguments of the layer.
CONVOLUTIONS: dict[str, tuple[int, int, int, dict[str, Any]]] = {
    "ResNet 3x3": (64, 64, 56, {"kernel_size": 3, "padding": 1}),
    "ResNet 1x1": (256, 64, 56, {"kernel_size": 1}),
    "first layer": (3, 64, 224, {"kernel_size": 7, "stride": 2, "padding": 3}),
    "patches": (3, 768, 224, {"kernel_size": 16, "stride": 16}),
    "dilated": (256, 256, 28, {"kernel_size": 3, "padding": 12, "dilation": 12}),
    "depthwise 3x3": (144, 144, 56, {"kernel_size": 3, "padding": 1, "groups": 144}),
    "depthwise 7x7": (96, 96, 56, {"kernel_size": 7, "padding": 3, "groups": 96}),
    "grouped 3x3": (128, 128, 28, {"kernel_size": 3, "padding": 1, "groups": 32}),
}
#: Bounds on the distance of results, in their own unit: sums of products of unit normals.
CLOSE, CLOSE_SUMS = 1e-4, 5e-3


def _tensors(space: Any, x: np.ndarray) -> dict[str, Any]:
    channels = np.linspace(-1, 1, x.shape[1], dtype=np.float32)
    return {
        "x": space.from_numpy(x),
        "leaf": space.from_numpy(x.copy()).requires_grad_(),
        "mask": space.from_numpy(x > 0.5),
        "channels": space.from_numpy(channels),
        "ones": space.from_numpy(np.ones_like(channels)),
    }


def _backward(script: Script) -> Script:
    def run(space: Any, t: dict[str, Any]) -> Any:
        t["leaf"].grad = None
        script(space, {**t, "x": t["leaf"]}).sum().backward()
        return t["leaf"].grad

    return run


def _races(scripts: dict[str, Script], x: np.ndarray, with_gradients: bool) -> Iterator[Race]:
    shape = "x".join(map(str, x.shape))
    mine, theirs = _tensors(pyqref, x), _tensors(torch, x)
    for kind, script in scripts.items():
        forward = both(f"float {kind}", shape, float(x.size), script, mine, theirs)
        yield forward._replace(tolerance=CLOSE)
        if with_gradients:
            race = both(
                f"float {kind}, with gradient", shape, x.size, _backward(script), mine, theirs
            )
            yield race._replace(tolerance=CLOSE)


def floats(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Activations, norms, rows and tables of real numbers, then convolutions and attention."""
    del threads
    for shape in SHAPES[:1] if quick else SHAPES:
        x = rng.standard_normal(shape, np.float32)
        yield from _races(ACTIVATIONS, x, not quick)
    yield from _races(SPACE, rng.standard_normal(SHAPES[0], np.float32), False)
    for shape in ROW_SHAPES[:1] if quick else ROW_SHAPES:
        yield from _races(ROWS, rng.standard_normal(shape, np.float32), False)
    yield from _tables(rng)
    yield from _convolutions(rng, quick)
    yield from _sequences(rng)


def _tables(rng: np.random.Generator) -> Iterator[Race]:
    table = rng.standard_normal((30522, 384), np.float32)
    indices, labels = rng.integers(0, 30522, (8, 128)), rng.integers(0, 1000, 200)
    logits = rng.standard_normal((200, 1000), np.float32)
    pair = [
        [space.from_numpy(each) for each in (table, indices, logits, labels)]
        for space in (pyqref, torch)
    ]
    scripts: dict[str, tuple[str, Any]] = {
        "float embedding": ("8x128 of 384", lambda s, t: s.nn.functional.embedding(t[1], t[0])),
        "float embedding bag": (
            "8x128 of 384",
            lambda s, t: s.nn.functional.embedding_bag(t[1], t[0], mode="sum"),
        ),
        "float cross entropy": (
            "200x1000",
            lambda s, t: s.nn.functional.cross_entropy(t[2], t[3]),
        ),
    }
    for kind, (shape, script) in scripts.items():
        yield both(kind, shape, 1.0, script, *pair)._replace(tolerance=CLOSE)


def _convolutions(rng: np.random.Generator, quick: bool) -> Iterator[Race]:
    for name, (inputs, outputs, size, options) in CONVOLUTIONS.items():
        for batch in (1,) if quick else (1, 8):
            x = rng.standard_normal((batch, inputs, size, size), np.float32)
            race = _layer(
                f"float conv {name}", f"batch {batch}", "Conv2d", (inputs, outputs), options, x
            )
            yield race._replace(tolerance=CLOSE_SUMS)


def _layer(
    kind: str, shape: str, name: str, sizes: tuple[int, int], options: dict[str, Any], x: np.ndarray
) -> Race:
    """A layer of the same weights in both libraries."""
    mine, theirs = same_weights(lambda space: getattr(space.nn, name)(*sizes, **options))
    given = (mine, pyqref.from_numpy(x)), (theirs, torch.from_numpy(x))
    return both(kind, shape, 1.0, _without_gradient, *given)


def _without_gradient(space: Any, pair: Any) -> Any:
    with space.no_grad():
        return pair[0](pair[1])


def _sequences(rng: np.random.Generator) -> Iterator[Race]:
    heads = [rng.standard_normal((1, 12, 128, 64), np.float32) for _ in range(3)]
    pair = [[space.from_numpy(each) for each in heads] for space in (pyqref, torch)]
    attention = both(
        "float attention",
        "12 x 128 x 64",
        1.0,
        lambda s, t: s.nn.functional.scaled_dot_product_attention(*t),
        *pair,
    )
    yield attention._replace(tolerance=CLOSE)
    for kind in ("LSTM", "GRU"):
        x = rng.standard_normal((32, 8, 256), np.float32)
        race = _layer(f"float {kind}", "32 x 8 x 256", kind, (256, 256), {}, x)
        yield race._replace(tolerance=CLOSE)
