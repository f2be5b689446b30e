"""Graph mode: small networks of the usual kinds, and custom modules, as a whole."""

from __future__ import annotations

import importlib
from typing import Any

from parity.cases.eager import FLOAT_SUMS, random_values
from parity.fx_graphs import images, model, rows, workflow
from parity.harness import Bound, parity_case

STEP = Bound("a float sum in calibration may move a scale, and that an integer", relative=0.02)
NETWORK = {"*output*": STEP, "numbers/scales": FLOAT_SUMS}


@parity_case(bounds=NETWORK)
def residual_network(torch: Any) -> dict[str, Any]:
    """Blocks with batch norm, in-place sums, a projection on the skip path."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            project = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))
            self.down = project if stride > 1 else None

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += x if self.down is None else self.down(x)
            return self.relu(y)

    stem = (nn.Conv2d(3, 8, 3, 1, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2))
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(), nn.Linear(16, 5))
    net = nn.Sequential(*stem, Block(8, 8, 1), Block(8, 16, 2), *head)
    return workflow(torch, net, (images(torch, 7, 2, 3, 12, 12),), values=random_values)


@parity_case(bounds=NETWORK)
def mobile_network(torch: Any) -> dict[str, Any]:
    """Depthwise convolution, ReLU6, hardswish, squeeze and excitation, softmax."""
    nn, F = torch.nn, torch.nn.functional

    class Excite(nn.Module):
        def __init__(self, channels: int) -> None:
            super().__init__()
            self.reduce, self.expand = nn.Conv2d(channels, 4, 1), nn.Conv2d(4, channels, 1)
            self.gate = nn.Hardsigmoid()

        def forward(self, x: Any) -> Any:
            y = F.relu(self.reduce(F.adaptive_avg_pool2d(x, 1)))
            return x * self.gate(self.expand(y))

    net = nn.Sequential(
        *(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.Hardswish()),
        *(nn.Conv2d(8, 8, 3, 1, 1, groups=8, bias=False), nn.BatchNorm2d(8), nn.ReLU6()),
        *(Excite(8), nn.Conv2d(8, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(1)),
        *(nn.Linear(4, 3), nn.Softmax(-1)),
    )
    return workflow(torch, net, (images(torch, 7, 2, 3, 12, 12),), values=random_values)


@parity_case(bounds=NETWORK)
def attention(torch: Any) -> dict[str, Any]:
    """A block of an encoder, written out."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.q, self.k, self.v = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)
            self.out, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)
            self.feed = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))

        def forward(self, x: Any) -> Any:
            count, length, width = x.shape
            q, k, v = (
                layer(x).view(count, length, 2, width // 2).transpose(1, 2)
                for layer in (self.q, self.k, self.v)
            )
            weights = (q @ k.transpose(-2, -1) / 2.0).softmax(-1)
            y = (weights @ v).transpose(1, 2).reshape(count, length, width)
            x = self.norm(x + self.out(y))
            return x + self.feed(x)

    return workflow(torch, Block(), (images(torch, 7, 2, 5, 8),), values=random_values)


@parity_case(bounds=NETWORK)
def attention_layer_stays_float(torch: Any) -> dict[str, Any]:
    """``nn.MultiheadAttention`` before a quantized layer."""
    nn = torch.nn
    net = model(
        torch,
        lambda m, x: m.linear(m.attention(x, x, x)[0]),
        attention=nn.MultiheadAttention(8, 2),
        linear=nn.Linear(8, 8),
    )
    return workflow(torch, net, (images(torch, 7, 5, 2, 8),), values=random_values)


@parity_case()
def custom_modules(torch: Any) -> dict[str, Any]:
    """Classes of the user's, between quantized layers."""
    nn = torch.nn
    config = importlib.import_module(f"{torch.__name__}.ao.quantization.fx.custom_config")

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            return self.linear(x)

    class Observed(nn.Module):
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.linear = linear

        def forward(self, x: Any) -> Any:
            return self.linear(x)

        @classmethod
        def from_float(cls, module: Any) -> Any:
            made = cls(module.linear)
            made.qconfig = module.qconfig
            return made

    class Quantized(nn.Module):
        def __init__(self, linear: Any, parameters: Any) -> None:
            super().__init__()
            self.linear, self.parameters_ = linear, parameters

        def forward(self, x: Any) -> Any:
            y = self.linear(x.dequantize())
            return torch.quantize_per_tensor(y, *self.parameters_, torch.quint8)

        @classmethod
        def from_observed(cls, module: Any) -> Any:
            scale, zero_point = module.activation_post_process.calculate_qparams()
            return cls(module.linear, (float(scale), int(zero_point)))

    net = model(
        torch,
        lambda m, x: m.last(m.custom(m.first(x))),
        first=nn.Linear(6, 6),
        custom=Scaled(),
        last=nn.Linear(6, 6),
    )
    return workflow(
        torch,
        net,
        (rows(torch),),
        prepare_custom_config=config.PrepareCustomConfig().set_float_to_observed_mapping(
            Scaled, Observed
        ),
        convert_custom_config=config.ConvertCustomConfig().set_observed_to_quantized_mapping(
            Observed, Quantized
        ),
    )
