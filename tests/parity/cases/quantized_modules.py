"""The quantized layers: integers of every engine, conversions, states and texts."""

from __future__ import annotations

import importlib
import itertools
from typing import Any

import numpy as np
from parity.harness import Bound, parity_case


def module(torch: Any, name: str) -> Any:
    """Such as ``torch.nn.quantized``, imported."""
    return importlib.import_module(f"{torch.__name__}.{name}")


def tensor(torch: Any, seed: int, *shape: int, spread: float = 1.0) -> Any:
    values = np.random.default_rng(seed).standard_normal(shape) * spread
    return torch.from_numpy(values.astype(np.float32))


def activation(torch: Any, seed: int, *shape: int, zero_point: int = 61) -> Any:
    return torch.quantize_per_tensor(tensor(torch, seed, *shape), 0.043, zero_point, torch.quint8)


def weights(torch: Any, seed: int, *shape: int) -> dict[str, Any]:
    """Return one weight quantized per tensor and per channel."""
    weight = tensor(torch, seed, *shape, spread=0.3)
    scales = torch.from_numpy(np.linspace(0.004, 0.013, shape[0]))
    zero_points = torch.zeros(shape[0], dtype=torch.int64)
    return {
        "tensor": torch.quantize_per_tensor(weight, 0.0093, 0, torch.qint8),
        "channel": torch.quantize_per_channel(weight, scales, zero_points, 0, torch.qint8),
    }


def together(results: dict[str, Any]) -> dict[str, Any]:
    """Quantized tensors as a few arrays: integers, scales, zero points one after the other.

    Files of many small arrays are mostly headers.
    """
    return {
        "integers": np.concatenate([q.int_repr().numpy().ravel() for q in results.values()]),
        "scales": np.concatenate([_scales(q)[0] for q in results.values()]),
        "zero_points": np.concatenate([_scales(q)[1] for q in results.values()]),
        "what": "; ".join(
            f"{name} {tuple(q.shape)} {q.dtype} {q.qscheme()}" for name, q in results.items()
        ),
    }


def _scales(q: Any) -> tuple[np.ndarray, np.ndarray]:
    if "per_channel" in str(q.qscheme()):
        return q.q_per_channel_scales().numpy(), q.q_per_channel_zero_points().numpy()
    return np.array([q.q_scale()]), np.array([q.q_zero_point()])


def numbers(results: dict[str, Any]) -> np.ndarray:
    """Float tensors as one array."""
    return np.concatenate([each.detach().numpy().ravel() for each in results.values()])


ENGINES = ("fbgemm", "x86", "qnnpack")


@parity_case()
def linear(torch: Any) -> dict[str, Any]:
    results = {}
    x = activation(torch, 0, 7, 19)
    for engine, relu in itertools.product(ENGINES, (False, True)):
        torch.backends.quantized.engine = engine
        path = "nn.intrinsic.quantized" if relu else "nn.quantized"
        cls = module(torch, path).LinearReLU if relu else module(torch, path).Linear
        for scheme, weight in weights(torch, 1, 11, 19).items():
            for bias in (None, tensor(torch, 2, 11)):
                layer = cls(19, 11, bias is not None)
                layer.set_weight_bias(weight, bias)
                layer.scale, layer.zero_point = 0.057, 83
                key = f"{engine}-{relu}-{scheme}-{bias is not None}"
                results[key] = layer(x)
                results[key + "-3d"] = layer(x.reshape(1, 7, 19))
    return together(results)


GEOMETRIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "padded": {"padding": 1},
    "strided": {"stride": 2, "padding": 1},
    "dilated": {"dilation": 2, "padding": 2},
    "grouped": {"groups": 2, "padding": 1},
}


def _convolve(torch: Any, dimensions: int, size: int) -> dict[str, Any]:
    results = {}
    x = activation(torch, 3, 2, 4, *(size,) * dimensions)
    quantized = module(torch, "nn.quantized")
    fused = module(torch, "nn.intrinsic.quantized")
    for engine, (name, options) in itertools.product(("x86", "qnnpack"), GEOMETRIES.items()):
        torch.backends.quantized.engine = engine
        groups = options.get("groups", 1)
        shape = (6, 4 // groups, *(3,) * dimensions)
        for scheme, weight in weights(torch, 4, *shape).items():
            for relu in (False, True):
                if relu and dimensions == 1:
                    continue
                family = fused if relu else quantized
                cls = getattr(family, f"Conv{'ReLU' if relu else ''}{dimensions}d")
                layer = cls(4, 6, 3, **options)
                layer.set_weight_bias(weight, tensor(torch, 5, 6))
                layer.scale, layer.zero_point = 0.071, 90
                results[f"{engine}-{name}-{scheme}-{relu}"] = layer(x)
    return together(results)


@parity_case()
def conv1d(torch: Any) -> dict[str, Any]:
    return _convolve(torch, 1, 9)


@parity_case()
def conv2d(torch: Any) -> dict[str, Any]:
    return _convolve(torch, 2, 6)


@parity_case()
def conv3d(torch: Any) -> dict[str, Any]:
    return _convolve(torch, 3, 5)


@parity_case()
def conv2d_without_bias(torch: Any) -> dict[str, Any]:
    results = {}
    x = activation(torch, 6, 1, 3, 5, 5)
    for engine in ENGINES:
        torch.backends.quantized.engine = engine
        for scheme, weight in weights(torch, 7, 5, 3, 2, 3).items():
            layer = module(torch, "nn.quantized").Conv2d(3, 5, (2, 3), bias=False)
            layer.set_weight_bias(weight, None)
            layer.scale, layer.zero_point = 0.031, 117
            results[f"{engine}-{scheme}"] = layer(x)
    return together(results)


@parity_case()
def unpacked_scales(torch: Any) -> dict[str, Any]:
    """Some engines keep the scales of a weight as float32."""
    found = []
    for engine in ENGINES:
        torch.backends.quantized.engine = engine
        for family, shape in (("Linear", (3, 4)), ("Conv2d", (3, 4, 1, 1))):
            layer = getattr(module(torch, "nn.quantized"), family)(4, 3, *shape[2:3])
            for weight in weights(torch, 1, *shape).values():
                layer.set_weight_bias(weight, None)
                found.append(_scales(layer.weight())[0])
    return {"scales": np.concatenate(found)}


@parity_case()
def ties(torch: Any) -> dict[str, Any]:
    """Accumulators of which many stand exactly between two integers of the output."""
    integers = np.arange(256, dtype=np.float32).reshape(64, 4)
    x = torch.quantize_per_tensor(torch.from_numpy(integers), 1.0, 0, torch.quint8)
    pattern = np.array([[1, 0, 0, 0], [1, -1, 0, 0], [3, 1, 0, 0], [1, 1, 1, 1]], np.float32)
    weight = torch.quantize_per_tensor(torch.from_numpy(pattern), 1.0, 0, torch.qint8)
    results = {}
    for engine in ENGINES:
        torch.backends.quantized.engine = engine
        for scale, zero_point in ((2.0, 7), (4.0, 8)):
            layer = module(torch, "nn.quantized").Linear(4, 4)
            layer.set_weight_bias(weight, torch.from_numpy(np.float32([0.0, 0.5, 1.0, -1.5])))
            layer.scale, layer.zero_point = scale, zero_point
            results[f"{engine}-{scale}"] = layer(x)
    return together(results)


@parity_case()
def texts(torch: Any) -> dict[str, Any]:
    nnq = module(torch, "nn.quantized")
    nniq = module(torch, "nn.intrinsic.quantized")
    nnqd = module(torch, "nn.quantized.dynamic")
    layers = [
        nnq.Linear(20, 30),
        nnq.Conv1d(2, 3, 3),
        nnq.Conv2d(2, 4, (3, 5), stride=2, padding=1, dilation=2, groups=2, bias=False),
        nnq.Conv3d(2, 3, 3),
        nnq.ReLU6(),
        nnq.Quantize(0.5, 2, torch.quint8),
        nnq.DeQuantize(),
        nnq.FloatFunctional(),
        nnq.QFunctional(),
        nniq.LinearReLU(2, 3),
        nniq.ConvReLU2d(2, 3, 3, padding=1),
        nniq.ConvReLU3d(2, 3, 3),
        nnqd.Linear(2, 3),
        nnqd.Linear(2, 3, dtype=torch.float16),
        nnqd.LSTM(2, 3, num_layers=2, batch_first=True, dropout=0.5, bidirectional=True),
        nnqd.GRU(2, 3),
        nnqd.LSTMCell(2, 3),
        nnqd.RNNCell(2, 3, nonlinearity="relu"),
        torch.nn.Sequential(nnq.Linear(2, 3), nnq.QFunctional(), nnqd.Linear(2, 3)),
    ]
    return {"text": "\n".join(repr(layer) for layer in layers)}


@parity_case()
def states(torch: Any) -> dict[str, Any]:
    nnq = module(torch, "nn.quantized")
    layers = {
        "linear": nnq.Linear(3, 2),
        "conv": nnq.Conv2d(2, 3, 1),
        "conv_without_bias": nnq.Conv2d(2, 3, 1, bias=False),
        "functional": nnq.QFunctional(),
        "quantize": nnq.Quantize(0.25, 3, torch.qint8),
        "dynamic": module(torch, "nn.quantized.dynamic").Linear(3, 2),
    }
    results = {}
    for name, layer in layers.items():
        if name != "quantize":
            layer.scale, layer.zero_point = 0.11, 5
        state = layer.state_dict()
        versions = {key: each["version"] for key, each in state._metadata.items()}
        results[name] = f"{list(state)} {versions}"
        if name != "quantize":
            numbers = (float(state["scale"]), int(state["zero_point"]))
            layer.load_state_dict(layer.state_dict())
            results[name] += f" {numbers} {layer.scale} {layer.zero_point}"
    return results


@parity_case()
def functional_modules(torch: Any) -> dict[str, Any]:
    """QFunctional on quint8 and qint32."""
    results = {}
    functional = module(torch, "nn.quantized").QFunctional()
    functional.scale, functional.zero_point = 0.081, 47
    for name in ("quint8", "qint8", "qint32"):
        dtype = getattr(torch, name)
        a = torch.quantize_per_tensor(tensor(torch, 8, 2, 128), 0.043, 11, dtype)
        b = torch.quantize_per_tensor(tensor(torch, 9, 2, 128), 0.029, 19, dtype)
        calls = {
            "add": functional.add(a, b),
            "mul": functional.mul(a, b),
            "add_relu": functional.add_relu(a, b),
            "cat": functional.cat([a, b], dim=1),
            "broadcast": functional.add(a, b[:1]),
            "add_scalar": functional.add_scalar(a, 1.5),
            "mul_scalar": functional.mul_scalar(a, -0.75),
            "mul_scalar_zero": functional.mul_scalar(a, 0.0),
        }
        if name != "qint32":
            calls["matmul"] = functional.matmul(a, b.transpose(0, 1).contiguous())
        results[name] = together(calls)
    return results


@parity_case()
def dynamic_linear(torch: Any) -> dict[str, Any]:
    results = {}
    cls = module(torch, "nn.quantized.dynamic").Linear
    for engine in ENGINES:
        torch.backends.quantized.engine = engine
        for scheme, weight in weights(torch, 1, 11, 19).items():
            for bias in (None, tensor(torch, 2, 11)):
                layer = cls(19, 11, bias is not None)
                layer.set_weight_bias(weight, bias)
                key = f"{engine}-{scheme}-{bias is not None}"
                results[key] = layer(tensor(torch, 10, 4, 19, spread=2.0))
                results[key + "-small"] = layer(tensor(torch, 11, 1, 2, 19, spread=1e-4))
    return {"outputs": numbers(results)}


def _close(depth: int) -> Bound:
    return Bound(
        f"float32 sums of {depth} products in another order: depth * 2**-23 of the largest",
        relative=depth * 2.0**-23,
    )


@parity_case(bounds={"*": _close(19)})
def dynamic_linear_float16(torch: Any) -> dict[str, Any]:
    layer = module(torch, "nn.quantized.dynamic").Linear(19, 11, dtype=torch.float16)
    layer.set_weight_bias(tensor(torch, 1, 11, 19, spread=0.3), tensor(torch, 2, 11))
    return {"output": layer(tensor(torch, 10, 4, 19)), "weight": layer.weight()}


def _recurrent_state(torch: Any, gates: int) -> dict[str, Any]:
    """Weights and biases of two layers of hidden size 5 on 3 inputs."""
    state = {}
    for layer, columns in ((0, 3), (1, 5)):
        for part, depth in (("ih", columns), ("hh", 5)):
            values = tensor(torch, 20 + layer, gates * 5, depth, spread=0.4)
            state[f"weight_{part}_l{layer}"] = torch.quantize_per_tensor(
                values, 0.011, 0, torch.qint8
            )
            state[f"bias_{part}_l{layer}"] = tensor(torch, 30 + layer, gates * 5, spread=0.2)
    return state


# One flip of a quantized hidden state moves a gate by scale_x * scale_w * 127; the
# activations of the two libraries differ by units in the last place only.
_ACTIVATION = Bound("sigmoid and tanh within 4 units in the last place of 1", absolute=2.0**-21)


@parity_case(bounds={"*": _ACTIVATION})
def dynamic_lstm(torch: Any) -> dict[str, Any]:
    layer = module(torch, "nn.quantized.dynamic").LSTM(3, 5, 2)
    layer.set_weight_bias(_recurrent_state(torch, 4))
    output, (hidden, cell) = layer(tensor(torch, 12, 4, 2, 3))
    return {"output": output, "hidden": hidden, "cell": cell}


@parity_case(bounds={"*": _ACTIVATION})
def dynamic_gru(torch: Any) -> dict[str, Any]:
    layer = module(torch, "nn.quantized.dynamic").GRU(3, 5, 2)
    layer.set_weight_bias(_recurrent_state(torch, 3))
    output, hidden = layer(tensor(torch, 13, 4, 2, 3))
    return {"output": output, "hidden": hidden}
