"""Layers with quantized weights and float input: convolutions, packed sequences, fusion."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from parity.cases.quantized_modules import activation, module, numbers, tensor, together, weights
from parity.harness import Bound, parity_case

# Gates in [0, 1] and states below 1: sigmoid and tanh differ by a few ulps from torch's,
# 2**-24 each, and 6 steps of 2 layers pass them on with factors below 2.
_GATES = Bound("sigmoid and tanh within a few ulps, over 6 steps", absolute=2.0**-18)


def quiet(cls: Any, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(*args, **kwargs)


@parity_case()
def convolutions(torch: Any) -> dict[str, Any]:
    """The output lies on the grid of the input, and saturates at its ends."""
    results = {}
    for engine, dimensions in itertools.product(("fbgemm", "qnnpack"), (1, 2, 3)):
        torch.backends.quantized.engine = engine
        cls = getattr(module(torch, "nn.quantized.dynamic"), f"Conv{dimensions}d")
        for scheme, weight in weights(torch, 4, 6, 2, *(3,) * dimensions).items():
            layer = quiet(cls, 4, 6, 3, padding=1, groups=2)
            layer.set_weight_bias(weight, tensor(torch, 5, 6, spread=0.1))
            x = tensor(torch, 6, 2, 4, *(5 if dimensions < 3 else 3,) * dimensions)
            for reduce_range in (True, False):
                results[f"{engine}-{dimensions}-{scheme}-{reduce_range}"] = layer(x, reduce_range)
    return {"y": numbers(results)}


@parity_case()
def convolutions_from_float(torch: Any) -> dict[str, Any]:
    """A custom mapping lets quantize_dynamic swap convolutions."""
    nn, dynamic = torch.nn, module(torch, "nn.quantized.dynamic")
    quantization = module(torch, "ao.quantization")
    torch.backends.quantized.engine = "fbgemm"
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 4, 2), nn.Conv2d(4, 2, 1))
    for seed, parameter in enumerate(model.parameters()):
        parameter.data = tensor(torch, 50 + seed, *parameter.shape, spread=0.2)
    qconfig = quantization.default_dynamic_qconfig
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = quantization.quantize_dynamic(
            model,
            {nn.Conv2d: qconfig, nn.ConvTranspose2d: qconfig},
            mapping={
                nn.Conv2d: dynamic.Conv2d,
                nn.ConvTranspose2d: dynamic.ConvTranspose2d,
            },
        )
    keys = " ".join(converted.state_dict())
    return {"y": converted(tensor(torch, 60, 2, 3, 6, 6)), "repr": repr(converted), "keys": keys}


@parity_case()
def linear_relu(torch: Any) -> dict[str, Any]:
    """Fused linear layers become dynamic ones, from the default table and from training."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    results: dict[str, Any] = {}
    for engine in ("fbgemm", "x86", "qnnpack"):
        torch.backends.quantized.engine = engine
        model = nn.Sequential(nn.Linear(9, 7), nn.ReLU()).eval()
        for seed, parameter in enumerate(model.parameters()):
            parameter.data = tensor(torch, 70 + seed, *parameter.shape, spread=0.4)
        fused = quantization.fuse_modules(model, ["0", "1"])
        kind = type(fused[0])
        spec = {kind: quantization.default_dynamic_qconfig}
        converted = quantization.quantize_dynamic(fused, spec)
        results[engine] = converted(tensor(torch, 80, 6, 9))
        results[engine + "-repr"] = repr(converted[0])
        if engine == "fbgemm":
            half = quantization.quantize_dynamic(
                fused, {kind: quantization.float16_dynamic_qconfig}
            )
            results[engine + "-half-repr"] = repr(half[0])
    return results


def _fill(torch: Any, layer: Any) -> Any:
    for seed, parameter in enumerate(layer.parameters()):
        parameter.data = tensor(torch, 90 + seed, *parameter.shape, spread=0.4)
    return layer


@parity_case(bounds={"*": _GATES})
def packed_sequences(torch: Any) -> dict[str, Any]:
    """Sequences of different lengths, sorted or not, in both directions."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    rnn = module(torch, "nn.utils.rnn")
    results: dict[str, Any] = {}
    padded = tensor(torch, 100, 6, 4, 3)
    for engine, name in itertools.product(("fbgemm", "qnnpack"), ("LSTM", "GRU")):
        torch.backends.quantized.engine = engine
        layer = _fill(torch, getattr(nn, name)(3, 5, 2, bidirectional=True))
        layer = quantization.quantize_dynamic(nn.Sequential(layer), {type(layer)})[0]
        for lengths in ([6, 4, 4, 1], [2, 6, 1, 5]):
            packed = rnn.pack_padded_sequence(
                padded, torch.from_numpy(np.array(lengths)), enforce_sorted=lengths[0] == 6
            )
            output, states = layer(packed)
            back, _ = rnn.pad_packed_sequence(output)
            states = states if isinstance(states, tuple) else (states,)
            key = f"{engine}-{name}-{lengths[0]}"
            results[key] = numbers({"output": back, **dict(enumerate(states))})
            given = tensor(torch, 101, 4, 4, 5, spread=0.5)
            hx = (given, given * 0.5) if name == "LSTM" else given
            output, _ = layer(packed, hx)
            results[key + "-given"] = output.data
    return results


@parity_case(bounds={"*": _GATES})
def cells(torch: Any) -> dict[str, Any]:
    """The steps of torch.ops.quantized."""
    ops, results = torch.ops.quantized, {}
    x, h, c = tensor(torch, 110, 4, 3), tensor(torch, 111, 4, 5), tensor(torch, 112, 4, 5)
    gates = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
    for engine, (name, count) in itertools.product(("fbgemm", "qnnpack"), gates.items()):
        torch.backends.quantized.engine = engine
        w_ih, w_hh = (
            torch.quantize_per_tensor(
                tensor(torch, seed, count * 5, columns, spread=0.4), 0.01, 0, torch.qint8
            )
            for seed, columns in ((113, 3), (114, 5))
        )
        bias = tensor(torch, 115, count * 5)
        packed = ops.linear_prepack(w_ih, bias), ops.linear_prepack(w_hh, bias)
        step = getattr(ops, f"quantized_{name}_cell_dynamic")
        result = step(x, [h, c] if name == "lstm" else h, *packed, bias, bias)
        result = result if isinstance(result, tuple) else (result,)
        results[f"{engine}-{name}"] = numbers(dict(enumerate(result)))
    return results


@parity_case()
def linear_with_given_grid(torch: Any) -> dict[str, Any]:
    ops, results = torch.ops.quantized, {}
    x = tensor(torch, 120, 5, 9)
    for scheme, weight in weights(torch, 121, 7, 9).items():
        for bias in (None, tensor(torch, 122, 7)):
            torch.backends.quantized.engine = "fbgemm"
            packed = ops.linear_prepack(weight, bias)
            key = f"{scheme}-{bias is not None}"
            plain = ops.linear_with_input_q_dq_qweight_dq_output_fp32
            relu = ops.linear_with_input_q_dq_qweight_dq_relu_output_fp32
            results[key] = plain(x, 0.021, 117, packed)
            results[key + "-relu"] = relu(x, 0.021, 117, packed)
    return {"y": numbers(results)}


@parity_case()
def fused_functions(torch: Any) -> dict[str, Any]:
    """Linear layers and convolutions with a function, which only onednn has in torch."""
    torch.backends.quantized.engine = "onednn"
    fused, results = module(torch, "ao.nn.intrinsic.quantized"), {}
    x = activation(torch, 130, 6, 9)
    for scheme, weight in weights(torch, 131, 7, 9).items():
        leaky = fused.LinearLeakyReLU(9, 7, 0.2)
        leaky.set_weight_bias(weight, tensor(torch, 132, 7))
        leaky.scale, leaky.zero_point = 0.057, 83
        tanh = fused.LinearTanh(9, 7)
        tanh.set_weight_bias(weight, tensor(torch, 132, 7))
        tanh.scale, tanh.zero_point = 2 / 256, 128
        results[f"leaky-{scheme}"], results[f"tanh-{scheme}"] = leaky(x), tanh(x)
    x = activation(torch, 133, 2, 4, 6, 6)
    other = torch.quantize_per_tensor(tensor(torch, 134, 2, 5, 4, 4), 0.03, 20, torch.quint8)
    for scheme, weight in weights(torch, 135, 5, 4, 3, 3).items():
        for name in ("ConvAdd2d", "ConvAddReLU2d"):
            layer = getattr(fused, name)(4, 5, 3)
            layer.set_weight_bias(weight, tensor(torch, 136, 5))
            layer.scale, layer.zero_point = 0.091, 71
            results[f"{name}-{scheme}"] = layer(x, other)
    texts = [
        repr(each)
        for each in (leaky, tanh, layer, fused.ConvAdd2d(4, 5, 3), fused.ConvReLU1d(4, 5, 3))
    ]
    return {**together(results), "texts": " ".join(texts)}
