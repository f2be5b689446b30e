"""A valid call for every name of ``pyqref.ops.quantized``."""

from __future__ import annotations

import inspect
from typing import Any

from bad_input.engine import Entry, floats, per_channel, qint8, quint8

import pyqref
from pyqref.ops import quantized as ops

_SHAPES = {1: (1, 2, 5), 2: (1, 2, 5, 5), 3: (1, 2, 4, 4, 4)}
_KERNELS = {1: (3,), 2: (3, 3), 3: (2, 2, 2)}
OPTIONAL = {"bias", "B", "weight", "stride"}
INDICES, OFFSETS = pyqref.tensor([0, 1, 1]), pyqref.tensor([0, 2])


def packed_linear() -> Any:
    return ops.linear_prepack(qint8(2, 3), floats(2))


def packed_conv(spatial: int) -> Any:
    prepack = getattr(ops, f"conv{spatial}d_prepack")
    return prepack(qint8(3, 2, *_KERNELS[spatial]), floats(3))


def packed_transpose(spatial: int) -> Any:
    prepack = getattr(ops, f"conv_transpose{spatial}d_prepack")
    return prepack(qint8(2, 3, *_KERNELS[spatial]), floats(3))


def table(bits: int = 8) -> Any:
    dtype = pyqref.quint8 if bits == 8 else pyqref.quint4x2
    return pyqref.quantize_per_channel(floats(3, 4), pyqref.ones(3), pyqref.zeros(3), 0, dtype)


def _spatial(name: str) -> int:
    return next((each for each in (1, 2, 3) if f"{each}d" in name), 2)


def _packed(name: str) -> Any:
    if "fp16" in name:
        return ops.linear_prepack_fp16(floats(2, 3), floats(2))
    if "linear" in name:
        return packed_linear()
    transposed = "conv_transpose" in name
    return (packed_transpose if transposed else packed_conv)(_spatial(name))


def _of_embedding(name: str) -> dict[str, Any]:
    bits = "2bit" if "2bit" in name else "4bit" if "4bit" in name else "byte"
    rows: dict[str, Any] = {"weight": floats(3, 4)}
    if name in ("embedding_bag_prepack", "embedding_bag_unpack"):
        prepack = name.endswith("_prepack")
        key = "weight" if prepack else "W_prepack"
        return {key: table() if prepack else ops.embedding_bag_prepack(table())}
    if name.endswith("_unpack"):
        return {"weight": getattr(ops, f"embedding_bag_{bits}_prepack")(floats(3, 4))}
    if "prepack" in name:
        if "min_max" in name:
            rows["rowwise_min_max"] = pyqref.tensor([[-1.0, 1.0]] * 3)
        if bits != "byte":
            rows |= {"optimized_qparams": False, "nbins": 20, "ratio": 0.2}
        return rows
    if "rowwise" in name:
        rows["weight"] = getattr(ops, f"embedding_bag_{bits}_prepack")(floats(3, 4))
    else:
        rows["weight"] = ops.embedding_bag_prepack(table(4 if bits == "4bit" else 8))
    rows["indices"] = INDICES
    if "bag" not in name:
        return rows | {"pruned_weights": False}
    return rows | {
        "offsets": OFFSETS,
        "scale_grad_by_freq": False,
        "mode": 0,
        "pruned_weights": True,
        "per_sample_weights": floats(3),
        "compressed_indices_mapping": pyqref.tensor([0, 1, 2], dtype=pyqref.int32),
        "include_last_offset": False,
    }


def _of_cell(name: str) -> dict[str, Any]:
    gates = 4 if "lstm" in name else 3 if "gru" in name else 1
    state = floats(2, 3)
    return {
        "input": floats(2, 4),
        "hx": (state, state) if gates == 4 else state,
        "w_ih": ops.linear_prepack(qint8(gates * 3, 4)),
        "w_hh": ops.linear_prepack(per_channel(gates * 3, 3)),
    }


def _of_norm(name: str) -> dict[str, Any]:
    last = {"eps": 1e-5, "output_scale": 0.5, "output_zero_point": 1}
    parameters = {"weight": floats(2), "bias": floats(2)}
    if "batch_norm" in name:
        x = quint8(*_SHAPES[_spatial(name)])
        return {"qx": x, **parameters, "mean": floats(2), "var": pyqref.ones(2), **last}
    x = quint8(1, 2, 5, 5)
    if name == "layer_norm":
        w = floats(5)
        return {"input": x, "normalized_shape": (5,), "weight": w, "bias": w, **last}
    if name == "group_norm":
        return {"input": x, "num_groups": 2, **parameters, **last}
    return {"input": x, **parameters, **last}


def _of_signature(name: str) -> dict[str, Any]:
    """Valid arguments by their names."""
    spatial = _spatial(name)
    pool = "pool" in name
    values: dict[str, Any] = {
        "qx": quint8(*_SHAPES[spatial]) if "conv" in name or pool else quint8(2, 3),
        "qa": quint8(2, 3),
        "qb": quint8(2, 3),
        "X": quint8(2, 3),
        "x": quint8(2, 3),
        "self": quint8(2, 3),
        "input": quint8(2, 3),
        "qaccum": quint8(1, 3, 3, 3),
        "b": 0.5,
        "W": floats(2, 3) if "fp16" in name else qint8(2, 3),
        "B": floats(2),
        "weight": qint8(*((2, 3) if "transpose" in name else (3, 2)), *_KERNELS[spatial]),
        "bias": floats(3),
        "stride": (1,) * spatial,
        "padding": (1,) * spatial,
        "dilation": (1,) * spatial,
        "output_padding": (0,) * spatial,
        "kernel_size": (2,) * spatial,
        "groups": 1,
        "reduce_range": False,
        "ceil_mode": False,
        "inplace": False,
        "training": False,
        "p": 0.5,
        "dim": 0,
        "min": -0.5,
        "max": 0.5,
        "alpha": 1.5,
        "scale": 1.5,
        "input_scale": 1.5,
        "threshold": 0.0,
        "value": 0.0,
        "negative_slope": 0.1,
    }
    for each in ("output_scale", "X_scale", "Y_scale_i"):
        values[each] = 0.5
    for each in ("output_zero_point", "X_zero_point", "Y_zero_point_i", "zero_point"):
        values[each] = 2
    for each in ("packed_weight", "packed_weights", "W_prepack"):
        values[each] = _packed(name) if "conv" in name or "linear" in name else None
    if "dynamic" in name or "q_dq" in name:
        values |= {"qx": floats(*_SHAPES[spatial]), "X": floats(2, 3)}
    if "dynamic" in name and "unpacked" in name:
        values |= {"weight": floats(2, 3), "bias": floats(2)}
    if name == "matmul":
        values["qb"] = quint8(3, 2)
    if name == "prelu":
        values["weight"] = quint8(3)
    if name.startswith("cat"):
        values["qx"] = [quint8(2, 3), quint8(2, 3)]
    parameters = inspect.signature(getattr(ops, name)).parameters
    return {each: values[each] for each in parameters}


_KINDS: dict[str, dict[str, str]] = {
    "elu": {"scale": "number", "input_scale": "number"},
    "add": {"qb": "any"},
    "add_relu": {"qb": "any"},
    "mul": {"qb": "any"},
    "mul_relu": {"qb": "any"},
    "dropout": {"self": "tensor", "output_scale": "any", "output_zero_point": "any"},
}


def _valid(name: str) -> dict[str, Any]:
    if "embedding" in name:
        return _of_embedding(name)
    if "_cell_" in name:
        return _of_cell(name)
    return _of_norm(name) if "_norm" in name else _of_signature(name)


def _entry(name: str) -> Entry:
    parameters = inspect.signature(getattr(ops, name)).parameters
    optional = {each for each, p in parameters.items() if p.default is None}
    if "_norm" in name:
        optional |= {"weight", "bias"}
    if "pool" in name:
        optional |= {"stride"}
    return Entry(
        f"quantized.{name}",
        getattr(ops, name),
        _valid(name),
        frozenset(optional),
        _KINDS.get(name, {}),
    )


ENTRIES: list[Entry] = [_entry(name) for name in ops.__all__]
