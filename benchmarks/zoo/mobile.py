"""Networks of depthwise convolutions: MobileNetV2 and V3, EfficientNet-B0, ShuffleNetV2."""

from __future__ import annotations

from typing import Any

import pyqref
from pyqref import nn

from .blocks import Residual, SqueezeExcite, head, unit

__all__ = ["efficientnet_b0", "mobilenet_v2", "mobilenet_v3", "shufflenet_v2"]


def _inverted(
    inputs: int, width: int, outputs: int, how: Any, act: Any, squeeze: Any = None
) -> Any:
    """Sandler et al. 2018: expand, depthwise ``how`` (kernel, stride), squeeze, project."""
    kernel, stride = how
    layers = [unit(inputs, width, act=act)] if width != inputs else []
    layers.append(unit(width, width, kernel, stride, groups=width, act=act))
    layers += [squeeze] if squeeze else []
    branch = nn.Sequential(*layers, unit(width, outputs, act=None))
    return Residual(branch) if stride == 1 and inputs == outputs else branch


#: Expansion, channels, repeats, stride and kernel.
V2 = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 32, 3, 2, 3), (6, 64, 4, 2, 3))
V2 += ((6, 96, 3, 1, 3), (6, 160, 3, 2, 3), (6, 320, 1, 1, 3))  # type: ignore[assignment]
B0 = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3))
B0 += ((6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))  # type: ignore[assignment]


def _rows(rows: Any, act: Any, squeezes: bool) -> Any:
    body, inputs = [unit(3, 32, 3, 2, act=act)], 32
    for expansion, outputs, repeats, stride, kernel in rows:
        for block in range(repeats):
            width = inputs * expansion
            squeeze = SqueezeExcite(width, max(inputs // 4, 1), act) if squeezes else None
            how = (kernel, 1 if block else stride)
            body.append(_inverted(inputs, width, outputs, how, act, squeeze))
            inputs = outputs
    return nn.Sequential(*body, unit(inputs, 1280, act=act), *head(1280))


def mobilenet_v2(rows: Any = V2) -> Any:
    """Sandler et al. 2018."""
    return _rows(rows, nn.ReLU6, False)


def efficientnet_b0(rows: Any = B0) -> Any:
    """Tan and Le 2019."""
    return _rows(rows, nn.SiLU, True)


#: Kernel, width, channels, squeeze, hardswish, stride.
V3 = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2),
    (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1),
    (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
    (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1),
)  # fmt: skip


def mobilenet_v3(rows: Any = V3) -> Any:
    """Howard et al. 2019, the large one."""
    body, inputs = [unit(3, 16, 3, 2, act=nn.Hardswish)], 16
    for kernel, width, outputs, squeezes, swish, stride in rows:
        squeeze = SqueezeExcite(width, width // 4, gate=nn.Hardsigmoid) if squeezes else None
        act = nn.Hardswish if swish else nn.ReLU
        body.append(_inverted(inputs, width, outputs, (kernel, stride), act, squeeze))
        inputs = outputs
    last = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6 * inputs, 1280), nn.Hardswish()]
    widest = unit(inputs, 6 * inputs, act=nn.Hardswish)
    return nn.Sequential(*body, widest, *last, nn.Linear(1280, 1000))


class Shuffle(nn.Module):
    """Ma et al. 2018: two branches side by side, and then their channels in turns."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        half, self.splits = outputs // 2, stride == 1
        first = half if self.splits else inputs
        self.left = nn.Identity()
        if not self.splits:
            self.left = nn.Sequential(
                unit(inputs, inputs, 3, 2, groups=inputs, act=None), unit(inputs, half)
            )
        depthwise = unit(half, half, 3, stride, groups=half, act=None)
        self.right = nn.Sequential(unit(first, half), depthwise, unit(half, half))

    def forward(self, x: Any) -> Any:
        if self.splits:
            parts = x.chunk(2, 1)
            left, right = parts[0], self.right(parts[1])
        else:
            left, right = self.left(x), self.right(x)
        y = pyqref.cat((left, right), 1)
        batch, channels, height, width = y.size(0), y.size(1), y.size(2), y.size(3)
        y = y.view(batch, 2, channels // 2, height, width).transpose(1, 2).contiguous()
        return y.view(batch, channels, height, width)


def shufflenet_v2(
    repeats: tuple[int, ...] = (4, 8, 4), widths: tuple[int, ...] = (116, 232, 464)
) -> Any:
    """Ma et al. 2018."""
    body, inputs = [unit(3, 24, 3, 2), nn.MaxPool2d(3, 2, 1)], 24
    for repeat, width in zip(repeats, widths, strict=True):
        for block in range(repeat):
            body.append(Shuffle(inputs, width, 1 if block else 2))
            inputs = width
    return nn.Sequential(*body, unit(inputs, 1024), *head(1024))
