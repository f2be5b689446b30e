"""Quantized normalization and the poolings of one and three dimensions."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from parity.harness import parity_case

ENGINES = ("fbgemm", "qnnpack")
INPUTS = [(0.043, 61, "quint8"), (0.0377, -9, "qint8")]


def quantized_nn(torch: Any, kind: str = "nn.quantized") -> Any:
    """``torch.nn.quantized``, imported."""
    return importlib.import_module(f"{torch.__name__}.{kind}")


def floats(torch: Any, seed: int, *shape: int, low: float = 0.0) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return torch.from_numpy(np.abs(values) + np.float32(low) if low else values)


def over_inputs(torch: Any, shape: tuple[int, ...], functions: dict[str, Any]) -> dict[str, Any]:
    """Each function, on each grid and engine: integers as one array."""
    integers = []
    # The engines agree, so that one dtype each will do.
    for engine, (scale, zero_point, dtype) in zip(ENGINES, INPUTS, strict=True):
        torch.backends.quantized.engine = engine
        real = floats(torch, 0, *shape)
        x = torch.quantize_per_tensor(real, scale, zero_point, getattr(torch, dtype))
        for function in functions.values():
            y = function(x)
            integers.append(y.int_repr().contiguous().numpy().ravel().view(np.uint8))
    return {"integers": np.concatenate(integers)}


def state_of(module: Any) -> str:
    """Keys, dtypes and shapes of a state dict."""
    parts = (f"{k} {v.dtype} {tuple(v.shape)}" for k, v in module.state_dict().items())
    return "; ".join(parts)


@parity_case()
def layer_norm(torch: Any) -> dict[str, Any]:
    """Rows of 64 and of 2 * 64 elements, with and without weight and bias."""
    ops = torch.ops.quantized
    one, two = floats(torch, 1, 64), floats(torch, 2, 2, 64)
    return over_inputs(
        torch,
        (3, 2, 64),
        {
            "one": lambda x: ops.layer_norm(x, [64], one, one * 0.3, 1e-5, 0.031, 99),
            "two": lambda x: ops.layer_norm(x, [2, 64], two, two * 0.3, 1e-3, 0.031, 99),
            "plain": lambda x: ops.layer_norm(x, [64], None, None, 1e-5, 0.031, 99),
        },
    )


@parity_case()
def group_and_instance_norm(torch: Any) -> dict[str, Any]:
    """Groups of one, two and all channels."""
    ops = torch.ops.quantized
    w, b = floats(torch, 1, 4), floats(torch, 2, 4)
    return over_inputs(
        torch,
        (2, 4, 4, 16),
        {
            "one": lambda x: ops.group_norm(x, 1, w, b, 1e-5, 0.031, 99),
            "two": lambda x: ops.group_norm(x, 2, w, b, 1e-5, 0.031, 99),
            "plain": lambda x: ops.group_norm(x, 4, None, None, 1e-5, 0.031, 99),
            "instance": lambda x: ops.instance_norm(x, w, b, 1e-5, 0.031, 99),
        },
    )


@parity_case()
def batch_norm(torch: Any) -> dict[str, Any]:
    """Every name, with and without ReLU."""
    ops = torch.ops.quantized
    parameters = [floats(torch, 1, 6), floats(torch, 2, 6), floats(torch, 3, 6)]
    arguments = (*parameters, floats(torch, 4, 6, low=0.1), 1e-5, 0.031, 99)
    results: dict[str, Any] = {}
    shapes = {"1d": (4, 6, 5), "2d": (2, 6, 3, 4), "3d": (2, 6, 2, 2, 3), "": (4, 6, 5)}
    for kind, shape in shapes.items():
        for relu in ("", "_relu"):
            run = getattr(ops, f"batch_norm{kind}{relu}")
            results[f"x{kind}{relu}"] = over_inputs(
                torch, shape, {"": lambda x, run=run: run(x, *arguments)}
            )
    return results


@parity_case()
def modules(torch: Any) -> dict[str, Any]:
    """Results, texts and states."""
    nnq, nniq = quantized_nn(torch), quantized_nn(torch, "nn.intrinsic.quantized")
    w, b = torch.nn.Parameter(floats(torch, 1, 4)), torch.nn.Parameter(floats(torch, 2, 4))
    made = {
        "layer": (nnq.LayerNorm([4], w, b, 0.031, 99), (8, 16, 4)),
        "group": (nnq.GroupNorm(2, 4, w, b, 0.031, 99), (2, 4, 8, 8)),
        "instance1": (nnq.InstanceNorm1d(4, w, b, 0.031, 99), (2, 4, 64)),
        "instance2": (nnq.InstanceNorm2d(4, None, None, 0.031, 99), (2, 4, 8, 8)),
        "instance3": (nnq.InstanceNorm3d(4, w, b, 0.031, 99), (2, 4, 4, 4, 4)),
        "batch2": (nnq.BatchNorm2d(4), (2, 4, 3, 3)),
        "batch3": (nnq.BatchNorm3d(4, eps=1e-3), (2, 4, 2, 2, 3)),
        "relu2": (nniq.BNReLU2d(4), (2, 4, 3, 3)),
        "relu3": (nniq.BNReLU3d(4), (2, 4, 2, 2, 3)),
    }
    results: dict[str, Any] = {}
    for name, (module, shape) in made.items():
        module.eval()
        results[f"{name}/state"] = state_of(module)
        if hasattr(module, "running_mean") and module.running_mean is not None:
            module.running_mean.copy_(floats(torch, 3, 4))
            module.running_var.copy_(floats(torch, 4, 4, low=0.1))
            module.scale, module.zero_point = torch.tensor(0.05), torch.tensor(44)
        x = torch.quantize_per_tensor(floats(torch, 0, *shape), 0.043, 61, torch.quint8)
        y = module(x)
        results[name] = y.int_repr().contiguous()
        results[f"{name}/repr"] = f"{module!r} {y.q_scale():.9g} {y.q_zero_point()}"
    return results


@parity_case()
def conversion(torch: Any) -> dict[str, Any]:
    """Eager mode: a group of batch norm and ReLU, then each norm."""
    nn, q = torch.nn, importlib.import_module(f"{torch.__name__}.ao.quantization")
    layers = [nn.BatchNorm2d(4), nn.ReLU(), nn.GroupNorm(2, 4), nn.BatchNorm2d(4), nn.LayerNorm(8)]
    model = nn.Sequential(q.QuantStub(), *layers, q.DeQuantStub())
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = floats(torch, seed, *parameter.shape)
    data = floats(torch, 99, 4, 4, 8, 8)
    for seed, buffer in enumerate(each for each in model.buffers() if each.ndim):
        buffer.copy_(floats(torch, seed, *buffer.shape, low=0.1))
    model = q.fuse_modules(model.eval(), [["1", "2"]])
    # Float norms sum in an order of their own, so the ranges are not left to them.
    fixed = q.FixedQParamsObserver.with_args(
        scale=0.031, zero_point=99, dtype=torch.quint8, quant_min=0, quant_max=255
    )
    model.qconfig = q.QConfig(activation=fixed, weight=q.default_weight_observer)
    prepared = q.prepare(model)
    converted = q.convert(prepared)
    y = converted(data[:2])
    return {"output": y, "text": repr(converted), "state": state_of(converted)}


@parity_case()
def pooling_of_few_channels(torch: Any) -> dict[str, Any]:
    """In three dimensions torch's vector code divides in another way than its tails.

    Below 64 channels all is tail, and that is the formula that pyqref follows.
    """
    functional = quantized_nn(torch).functional
    return over_inputs(
        torch,
        (2, 5, 4, 6, 6),
        {
            "avg": lambda x: functional.avg_pool3d(x, 2),
            "padded": lambda x: functional.avg_pool3d(x, 3, 2, 1, count_include_pad=False),
            "ceil": lambda x: functional.avg_pool3d(x, 3, 2, 1, ceil_mode=True),
            "divisor": lambda x: functional.avg_pool3d(x, 2, divisor_override=5),
            "adaptive": lambda x: functional.adaptive_avg_pool3d(x, (2, 4, 3)),
            "adaptive_even": lambda x: functional.adaptive_avg_pool3d(x, 2),
            "max1d": lambda x: functional.max_pool1d(x.reshape(2, 5, -1), 3, 2, 1),
        },
    )
