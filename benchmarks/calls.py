"""Races of calls with next to nothing to compute: views, sums, small layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from .elements import both
from .race import Race

__all__ = ["calls"]

#: The same script for both libraries, of a namespace and what :func:`_tensors` gives.
SCRIPTS: dict[str, Callable[[Any, Any], Any]] = {
    "x + y": lambda _, t: t["x"] + t["y"],
    "x * 2.0": lambda _, t: t["x"] * 2.0,
    "-x": lambda _, t: -t["x"],
    "exp": lambda _, t: t["x"].exp(),
    "relu": lambda s, t: s.relu(t["x"]),
    "softmax": lambda _, t: t["x"].softmax(-1),
    "sum": lambda _, t: t["x"].sum(),
    "matmul": lambda _, t: t["x"] @ t["columns"],
    "cat": lambda s, t: s.cat([t["x"], t["y"]], 1),
    "clone": lambda _, t: t["x"].clone(),
    "view": lambda _, t: t["x"].view(8, -1),
    "reshape": lambda _, t: t["x"].reshape(8, 4),
    "transpose": lambda _, t: t["x"].transpose(0, 1),
    "permute": lambda _, t: t["x"].permute(1, 0),
    "unsqueeze": lambda _, t: t["x"].unsqueeze(0),
    "flatten": lambda _, t: t["x"].flatten(),
    "expand": lambda _, t: t["row"].expand(4, 8),
    "x[1:3]": lambda _, t: t["x"][1:3],
    "x[:, 0]": lambda _, t: t["x"][:, 0],
    "chunk": lambda _, t: t["x"].chunk(2, 1),
    "unbind": lambda _, t: t["x"].unbind(0),
    "layer_norm": lambda s, t: s.nn.functional.layer_norm(t["x"], (8,), t["row"], t["row"]),
    "nn.Linear": lambda _, t: t["linear"](t["x"]),
    "nn.Sequential of nn.Identity": lambda _, t: t["modules"](t["x"]),
    "quantized view": lambda _, t: t["q"].view(8, -1),
    "quantized permute": lambda _, t: t["q"].permute(1, 0),
    "quantized q[1:3]": lambda _, t: t["q"][1:3],
    "quantized chunk": lambda _, t: t["q"].chunk(2, 1),
    "quantized cat": lambda s, t: s.cat([t["q"], t["q"]], 1),
    "quantized channel shuffle": lambda s, t: s.channel_shuffle(t["images"], 2),
    "quantized softmax": lambda s, t: s.ops.quantized.softmax(t["q"], 1, 1 / 256, 0),
}


def _tensors(space: Any, x: np.ndarray) -> dict[str, Any]:
    real = space.from_numpy(x)
    images = real.reshape(1, 8, 2, 2)
    linear = space.nn.Linear(8, 8).requires_grad_(False)
    for each in (linear.weight, linear.bias):
        each.fill_(0.25)
    return {
        "x": real,
        "y": real.clone(),
        "columns": real.t().contiguous(),
        "row": space.ones(8),
        "q": space.quantize_per_tensor(real, 0.05, 60, space.quint8),
        "images": space.quantize_per_tensor(images, 0.05, 60, space.quint8),
        "linear": linear,
        "modules": space.nn.Sequential(space.nn.Identity()),
    }


def calls(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """One call on 32 numbers, of each kind."""
    del quick, threads
    x = rng.standard_normal((4, 8)).astype(np.float32)
    mine, theirs = (_tensors(space, x) for space in (pyqref, torch))
    for name, script in SCRIPTS.items():
        yield both("call", name, 32.0, script, mine, theirs)
