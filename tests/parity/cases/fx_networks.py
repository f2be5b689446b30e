"""Graph mode: small networks of the usual kinds, and custom modules, as a whole."""

from __future__ import annotations

import importlib
from typing import Any

from parity.eager_models import FLOAT_SUMS, random_values
from parity.fx_graphs import images, model, rows, workflow
from parity.harness import Bound, parity_case

STEP = Bound("a float sum in calibration may move a scale, and that an integer", relative=0.02)
NETWORK = {"*output*": STEP, "*numbers/scales": FLOAT_SUMS}


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


def _inverted_residual(torch: Any, inputs: int, outputs: int, stride: int) -> Any:
    """MobileNetV2's block: widen, depthwise, narrow without activation, add."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            wide = 2 * inputs
            self.conv = nn.Sequential(
                *(nn.Conv2d(inputs, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6()),
                nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
                *(nn.BatchNorm2d(wide), nn.ReLU6()),
                *(nn.Conv2d(wide, outputs, 1, bias=False), nn.BatchNorm2d(outputs)),
            )
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.conv(x) if self.adds else self.conv(x)

    return Block()


@parity_case(bounds=NETWORK)
def mobile_network_v2(torch: Any) -> dict[str, Any]:
    """Inverted residuals in a stack, for inference and for training."""
    nn = torch.nn

    def net() -> Any:
        return nn.Sequential(
            *(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()),
            _inverted_residual(torch, 8, 8, 1),
            _inverted_residual(torch, 8, 12, 2),
            _inverted_residual(torch, 12, 12, 1),
            *(nn.Conv2d(12, 16, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6()),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.0), nn.Linear(16, 5)),
        )

    x = images(torch, 7, 2, 3, 12, 12)
    return {
        "inference": workflow(torch, net(), (x,), values=random_values),
        "training": workflow(torch, net(), (x,), values=random_values, qat=True),
    }


@parity_case(bounds=NETWORK)
def encoder(torch: Any) -> dict[str, Any]:
    """Two layers of a transformer encoder over embedded tokens, dynamic and static."""
    nn, F, q = torch.nn, torch.nn.functional, torch.ao.quantization

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
            self.norm1, self.norm2 = nn.LayerNorm(8), nn.LayerNorm(8)
            self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

        def forward(self, x: Any) -> Any:
            count, length, width = x.shape
            parts = self.qkv(x).view(count, length, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
            weights = F.softmax(torch.matmul(parts[0], parts[1].transpose(-2, -1)) / 2.0, dim=-1)
            y = torch.matmul(weights, parts[2]).transpose(1, 2).reshape(count, length, width)
            x = self.norm1(x + self.out(y))
            return self.norm2(x + self.down(F.relu(self.up(x))))

    def net() -> Any:
        return nn.Sequential(Layer(), Layer(), nn.Linear(8, 3))

    x = images(torch, 7, 2, 5, 8)
    dynamic = q.QConfigMapping().set_global(q.default_dynamic_qconfig)
    return {
        "static": workflow(torch, net(), (x,), values=random_values),
        "dynamic": workflow(torch, net(), (x,), values=random_values, mapping=dynamic),
    }


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
