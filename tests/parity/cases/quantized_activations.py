"""Quantized activations: every integer of a byte, of every engine, by every door.

Tensors have 512 elements, so that torch's vector code computes them all: its tails add
the zero point before rounding (see the errata).
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
from parity.harness import parity_case

ENGINES = ("fbgemm", "qnnpack")


def quantized_nn(torch: Any) -> Any:
    """``torch.nn.quantized``, imported."""
    return importlib.import_module(f"{torch.__name__}.nn.quantized")


def every(torch: Any, scale: float, zero_point: int, dtype: str = "quint8") -> Any:
    """Each integer of a byte, twice."""
    low = -128 if dtype == "qint8" else 0
    values = (np.tile(np.arange(256), 2) + low - zero_point) * np.float32(scale)
    real = torch.from_numpy(values.astype(np.float32))
    return torch.quantize_per_tensor(real, scale, zero_point, getattr(torch, dtype))


INPUTS = [(0.043, 61, "quint8"), (0.0625, 128, "quint8"), (0.0377, -9, "qint8")]


def over_inputs(torch: Any, functions: dict[str, Any]) -> dict[str, Any]:
    """Each function, on each grid and engine: integers as one array, grids as another."""
    integers, grids = [], []
    for engine in ENGINES:
        torch.backends.quantized.engine = engine
        for scale, zero_point, dtype in INPUTS:
            x = every(torch, scale, zero_point, dtype)
            for function in functions.values():
                y = function(x)
                integers.append(y.int_repr().numpy().ravel().view(np.uint8))
                grids.append((y.q_scale(), y.q_zero_point()))
    return {"integers": np.concatenate(integers), "grids": np.array(grids)}


@parity_case()
def operations(torch: Any) -> dict[str, Any]:
    """torch.ops.quantized, with output parameters."""
    ops = torch.ops.quantized
    return over_inputs(
        torch,
        {
            "hardswish": lambda x: ops.hardswish(x, 0.031, 7),
            "elu": lambda x: ops.elu(x, 0.027, 37, 0.8),
            "elu_scaled": lambda x: ops.elu(x, 0.027, 37, 1.1, 1.3, 0.7),
            "celu": lambda x: ops.celu(x, 0.029, 41, 1.7),
            "leaky_relu": lambda x: ops.leaky_relu(x, 0.1, False, 0.033, 11),
            "threshold": lambda x: ops.threshold(x, 0.3, 0.1),
            "dropout": lambda x: ops.dropout(x, 1.0, 0, 0.5, False),
            "softmax": lambda x: ops.softmax(x.reshape(8, 64), 1, 0.0011, 3),
            "softmax_first": lambda x: ops.softmax(x.reshape(8, 64), 0, 0.0037, 3),
            "relu6": lambda x: ops.relu6(x, False),
            "clamp": lambda x: ops.clamp(x, -0.5, 1.5),
        },
    )


@parity_case()
def sigmoid_on_its_own_grid(torch: Any) -> dict[str, Any]:
    """The engine qnnpack knows one output grid for quint8; fbgemm and x86 any."""
    results = {}
    torch.backends.quantized.engine = "x86"
    for index, grid in enumerate(INPUTS):
        x = every(torch, *grid)
        results[f"x86-{index}"] = torch.ops.quantized.sigmoid(x, 0.0047, 13)
    torch.backends.quantized.engine = "qnnpack"
    results["qnnpack"] = torch.ops.quantized.sigmoid(every(torch, 0.05, 100), 1 / 256, 0)
    return results


@parity_case()
def functions(torch: Any) -> dict[str, Any]:
    """Functions of floats on quantized tensors; fixed output parameters of three of them."""
    functional = torch.nn.functional
    return over_inputs(
        torch,
        {
            "sigmoid": torch.sigmoid,
            "tanh": torch.tanh,
            "hardsigmoid": functional.hardsigmoid,
            "gelu": functional.gelu,
            "leaky_relu": lambda x: functional.leaky_relu(x, 0.2),
            "dropout": lambda x: functional.dropout(x, 0.5, training=False),
            "modules": torch.nn.Sequential(
                torch.nn.Tanh(), torch.nn.Hardsigmoid(), torch.nn.Sigmoid()
            ),
        },
    )


@parity_case()
def quantized_functions(torch: Any) -> dict[str, Any]:
    """torch.nn.quantized.functional."""
    functional = quantized_nn(torch).functional
    return over_inputs(
        torch,
        {
            "hardswish": lambda x: functional.hardswish(x, 0.031, 7),
            "elu": lambda x: functional.elu(x, 0.027, 37, 0.8),
            "celu": lambda x: functional.celu(x, 0.029, 41, 1.7),
            "leaky_relu": lambda x: functional.leaky_relu(x, 0.1),
            "leaky_relu_out": lambda x: functional.leaky_relu(x, 0.1, scale=0.033, zero_point=11),
            "threshold": lambda x: functional.threshold(x, 0.3, 0.1),
            "hardtanh": lambda x: functional.hardtanh(x, -0.7, 0.9),
            "clamp": lambda x: functional.clamp(x, -0.7, 0.9),
        },
    )


@parity_case()
def modules(torch: Any) -> dict[str, Any]:
    """Results, texts and states of the modules."""
    nnq = quantized_nn(torch)
    made = {
        "hardswish": nnq.Hardswish(0.031, 7),
        "elu": nnq.ELU(0.027, 37, 0.8),
        "leaky_relu": nnq.LeakyReLU(0.033, 11, 0.1),
        "sigmoid": nnq.Sigmoid(1 / 256, 0),
        "softmax": nnq.Softmax(0, 1 / 256, 0),
        "dropout": nnq.Dropout(0.3),
    }
    results = {}
    for name, module in made.items():
        results[name] = module(every(torch, 0.043, 61))
        state = module.state_dict().items()
        results[f"{name}/repr"] = f"{module!r} {[(k, v.dtype, v.item()) for k, v in state]}"
    return results


@parity_case(conventions="torch")
def prelu(torch: Any) -> dict[str, Any]:
    """One slope and one for each channel; the slope 1 of torch saturates in two of them."""
    results = {}
    grids = {"wide": (0.02, 40), "narrow": (0.001, 0), "high": (0.01, 180)}
    for dtype, name in ((d, n) for d in ("quint8", "qint8") for n in grids):
        scale, zero_point = grids[name]
        zero_point -= 128 if dtype == "qint8" else 0
        x = every(torch, 0.043, 61, dtype).reshape(2, 4, 64)
        for slopes in ([0.25], [0.25, -0.1, 0.6, 0.0]):
            weight = torch.from_numpy(np.float32(slopes))
            weight = torch.quantize_per_tensor(weight, scale, zero_point, getattr(torch, dtype))
            key = f"{dtype}-{name}-{len(slopes)}"
            results[key] = torch.ops.quantized.prelu(x, weight, 0.037, 50)
    return results


@parity_case(conventions="torch")
def conversion(torch: Any) -> dict[str, Any]:
    """Eager mode takes the output parameters from the observers."""
    nn, q = torch.nn, importlib.import_module(f"{torch.__name__}.ao.quantization")
    layers = [nn.Hardswish(), nn.ELU(0.7), nn.LeakyReLU(0.1), nn.Dropout(0.4), nn.PReLU(init=0.5)]
    model = nn.Sequential(q.QuantStub(), *layers, q.DeQuantStub()).eval()
    model.qconfig = q.QConfig(
        activation=q.MinMaxObserver.with_args(dtype=torch.quint8),
        weight=q.MinMaxObserver.with_args(dtype=torch.quint8),
    )
    data = np.random.default_rng(0).standard_normal((4, 128)).astype(np.float32) * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prepared = q.prepare(model)
        prepared(torch.from_numpy(data))
        converted = q.convert(prepared)
    return {"output": converted(torch.from_numpy(data)), "text": repr(converted)}
