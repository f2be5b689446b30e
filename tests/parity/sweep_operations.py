"""The operations of ``sweep.py``: each draws its input and runs, under torch or under pyqref.

Weights leave the last bit of activations free where torch's own kernels would saturate at
16 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Draw = np.random.Generator
OPERATIONS: dict[str, Callable[[Any, Draw], Any]] = {}


def operation(script: Callable[[Any, Draw], Any]) -> Callable[[Any, Draw], Any]:
    """Register a script that draws its input and runs one operation."""
    OPERATIONS[script.__name__] = script
    return script


def grid(draw: Draw) -> tuple[float, int]:
    """A scale and a zero point; powers of two among the scales make exact ties."""
    scale = 2.0 ** draw.integers(-6, 1) if draw.random() < 0.4 else draw.uniform(0.005, 0.5)
    return float(np.float32(scale)), int(draw.integers(0, 200))


def activation(torch: Any, draw: Draw, *shape: int, top: int = 256) -> Any:
    """A quint8 tensor of random integers."""
    scale, zero_point = grid(draw)
    integers = draw.integers(0, top, shape).astype(np.uint8)
    values = (integers.astype(np.float64) - zero_point) * scale
    x = torch.from_numpy(values.astype(np.float32))
    return torch.quantize_per_tensor(x, scale, zero_point, torch.quint8)


def weight(torch: Any, draw: Draw, *shape: int, axis: int = 0) -> Any:
    """A qint8 weight, per tensor or per channel."""
    integers = draw.integers(-127, 128, shape).astype(np.float32)
    if draw.random() < 0.5:
        scale = grid(draw)[0]
        return torch.quantize_per_tensor(
            torch.from_numpy(integers * np.float32(scale)), scale, 0, torch.qint8
        )
    scales = draw.uniform(0.005, 0.5, shape[axis]).astype(np.float32)
    along = scales.reshape([-1 if at == axis else 1 for at in range(len(shape))])
    x = torch.from_numpy((integers * along).astype(np.float32))
    zero_points = torch.zeros(shape[axis], dtype=torch.int64)
    return torch.quantize_per_channel(x, torch.from_numpy(scales), zero_points, axis, torch.qint8)


def bias(torch: Any, draw: Draw, length: int) -> Any:
    """Draw a float bias, or None."""
    drawn = draw.standard_normal(length).astype(np.float32)
    return None if draw.random() < 0.3 else torch.from_numpy(drawn)


def output_grid(draw: Draw, fan_in: int) -> tuple[float, int]:
    """Parameters of an output that leave most, not all, results in range."""
    return float(np.float32(draw.uniform(0.2, 2.0) * np.sqrt(fan_in))), int(draw.integers(0, 200))


@operation
def quantize_per_tensor(torch: Any, draw: Draw) -> Any:
    scale, zero_point = grid(draw)
    x = (draw.integers(-700, 700, 60000) * np.float32(scale / 2)).astype(np.float32)
    return torch.quantize_per_tensor(torch.from_numpy(x), scale, zero_point, torch.quint8)


@operation
def quantize_per_channel(torch: Any, draw: Draw) -> Any:
    scales = draw.uniform(0.01, 1.0, 7)
    x = torch.from_numpy((draw.standard_normal((7, 9000)) * 30).astype(np.float32))
    points = torch.from_numpy(draw.integers(-90, 90, 7))
    return torch.quantize_per_channel(x, torch.from_numpy(scales), points, 0, torch.qint8)


@operation
def fake_quantize_per_tensor(torch: Any, draw: Draw) -> Any:
    scale, zero_point = grid(draw)
    x = (draw.integers(-700, 700, 60000) * np.float32(scale / 2)).astype(np.float32)
    return torch.fake_quantize_per_tensor_affine(torch.from_numpy(x), scale, zero_point, 0, 255)


def _linear(torch: Any, draw: Draw, run: str) -> Any:
    m, k, n = (int(each) for each in draw.integers(1, 90, 3))
    x = activation(torch, draw, m * 4, k, top=128)
    packed = torch.ops.quantized.linear_prepack(weight(torch, draw, n, k), bias(torch, draw, n))
    return getattr(torch.ops.quantized, run)(x, packed, *output_grid(draw, k))


@operation
def linear(torch: Any, draw: Draw) -> Any:
    return _linear(torch, draw, "linear")


@operation
def linear_relu(torch: Any, draw: Draw) -> Any:
    return _linear(torch, draw, "linear_relu")


@operation
def linear_dynamic(torch: Any, draw: Draw) -> Any:
    m, k, n = (int(each) for each in draw.integers(1, 90, 3))
    x = torch.from_numpy(draw.standard_normal((m * 4, k)).astype(np.float32))
    packed = torch.ops.quantized.linear_prepack(weight(torch, draw, n, k), bias(torch, draw, n))
    return torch.ops.quantized.linear_dynamic(x, packed, True)


def _conv(torch: Any, draw: Draw, dims: int, run: str) -> Any:
    groups = int(draw.choice([1, 1, 2, 3]))
    inner, outer = (int(each) * groups for each in draw.integers(1, 9, 2))
    side = {1: 60, 2: 14, 3: 7}[dims]
    stride, dilation = [int(draw.integers(1, 3))] * dims, [int(draw.integers(1, 3))] * dims
    x = activation(torch, draw, 4, inner, *[side] * dims, top=128)
    kernel = weight(torch, draw, outer, inner // groups, *[3] * dims)
    prepack = getattr(torch.ops.quantized, f"conv{dims}d_prepack")
    packed = prepack(kernel, bias(torch, draw, outer), stride, [1] * dims, dilation, groups)
    return getattr(torch.ops.quantized, run)(x, packed, *output_grid(draw, inner * 3**dims))


for _dims in (1, 2, 3):
    for _suffix in ("", "_relu"):
        _name = f"conv{_dims}d{_suffix}"
        OPERATIONS[_name] = lambda torch, draw, dims=_dims, run=_name: _conv(torch, draw, dims, run)


def _transposed(torch: Any, draw: Draw, dims: int) -> Any:
    inner, outer = (int(each) for each in draw.integers(1, 9, 2))
    side = {1: 40, 2: 10}[dims]
    stride = [int(draw.integers(1, 3))] * dims
    x = activation(torch, draw, 4, inner, *[side] * dims, top=128)
    kernel = torch.quantize_per_tensor(
        torch.from_numpy(draw.integers(-127, 128, (inner, outer, *[3] * dims)).astype(np.float32)),
        1.0,
        0,
        torch.qint8,
    )
    prepack = getattr(torch.ops.quantized, f"conv_transpose{dims}d_prepack")
    zeros, ones = [0] * dims, [1] * dims
    packed = prepack(kernel, bias(torch, draw, outer), stride, ones, zeros, ones, 1)
    run = getattr(torch.ops.quantized, f"conv_transpose{dims}d")
    return run(x, packed, *output_grid(draw, inner * 100))


@operation
def conv_transpose1d(torch: Any, draw: Draw) -> Any:
    return _transposed(torch, draw, 1)


@operation
def conv_transpose2d(torch: Any, draw: Draw) -> Any:
    return _transposed(torch, draw, 2)


# A multiple of 64 elements: torch's loops round otherwise in their tails (see the errata).
PAIR = (64, 640)

for _name in ("add", "add_relu", "mul", "mul_relu"):
    OPERATIONS[_name] = lambda torch, draw, run=_name: getattr(torch.ops.quantized, run)(
        activation(torch, draw, *PAIR), activation(torch, draw, *PAIR), *grid(draw)
    )


@operation
def cat(torch: Any, draw: Draw) -> Any:
    parts = [activation(torch, draw, 64, 320), activation(torch, draw, 64, 320)]
    return torch.ops.quantized.cat(parts, 1, *grid(draw))


@operation
def add_scalar(torch: Any, draw: Draw) -> Any:
    return torch.ops.quantized.add_scalar(
        activation(torch, draw, *PAIR), float(draw.uniform(-9, 9))
    )


@operation
def mul_scalar(torch: Any, draw: Draw) -> Any:
    return torch.ops.quantized.mul_scalar(
        activation(torch, draw, *PAIR), float(draw.uniform(-3, 3))
    )


def _image(torch: Any, draw: Draw) -> Any:
    return activation(torch, draw, 4, 16, 24, 24)


@operation
def max_pool2d(torch: Any, draw: Draw) -> Any:
    return torch.nn.functional.max_pool2d(_image(torch, draw), 3, 1, 1)


@operation
def avg_pool2d(torch: Any, draw: Draw) -> Any:
    return torch.nn.functional.avg_pool2d(_image(torch, draw), int(draw.integers(2, 4)), 1)


@operation
def adaptive_avg_pool2d(torch: Any, draw: Draw) -> Any:
    return torch.nn.functional.adaptive_avg_pool2d(_image(torch, draw), (12, 8))


@operation
def interpolate_nearest(torch: Any, draw: Draw) -> Any:
    return torch.nn.functional.interpolate(_image(torch, draw), size=(31, 17), mode="nearest")


@operation
def interpolate_bilinear(torch: Any, draw: Draw) -> Any:
    resize = torch.nn.functional.interpolate
    return resize(_image(torch, draw), size=(31, 17), mode="bilinear", align_corners=False)


@operation
def mean(torch: Any, draw: Draw) -> Any:
    return activation(torch, draw, 2000, 16, 4, 4).mean([2, 3])


ACTIVATIONS: dict[str, Callable[[Any, Any, Draw], Any]] = {
    "relu": lambda torch, x, _: torch.nn.functional.relu(x),
    "relu6": lambda torch, x, _: torch.ops.quantized.relu6(x),
    "clamp": lambda torch, x, _: torch.ops.quantized.clamp(x, -1.0, 2.0),
    "leaky_relu": lambda torch, x, d: torch.ops.quantized.leaky_relu(x, 0.01, False, *grid(d)),
    "hardswish": lambda torch, x, d: torch.ops.quantized.hardswish(x, *grid(d)),
    "hardsigmoid": lambda torch, x, _: torch.nn.functional.hardsigmoid(x),
    "sigmoid": lambda torch, x, _: torch.sigmoid(x),
    "tanh": lambda torch, x, _: torch.tanh(x),
    "elu": lambda torch, x, d: torch.ops.quantized.elu(x, *grid(d), 1.0),
    "celu": lambda torch, x, d: torch.ops.quantized.celu(x, *grid(d), 0.7),
    "threshold": lambda torch, x, _: torch.ops.quantized.threshold(x, 0.3, 0.1),
    "softmax": lambda torch, x, _: torch.ops.quantized.softmax(x, 1, 1 / 256, 0),
}
for _name, _run in ACTIVATIONS.items():
    OPERATIONS[_name] = lambda torch, draw, run=_run: run(
        torch, activation(torch, draw, *PAIR), draw
    )


def _parameters(torch: Any, draw: Draw, length: int, count: int) -> list[Any]:
    drawn = draw.uniform(0.5, 1.5, (count, length)).astype(np.float32)
    return [torch.from_numpy(each) for each in drawn]


@operation
def batch_norm2d(torch: Any, draw: Draw) -> Any:
    g, b, m, v = _parameters(torch, draw, 16, 4)
    return torch.ops.quantized.batch_norm2d(_image(torch, draw), g, b, m, v, 1e-5, *grid(draw))


@operation
def batch_norm3d(torch: Any, draw: Draw) -> Any:
    g, b, m, v = _parameters(torch, draw, 16, 4)
    x = activation(torch, draw, 4, 16, 8, 8, 9)
    return torch.ops.quantized.batch_norm3d(x, g, b, m, v, 1e-5, *grid(draw))


@operation
def layer_norm(torch: Any, draw: Draw) -> Any:
    g, b = _parameters(torch, draw, 640, 2)
    x = activation(torch, draw, *PAIR)
    return torch.ops.quantized.layer_norm(x, [640], g, b, 1e-5, *grid(draw))


@operation
def group_norm(torch: Any, draw: Draw) -> Any:
    g, b = _parameters(torch, draw, 16, 2)
    return torch.ops.quantized.group_norm(_image(torch, draw), 4, g, b, 1e-5, *grid(draw))


@operation
def instance_norm(torch: Any, draw: Draw) -> Any:
    g, b = _parameters(torch, draw, 16, 2)
    return torch.ops.quantized.instance_norm(_image(torch, draw), g, b, 1e-5, *grid(draw))


def _quantized_dynamically(torch: Any, draw: Draw, kind: str, features: int) -> Any:
    """A recurrent layer or cell with 24 hidden features and drawn parameters."""
    float_layer = getattr(torch.nn, kind)(features, 24)
    arrays = {
        name: torch.from_numpy(draw.uniform(-0.3, 0.3, tuple(each.shape)).astype(np.float32))
        for name, each in float_layer.state_dict().items()
    }
    float_layer.load_state_dict(arrays)
    model = torch.nn.Sequential(float_layer).eval()
    return torch.ao.quantization.quantize_dynamic(model, {getattr(torch.nn, kind)})[0]


def _sequence(torch: Any, draw: Draw, kind: str) -> Any:
    layer = _quantized_dynamically(torch, draw, kind, 16)
    return layer(torch.from_numpy(draw.standard_normal((20, 50, 16)).astype(np.float32)))[0]


@operation
def lstm_dynamic(torch: Any, draw: Draw) -> Any:
    return _sequence(torch, draw, "LSTM")


@operation
def gru_dynamic(torch: Any, draw: Draw) -> Any:
    return _sequence(torch, draw, "GRU")


def _bag(torch: Any, draw: Draw, kind: str) -> Any:
    table = torch.from_numpy(draw.standard_normal((200, 64)).astype(np.float32))
    packed = getattr(torch.ops.quantized, f"embedding_bag_{kind}_prepack")(table)
    indices = torch.from_numpy(draw.integers(0, 200, 3000))
    offsets = torch.from_numpy(np.arange(0, 3000, 6))
    run = getattr(torch.ops.quantized, f"embedding_bag_{kind}_rowwise_offsets")
    return run(packed, indices, offsets)


@operation
def embedding_bag_byte(torch: Any, draw: Draw) -> Any:
    return _bag(torch, draw, "byte")


@operation
def embedding_bag_4bit(torch: Any, draw: Draw) -> Any:
    return _bag(torch, draw, "4bit")


def _cell(torch: Any, draw: Draw, kind: str) -> Any:
    cell = _quantized_dynamically(torch, draw, kind, 16)
    state = cell(torch.from_numpy(draw.standard_normal((500, 16)).astype(np.float32)))
    return state[0] if isinstance(state, tuple) else state


for _name in ("LSTMCell", "GRUCell", "RNNCell"):
    OPERATIONS[f"{_name}_dynamic"] = lambda torch, draw, kind=_name: _cell(torch, draw, kind)
