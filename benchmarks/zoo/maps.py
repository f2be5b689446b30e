"""Networks whose result is a map: DeepLabV3, a UNet, a detector in the manner of YOLO."""

from __future__ import annotations

from typing import Any

import pyqref
from pyqref import nn

from .blocks import Residual, unit
from .residual import stages

__all__ = ["deeplab_v3", "unet", "yolo"]


class Pyramid(nn.Module):
    """Chen et al. 2017: windows of several dilations and the mean of the image, side by side."""

    def __init__(self, inputs: int, width: int, rates: tuple[int, ...] = (12, 24, 36)) -> None:
        super().__init__()
        wide = [unit(inputs, width, 3, dilation=rate) for rate in rates]
        self.branches = nn.ModuleList([unit(inputs, width), *wide])
        self.mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), unit(inputs, width))
        self.joined = unit((2 + len(rates)) * width, width)

    def forward(self, x: Any) -> Any:
        mean = pyqref.nn.functional.interpolate(self.mean(x), size=x.shape[-2:], mode="bilinear")
        return self.joined(pyqref.cat([*(branch(x) for branch in self.branches), mean], 1))


class Segmented(nn.Module):
    """Classes of the pixels, as large as the image."""

    def __init__(self, body: Any, classes: Any) -> None:
        super().__init__()
        self.body, self.classes = body, classes

    def forward(self, x: Any) -> Any:
        y = self.classes(self.body(x))
        return pyqref.nn.functional.interpolate(y, size=x.shape[-2:], mode="bilinear")


def deeplab_v3(depths: tuple[int, ...] = (3, 4, 6, 3), width: int = 64, features: int = 256) -> Any:
    """Chen et al. 2017, on a ResNet-50 whose last stages are dilated."""
    body, inputs = stages(depths, width, deep=True, dilated=2)
    layers = [Pyramid(inputs, features), unit(features, features, 3), nn.Conv2d(features, 21, 1)]
    return Segmented(body, nn.Sequential(*layers))


class Level(nn.Module):
    """Ronneberger et al. 2015: a level of a UNet around the levels below it."""

    def __init__(self, inputs: int, width: int, below: Any) -> None:
        super().__init__()
        self.down = nn.Sequential(unit(inputs, width, 3), unit(width, width, 3))
        self.below = nn.Sequential(nn.MaxPool2d(2), below)
        self.larger = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.up = nn.Sequential(unit(2 * width, width, 3), unit(width, width, 3))

    def forward(self, x: Any) -> Any:
        y = self.down(x)
        return self.up(pyqref.cat((y, self.larger(self.below(y))), 1))


def unet(width: int = 32, levels: int = 4) -> Any:
    """Ronneberger et al. 2015, with batch norm."""
    widest = width << levels
    body = nn.Sequential(unit(widest // 2, widest, 3), unit(widest, widest, 3))
    for level in reversed(range(levels)):
        body = Level(width << level >> 1 if level else 3, width << level, body)
    return nn.Sequential(body, nn.Conv2d(width, 2, 1))


class Split(nn.Module):
    """Half of the channels through blocks, and all that they gave side by side."""

    def __init__(self, inputs: int, outputs: int, depth: int, shortcut: bool = True) -> None:
        super().__init__()
        half = outputs // 2
        self.first = unit(inputs, outputs, act=nn.SiLU)
        self.last = unit((2 + depth) * half, outputs, act=nn.SiLU)
        layers = [
            nn.Sequential(unit(half, half, 3, act=nn.SiLU), unit(half, half, 3, act=nn.SiLU))
            for _ in range(depth)
        ]
        self.blocks = nn.ModuleList([Residual(each) if shortcut else each for each in layers])

    def forward(self, x: Any) -> Any:
        parts = self.first(x).chunk(2, 1)
        found = [parts[0], parts[1]]
        for block in self.blocks:
            found.append(block(found[-1]))
        return self.last(pyqref.cat(found, 1))


class Pooled(nn.Module):
    """Maxima of windows that grow, side by side."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first, self.pool = unit(width, width // 2, act=nn.SiLU), nn.MaxPool2d(5, 1, 2)
        self.last = unit(2 * width, width, act=nn.SiLU)

    def forward(self, x: Any) -> Any:
        found = [self.first(x)]
        for _ in range(3):
            found.append(self.pool(found[-1]))
        return self.last(pyqref.cat(found, 1))


class Yolo(nn.Module):
    """Three maps of boxes, from features that went down, up and down again."""

    def __init__(self, width: int, depth: int, outputs: int = 84) -> None:
        super().__init__()
        a, b, c = 4 * width, 8 * width, 16 * width

        def half(inputs: int, outputs: int) -> Any:
            return unit(inputs, outputs, 3, 2, act=nn.SiLU)

        first = [half(3, width), half(width, 2 * width), Split(2 * width, 2 * width, depth)]
        self.small = nn.Sequential(*first, half(2 * width, a), Split(a, a, 2 * depth))
        self.middle = nn.Sequential(half(a, b), Split(b, b, 2 * depth))
        self.large = nn.Sequential(half(b, c), Split(c, c, depth), Pooled(c))
        self.up = nn.Upsample(scale_factor=2, mode="nearest")
        self.middle_up, self.small_up = Split(c + b, b, depth, False), Split(b + a, a, depth, False)
        self.small_down, self.middle_down = half(a, a), half(b, b)
        self.middle_last, self.large_last = (
            Split(a + b, b, depth, False),
            Split(b + c, c, depth, False),
        )
        self.boxes = nn.ModuleList([nn.Conv2d(each, outputs, 1) for each in (a, b, c)])

    def forward(self, x: Any) -> Any:
        small = self.small(x)
        middle = self.middle(small)
        large = self.large(middle)
        middle = self.middle_up(pyqref.cat((self.up(large), middle), 1))
        small = self.small_up(pyqref.cat((self.up(middle), small), 1))
        middle = self.middle_last(pyqref.cat((self.small_down(small), middle), 1))
        large = self.large_last(pyqref.cat((self.middle_down(middle), large), 1))
        found = [
            self.boxes[0](small).flatten(2),
            self.boxes[1](middle).flatten(2),
            self.boxes[2](large).flatten(2),
        ]
        return pyqref.cat(found, 2)


def yolo(width: int = 16, depth: int = 1) -> Any:
    """A detector with SiLU, in the manner of the small ones of the YOLO family."""
    return Yolo(width, depth)
