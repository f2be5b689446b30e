"""Transposed convolutions on integers and on float input: integers, states, texts.

torch's engine onednn, to which x86 gives symmetric weights, is right only where input and
output have as many channels, and its qnnpack only in one and two dimensions (see the
errata): the cases keep to what torch computes.
"""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from parity.cases.quantized_modules import activation, module, numbers, tensor, together
from parity.harness import parity_case

GEOMETRIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "strided": {"stride": 2, "padding": 1},
    "longer": {"stride": 2, "padding": 1, "output_padding": 1},
    "dilated": {"dilation": 2, "padding": 3},
    "grouped": {"groups": 2, "stride": 3},
}


def weight(torch: Any, seed: int, shape: tuple[int, ...], scheme: str) -> Any:
    values = tensor(torch, seed, *shape, spread=0.3)
    if scheme == "tensor":
        return torch.quantize_per_tensor(values, 0.0093, 0, torch.qint8)
    if scheme == "shifted":
        return torch.quantize_per_tensor(values, 0.0093, 5, torch.qint8)
    scales = torch.from_numpy(np.linspace(0.004, 0.013, shape[1]))
    zero_points = torch.zeros(shape[1], dtype=torch.int64)
    return torch.quantize_per_channel(values, scales, zero_points, 1, torch.qint8)


def _transpose(torch: Any, dimensions: int, size: int) -> dict[str, Any]:
    results = {}
    cls = getattr(module(torch, "nn.quantized"), f"ConvTranspose{dimensions}d")
    settings = [("fbgemm", "tensor", 6), ("fbgemm", "shifted", 6), ("x86", "tensor", 4)]
    if dimensions < 3:
        settings += [("qnnpack", "tensor", 6), ("qnnpack", "shifted", 6), ("qnnpack", "channel", 6)]
    x = activation(torch, 3, 1, 4, *(size,) * dimensions)
    for (engine, scheme, outputs), (name, options) in itertools.product(
        settings, GEOMETRIES.items()
    ):
        groups = options.get("groups", 1)
        if scheme == "channel" and groups > 1:
            continue
        torch.backends.quantized.engine = engine
        shape = (4, outputs // groups, *(3,) * dimensions)
        layer = cls(4, outputs, 3, **options)
        layer.set_weight_bias(weight(torch, 4, shape, scheme), tensor(torch, 5, outputs))
        layer.scale, layer.zero_point = 0.071, 90
        results[f"{engine}-{scheme}-{name}"] = layer(x)
    return together(results)


@parity_case()
def conv_transpose1d(torch: Any) -> dict[str, Any]:
    return _transpose(torch, 1, 9)


@parity_case()
def conv_transpose2d(torch: Any) -> dict[str, Any]:
    return _transpose(torch, 2, 4)


@parity_case()
def conv_transpose3d(torch: Any) -> dict[str, Any]:
    return _transpose(torch, 3, 3)


@parity_case()
def operations(torch: Any) -> dict[str, Any]:
    """The packed weight says what it is, and gives back what it was given."""
    ops, results = torch.ops.quantized, {}
    for engine in ("fbgemm", "x86", "qnnpack"):
        torch.backends.quantized.engine = engine
        for extra in (0, 1):
            given = weight(torch, 6, (4, 2, 3, 2), "tensor")
            packed = ops.conv_transpose2d_prepack(
                given, tensor(torch, 7, 4), [2, 2], [1, 0], [extra, 0], [1, 1], 2
            )
            key = f"{engine}-{extra}"
            unpacked, bias = ops.conv_transpose2d_unpack(packed)
            results[key] = {"weight": unpacked, "bias": bias}
            results[key + "-geometry"] = [
                *ops.conv_transpose2d_stride(packed),
                *ops.conv_transpose2d_padding(packed),
                *ops.conv_transpose2d_output_padding(packed),
                *ops.conv_transpose2d_dilation(packed),
                ops.conv_transpose2d_groups(packed),
                ops.conv_transpose2d_transpose(packed),
            ]
    return results


@parity_case()
def texts_and_states(torch: Any) -> dict[str, Any]:
    """Repr, keys of the state, and a state that is loaded."""
    torch.backends.quantized.engine = "fbgemm"
    results: dict[str, Any] = {}
    for dimensions in (1, 2, 3):
        cls = getattr(module(torch, "nn.quantized"), f"ConvTranspose{dimensions}d")
        layer = cls(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False)
        shape = (4, 3, *(3,) * dimensions)
        layer.set_weight_bias(weight(torch, 8, shape, "tensor"), None)
        layer.scale, layer.zero_point = 0.5, 3
        other = cls(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2, bias=False)
        other.load_state_dict(layer.state_dict())
        results[f"{dimensions}"] = {
            "repr": repr(other),
            "keys": " ".join(layer.state_dict()),
            "weight": other.weight(),
        }
    results["plain"] = repr(module(torch, "nn.quantized").ConvTranspose2d(4, 6, (3, 5)))
    return results


def sixteenths(torch: Any, seed: int, *shape: int, spread: float = 1.0) -> Any:
    """Values whose float sums are exact, in whatever order they are added."""
    return (tensor(torch, seed, *shape, spread=spread) * 16).round() / 16


@parity_case()
def folded_batch_norm(torch: Any) -> dict[str, Any]:
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    model = nn.Sequential(nn.ConvTranspose2d(4, 3, 3, bias=False), nn.BatchNorm2d(3)).eval()
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = tensor(torch, 20 + seed, *parameter.shape, spread=0.3)
    model[1].running_mean = tensor(torch, 30, 3, spread=0.1)
    model[1].running_var = tensor(torch, 31, 3).abs() + 0.5
    fused = quantization.fuse_modules(model, ["0", "1"])
    return {"weight": fused[0].weight, "bias": fused[0].bias, "repr": repr(fused)}


@parity_case()
def static_flow(torch: Any) -> dict[str, Any]:
    """Prepare and convert swap the layers."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    model = nn.Sequential(
        quantization.QuantStub(),
        nn.ConvTranspose2d(4, 4, 3, stride=2, padding=1, output_padding=1),
        nn.ConvTranspose2d(4, 3, 2, bias=False),
        quantization.DeQuantStub(),
    ).eval()
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = sixteenths(torch, 20 + seed, *parameter.shape, spread=0.3)
    torch.backends.quantized.engine = "fbgemm"
    model.qconfig = quantization.QConfig(
        activation=quantization.MinMaxObserver.with_args(dtype=torch.quint8, reduce_range=True),
        weight=quantization.default_weight_observer,
    )
    prepared = quantization.prepare(model)
    x = sixteenths(torch, 40, 2, 4, 5, 5)
    prepared(x)
    converted = quantization.convert(prepared)
    return {"y": converted(x), "repr": repr(converted)}


@parity_case()
def dynamic(torch: Any) -> dict[str, Any]:
    """The output lies on the grid of the input."""
    results = {}
    for engine, dimensions in itertools.product(("fbgemm", "qnnpack"), (1, 2, 3)):
        if engine == "qnnpack" and dimensions == 3:
            continue
        torch.backends.quantized.engine = engine
        cls = getattr(module(torch, "nn.quantized.dynamic"), f"ConvTranspose{dimensions}d")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layer = cls(4, 6, 2, stride=2)
        shape = (4, 6, *(2,) * dimensions)
        layer.set_weight_bias(weight(torch, 9, shape, "tensor"), tensor(torch, 10, 6, spread=0.1))
        x = tensor(torch, 11, 2, 4, *(4 if dimensions < 3 else 2,) * dimensions)
        results[f"{engine}-{dimensions}"] = layer(x)
    return {"y": numbers(results)}
