"""One call, or a few, of every quantized operation, with random numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.nn.utils.rnn import pack_sequence
from pyqref.ops import quantized as ops

Case = Callable[[np.random.Generator], Any]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def reals(rng: np.random.Generator, *shape: int) -> Any:
    return pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32))


def grid(rng: np.random.Generator) -> tuple[float, int]:
    return float(rng.uniform(0.01, 0.06)), int(rng.integers(0, 255))


def quantized(rng: np.random.Generator, *shape: int, dtype: Any = pyqref.quint8) -> Any:
    scale, zero_point = grid(rng)
    low = 0 if dtype is pyqref.quint8 else -128
    return pyqref.quantize_per_tensor(reals(rng, *shape) * 3, scale, zero_point + low, dtype)


def weight(rng: np.random.Generator, *shape: int, per_channel: bool, axis: int = 0) -> Any:
    w = reals(rng, *shape)
    if not per_channel:
        return pyqref.quantize_per_tensor(w, 0.02, 0, pyqref.qint8)
    scales = pyqref.from_numpy(rng.uniform(0.01, 0.03, shape[axis]))
    zeros = pyqref.zeros(shape[axis], dtype=pyqref.int64)
    return pyqref.quantize_per_channel(w, scales, zeros, axis, pyqref.qint8)


def coin(rng: np.random.Generator) -> bool:
    return bool(rng.integers(2))


def bias(rng: np.random.Generator, count: int) -> Any:
    return reals(rng, count) if rng.integers(3) else None


@case
def grids(rng):
    x = reals(rng, 3, 4)
    scales, zeros = pyqref.tensor([0.1, 0.02, 0.3, 0.04]), pyqref.tensor([0, 3, 250, 128])
    return (
        pyqref.quantize_per_tensor(x, *grid(rng), pyqref.quint8).dequantize(),
        pyqref.quantize_per_tensor(x, 0.001, 7, pyqref.qint32).dequantize(),
        pyqref.quantize_per_tensor(x.double(), 0.03, -7, pyqref.qint8),
        pyqref.quantize_per_channel(x, scales, zeros, 1, pyqref.quint8).dequantize(),
        pyqref.quantize_per_channel(x, scales, zeros.float() + 0.5, 1, pyqref.quint8).dequantize(),
        nn.quantized.Quantize(0.05, 10, pyqref.quint8, quant_min=4, quant_max=60)(x),
    )


@case
def linear(rng):
    packed = ops.linear_prepack(weight(rng, 5, 9, per_channel=coin(rng)), bias(rng, 5))
    x = quantized(rng, 2, 3, 9)
    return ops.linear(x, packed, *grid(rng)), ops.linear_relu(x, packed, *grid(rng))


@case
def convolutions(rng):
    spatial = int(rng.integers(1, 4))
    groups = int(rng.choice([1, 2, 4]))
    step, pad, hole = (int(rng.integers(*ends)) for ends in ((1, 3), (0, 3), (1, 3)))
    w = weight(rng, 8, 4 // groups, *(2,) * (spatial - 1), 3, per_channel=coin(rng))
    prepack = getattr(ops, f"conv{spatial}d_prepack")
    several = [(each,) * spatial for each in (step, pad, hole)]
    packed = prepack(w, bias(rng, 8), *several, groups)
    x = quantized(rng, 2, 4, *(6,) * spatial)
    return (
        getattr(ops, f"conv{spatial}d")(x, packed, *grid(rng)),
        getattr(ops, f"conv{spatial}d_relu")(x, packed, *grid(rng)),
        getattr(ops, f"conv{spatial}d_dynamic")(x.dequantize(), packed, coin(rng)),
    )


@case
def transposed(rng):
    spatial, groups = int(rng.integers(1, 4)), int(rng.choice([1, 2]))
    w = weight(rng, 4, 3, *(3,) * spatial, per_channel=False)
    several = [(each,) * spatial for each in (2, int(rng.integers(0, 2)), 1)]
    prepack = getattr(ops, f"conv_transpose{spatial}d_prepack")
    one = (1,) * spatial
    packed = prepack(w, bias(rng, 3 * groups), several[0], several[1], one, one, groups)
    x = quantized(rng, 2, 4, *(4,) * spatial)
    return (
        getattr(ops, f"conv_transpose{spatial}d")(x, packed, *grid(rng)),
        getattr(ops, f"conv_transpose{spatial}d_dynamic")(x.dequantize(), packed, coin(rng)),
    )


@case
def dynamic(rng):
    packed = ops.linear_prepack(weight(rng, 5, 9, per_channel=coin(rng)), bias(rng, 5))
    x = reals(rng, 3, 9) * float(rng.choice([1, 1e-3, 1e-6]))
    return (
        ops.linear_dynamic(x, packed, coin(rng)),
        ops.linear_relu_dynamic(x.abs(), packed, coin(rng)),
    )


@case
def fused(rng):
    packed = ops.linear_prepack(weight(rng, 5, 9, per_channel=coin(rng)), bias(rng, 5))
    x = quantized(rng, 3, 9)
    w = weight(rng, 6, 4, 3, 3, per_channel=coin(rng))
    conv = ops.conv2d_prepack(w, bias(rng, 6), (1, 1), (1, 1), (1, 1), 1)
    image, other = quantized(rng, 2, 4, 5, 5), quantized(rng, 2, 6, 5, 5)
    return (
        ops.linear_leaky_relu(x, packed, *grid(rng), 0.1),
        ops.linear_tanh(x, packed, 1 / 128, 128),
        ops.conv2d_add(image, other, conv, *grid(rng)),
        ops.conv2d_add_relu(image, other, conv, *grid(rng)),
    )


@case
def sums_and_products(rng):
    dtype = pyqref.qint8 if coin(rng) else pyqref.quint8
    a, b = quantized(rng, 3, 4, dtype=dtype), quantized(rng, 1, 4, dtype=dtype)
    low = -128 if dtype is pyqref.qint8 else 0
    scale, zero = grid(rng)
    out = scale, zero + low
    number = float(rng.uniform(-9, 9))
    return (
        ops.add(a, b, *out),
        ops.add_relu(a, b, *out),
        ops.mul(a, b, *out),
        ops.mul_relu(a, b, *out),
        ops.add_scalar(a, number),
        ops.add_scalar_relu(a, number * 3),
        ops.mul_scalar(a, number),
        ops.mul_scalar_relu(a, -number),
        ops.mul_scalar(a, 0.0),
        ops.matmul(quantized(rng, 2, 3, 5), quantized(rng, 5, 4), *grid(rng)),
        ops.matmul(quantized(rng, 5), quantized(rng, 5, 4), *grid(rng)),
        ops.matmul(quantized(rng, 2, 3, 5), quantized(rng, 5), *grid(rng)),
    )


@case
def activations(rng):
    x, out = quantized(rng, 3, 4), grid(rng)
    return (
        pyqref.relu(x),
        ops.relu(x),
        ops.relu6(x),
        ops.clamp(x, -0.5, 1.0),
        x.clamp(-0.5, 1.0),
        F.hardtanh(x, -0.7, 0.7),
        pyqref.sigmoid(x),
        pyqref.tanh(x),
        ops.sigmoid(x, 1 / 256, 0),
        ops.hardswish(x, *out),
        F.hardsigmoid(x),
        F.gelu(x),
        F.gelu(x, approximate="tanh"),
        F.leaky_relu(x, 0.2),
        ops.leaky_relu(x, 0.1, False, *out),
        ops.elu(x, *out, 0.7),
        ops.celu(x, *out, 0.7),
        F.threshold(x, 0.2, 1.0),
        ops.threshold(x, 0.2, 1.0),
        ops.prelu(x, quantized(rng, 4), *out),
        ops.softmax(x, 1, 1 / 256, 0),
        x.masked_fill(pyqref.tensor([True, False, True, False]), 0.5),
    )


@case
def windows(rng):
    x = quantized(rng, 2, 3, 7, 8)
    flag = coin(rng)
    return (
        F.max_pool2d(x, 3, 2, 1, ceil_mode=flag),
        F.max_pool2d(x, (2, 3), dilation=2),
        F.max_pool1d(quantized(rng, 2, 3, 9), 2),
        F.avg_pool2d(x, 3, 2, 1, ceil_mode=flag, count_include_pad=coin(rng)),
        F.avg_pool2d(x, 2, divisor_override=3),
        F.avg_pool3d(quantized(rng, 1, 2, 4, 4, 4), 2),
        F.adaptive_avg_pool2d(x, (3, 2)),
        F.adaptive_avg_pool2d(x, 1),
        x.mean((2, 3)),
        x.mean(-1, keepdim=True),
        x.mean(1),
        x.std(-1),
        F.interpolate(x, scale_factor=2, mode="nearest"),
        F.interpolate(x, size=(4, 5), mode="nearest-exact"),
        F.interpolate(x, size=(9, 5), mode="bilinear", align_corners=flag),
        F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=False),
    )


@case
def norms(rng):
    x, out = quantized(rng, 2, 4, 3, 3), grid(rng)
    w, b, mean, var = (reals(rng, 4) for _ in range(4))
    return (
        ops.batch_norm2d(x, w, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm2d_relu(x, w, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm(x, w, None, mean, var.abs(), 1e-5, *out),
        ops.batch_norm_relu(x, None, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm1d(x[..., 0], w, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm1d_relu(x[:, :, 0, 0], w, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm3d(x[..., None], w, b, mean, var.abs(), 1e-5, *out),
        ops.batch_norm3d_relu(x[..., None], w, b, mean, var.abs(), 1e-5, *out),
        ops.layer_norm(x, [3, 3], reals(rng, 3, 3), reals(rng, 3, 3), 1e-5, *out),
        ops.layer_norm(x, [3], None, None, 1e-5, *out),
        ops.group_norm(x, 2, w, b, 1e-5, *out),
        ops.instance_norm(x, w, b, 1e-5, *out),
    )


@case
def moves(rng):
    x = quantized(rng, 2, 3, 4)
    near, far = quantized(rng, 1, 3, 4), quantized(rng, 2, 3, 2)
    place = pyqref.tensor([1, 0, 2])
    channels = pyqref.quantize_per_channel(
        reals(rng, 3, 4), pyqref.tensor([0.1, 0.2, 0.3]), pyqref.tensor([0, 1, 2]), 0, pyqref.qint8
    )
    return (
        x.flatten(1),
        x.reshape(4, 6),
        x.permute(2, 0, 1),
        x.transpose(0, 1).contiguous(),
        x[1, :, ::2],
        x[:, place],
        x.flip(1),
        F.channel_shuffle(x, 3),
        x.unsqueeze(1).expand(2, 5, 3, 4),
        x.repeat(1, 2, 1),
        x.index_select(1, place),
        x.chunk(2, -1)[1],
        x.clone(),
        F.pad(x, (1, 2), value=0.3),
        F.pad(x, (1, 2), mode="reflect"),
        ops.cat([x, near], 0, *grid(rng)),
        ops.cat_relu([x, far], 2, *grid(rng)),
        pyqref.cat([x, x], 1),
        pyqref.stack([x, x], 1),
        x.amax(1),
        x.amin((0, 2)),
        x.min(),
        x.max(),
        x.max(1)[0],
        x.min(-1, keepdim=True)[0],
        x.msort(),
        F.channel_shuffle(x, 3),
        x[:, :1].squeeze(1),
        x.view(6, 4),
        x.as_strided((2, 2), (3, 1)),
        x.diagonal(0, 1, 2),
        x.masked_select(pyqref.tensor([True, False, True, True])),
        pyqref.sort(x, 1, descending=True)[0],
        channels.t(),
    )


@case
def embeddings(rng):
    table = reals(rng, 10, 6)
    scales = pyqref.from_numpy(rng.uniform(0.01, 0.02, 10).astype(np.float32))
    zeros = pyqref.from_numpy(rng.uniform(0, 9, 10).astype(np.float32))
    kind = pyqref.quint8 if coin(rng) else pyqref.quint4x2
    size = "byte" if kind is pyqref.quint8 else "4bit"
    packed = ops.embedding_bag_prepack(pyqref.quantize_per_channel(table, scales, zeros, 0, kind))
    indices = pyqref.from_numpy(rng.integers(0, 10, 7))
    offsets = pyqref.tensor([0, 3, 3])
    share = reals(rng, 7) if coin(rng) else None
    look, bag = getattr(ops, f"embedding_{size}"), getattr(ops, f"embedding_bag_{size}")
    rows = getattr(ops, f"embedding_bag_{size}_prepack")(table)
    return (
        look(packed, indices),
        bag(packed, indices, offsets, per_sample_weights=share),
        getattr(ops, f"embedding_bag_{size}_rowwise_offsets")(rows, indices, offsets),
        ops.embedding_bag_2bit_rowwise_offsets(
            ops.embedding_bag_2bit_prepack(table), indices.reshape(1, 7)
        ),
    )


@case
def fake(rng):
    x = reals(rng, 3, 4) * 5
    scales, zeros = pyqref.tensor([0.02, 0.1, 0.01]), pyqref.tensor([0, 9, 128])
    for per_row, centred, constant in itertools.product((False, True), (False, True), (0.01, 1)):
        count = 3 if per_row else 1
        state = [pyqref.full((count,), end) for end in (float("inf"), float("-inf"))]
        state += [pyqref.ones(count), pyqref.zeros(count, dtype=pyqref.int32)]
        ends = (-127, 127) if centred else (0, 255)
        for batch in (x, x + 1, -x, x * 1e-7):
            on = pyqref.tensor([int(rng.integers(4) > 0)]), pyqref.tensor([1])
            pyqref.fused_moving_avg_obs_fake_quant(
                batch, *on, *state, constant, *ends, 0, per_row, centred
            )
    learned = pyqref.tensor([9.5, 300.0, -0.5])
    return (
        pyqref._fake_quantize_learnable_per_channel_affine(x, scales, learned, 0, 0, 255),
        pyqref._fake_quantize_learnable_per_tensor_affine(x, scales[:1], learned[:1], 0, 255),
        pyqref.fake_quantize_per_tensor_affine(x, 0.03, 99, 0, 255),
        pyqref.fake_quantize_per_tensor_affine(x.double(), 0.03, 99, 0, 127),
        pyqref.fake_quantize_per_channel_affine(x, scales, zeros, 0, 0, 255),
    )


@case
def recurrent(rng):
    sizes = 4, int(rng.integers(2, 5))
    layers, both = 1 + coin(rng), coin(rng)
    x = reals(rng, 3, 3, 4)
    lstm = nn.quantized.dynamic.LSTM(*sizes, layers, batch_first=coin(rng), bidirectional=both)
    gru = nn.quantized.dynamic.GRU(*sizes, layers, bias=coin(rng), bidirectional=both)
    for layer in (lstm, gru):
        drawn = {
            name: None if each is None else drawn_like(rng, each)
            for part in layer._weight_bias().values()
            for name, each in part.items()
        }
        layer.set_weight_bias(drawn)
    short = pack_sequence([x[0], x[1, :1], x[2, :2]], enforce_sorted=False)
    states = [reals(rng, layers * (1 + both), 3, sizes[1]) for _ in range(2)]
    given = x[0], states[0][0], states[1][0]
    return lstm(x), lstm(short, states), gru(x), gru(short, states[0]), cells(rng, *given)


def drawn_like(rng: np.random.Generator, tensor: Any) -> Any:
    """Random numbers for a weight or a bias of a recurrent layer."""
    if not tensor.is_quantized:
        return reals(rng, *tensor.shape)
    return weight(rng, *tensor.shape, per_channel=coin(rng))


def cells(rng: np.random.Generator, x: Any, h: Any, c: Any) -> Any:
    """Each kind of cell, as a module and as a function, with and without states."""
    dynamic, outputs = nn.quantized.dynamic, []
    for name, rows in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        w, b = (
            weight(rng, rows * h.shape[1], 4, per_channel=coin(rng)),
            bias(rng, rows * h.shape[1]),
        )
        v = weight(rng, rows * h.shape[1], h.shape[1], per_channel=coin(rng))
        cell = getattr(dynamic, f"{name}Cell")(4, h.shape[1])
        cell.set_weight_bias(
            {
                "weight": {"weight_ih": w, "weight_hh": v},
                "bias": {"bias_ih": b, "bias_hh": b},
            }
        )
        state = (h, c) if name == "LSTM" else h
        outputs += [cell(x), cell(x, state)]
        for kind in ("rnn_tanh", "rnn_relu") if name == "RNN" else (name.lower(),):
            function = getattr(ops, f"quantized_{kind}_cell_dynamic")
            outputs.append(function(x, state, ops.linear_prepack(w, b), ops.linear_prepack(v)))
    return outputs
