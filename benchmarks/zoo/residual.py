"""ResNet, RegNet and the r3d_18 of videos: stages of residual blocks."""

from __future__ import annotations

from typing import Any

from pyqref import nn

from .blocks import Residual, SqueezeExcite, head, unit

__all__ = ["r3d_18", "regnet", "resnet", "stages"]


def _basic(inputs: int, width: int, stride: int, dilation: int = 1) -> Any:
    del dilation
    branch = nn.Sequential(unit(inputs, width, 3, stride), unit(width, width, 3, act=None))
    return _summed(branch, inputs, width, stride)


def _bottleneck(inputs: int, width: int, stride: int, dilation: int = 1) -> Any:
    layers = [unit(inputs, width), unit(width, width, 3, stride, dilation=dilation)]
    branch = nn.Sequential(*layers, unit(width, 4 * width, act=None))
    return _summed(branch, inputs, 4 * width, stride)


def _summed(branch: Any, inputs: int, outputs: int, stride: int) -> Any:
    same = stride == 1 and inputs == outputs
    return Residual(branch, None if same else unit(inputs, outputs, 1, stride, act=None), nn.ReLU)


def stages(depths: tuple[int, ...], width: int = 64, deep: bool = False, dilated: int = 0) -> Any:
    """Body of a ResNet and its features; ``dilated`` stages look further and halve nothing."""
    body = [unit(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inputs, growth, dilation = width, 4 if deep else 1, 1
    for stage, depth in enumerate(depths):
        stride = 2 if stage else 1
        if stage >= len(depths) - dilated:
            stride, dilation = 1, 2 * dilation
        for block in range(depth):
            make = _bottleneck if deep else _basic
            body.append(make(inputs, width << stage, 1 if block else stride, dilation))
            inputs = growth * width << stage
    return nn.Sequential(*body), inputs


def resnet(depths: tuple[int, ...] = (2, 2, 2, 2), width: int = 64, deep: bool = False) -> Any:
    """He et al. 2015."""
    body, features = stages(depths, width, deep)
    return nn.Sequential(body, *head(features))


def regnet(
    depths: tuple[int, ...] = (1, 3, 6, 6),
    widths: tuple[int, ...] = (48, 104, 208, 440),
    group: int = 8,
) -> Any:
    """Radosavovic et al. 2020, RegNetY of 400 million products."""
    body, inputs = [unit(3, 32, 3, 2)], 32
    for depth, width in zip(depths, widths, strict=True):
        for block in range(depth):
            stride = 1 if block else 2
            branch = [unit(inputs, width), unit(width, width, 3, stride, groups=width // group)]
            branch += [SqueezeExcite(width, inputs // 4), unit(width, width, act=None)]
            body.append(_summed(nn.Sequential(*branch), inputs, width, stride))
            inputs = width
    return nn.Sequential(*body, *head(inputs))


def _unit3d(inputs: int, outputs: int, kernel: Any, stride: Any, relu: bool = True) -> Any:
    padding = tuple(k // 2 for k in kernel)
    layers = [nn.Conv3d(inputs, outputs, kernel, stride, padding, bias=False)]
    return nn.Sequential(*layers, nn.BatchNorm3d(outputs), *([nn.ReLU()] if relu else []))


def r3d_18(depths: tuple[int, ...] = (2, 2, 2, 2), width: int = 64) -> Any:
    """Tran et al. 2018: a ResNet of 18 layers whose windows reach over time."""
    body, inputs, cube = [_unit3d(3, width, (3, 7, 7), (1, 2, 2))], width, (3, 3, 3)
    for stage, depth in enumerate(depths):
        outputs = width << stage
        for block in range(depth):
            stride = 2 if stage and not block else 1
            branch = nn.Sequential(
                _unit3d(inputs, outputs, cube, stride), _unit3d(outputs, outputs, cube, 1, False)
            )
            shortcut = None if stride == 1 else _unit3d(inputs, outputs, (1, 1, 1), stride, False)
            body.append(Residual(branch, shortcut, nn.ReLU))
            inputs = outputs
    return nn.Sequential(*body, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(inputs, 400))
