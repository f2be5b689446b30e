"""Transformers of images and what learned from them: ViT, Swin, ConvNeXt."""

from __future__ import annotations

from typing import Any

import numpy as np

import pyqref
from pyqref import nn

from .blocks import Feed, Transformer

__all__ = ["convnext", "swin", "vit"]


class Vit(nn.Module):
    """Dosovitskiy et al. 2020."""

    def __init__(self, image: int, patch: int, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.first = nn.Parameter(pyqref.zeros(1, 1, width))
        self.places = nn.Parameter(pyqref.zeros(1, 1 + (image // patch) ** 2, width))
        self.layers = nn.Sequential(*(Transformer(width, heads) for _ in range(depth)))
        self.norm, self.classes = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x: Any) -> Any:
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = pyqref.cat((self.first.expand(x.size(0), -1, -1), x), 1) + self.places
        return self.classes(self.norm(self.layers(x))[:, 0])


def vit(
    image: int = 224, patch: int = 16, width: int = 768, depth: int = 12, heads: int = 12
) -> Any:
    """Dosovitskiy et al. 2020, ViT-B/16."""
    return Vit(image, patch, width, depth, heads)


class ChannelsLast(nn.Module):
    """``(N, C, H, W)`` as ``(N, H, W, C)``, or back."""

    def __init__(self, back: bool = False) -> None:
        super().__init__()
        self.order = (0, 3, 1, 2) if back else (0, 2, 3, 1)

    def forward(self, x: Any) -> Any:
        return x.permute(self.order)


class Scaled(nn.Module):
    """Each channel times a learned number, added to the input."""

    def __init__(self, branch: Any, width: int) -> None:
        super().__init__()
        self.branch, self.scale = branch, nn.Parameter(pyqref.full((width, 1, 1), 1e-6))

    def forward(self, x: Any) -> Any:
        return x + self.scale * self.branch(x)


def _over_channels(width: int) -> list[Any]:
    return [ChannelsLast(), nn.LayerNorm(width, eps=1e-6), ChannelsLast(back=True)]


def convnext(
    depths: tuple[int, ...] = (3, 3, 9, 3), widths: tuple[int, ...] = (96, 192, 384, 768)
) -> Any:
    """Liu et al. 2022, ConvNeXt-T."""
    body = [nn.Conv2d(3, widths[0], 4, 4), *_over_channels(widths[0])]
    for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
        if stage:
            previous = widths[stage - 1]
            body += [*_over_channels(previous), nn.Conv2d(previous, width, 2, 2)]
        for _ in range(depth):
            branch = [nn.Conv2d(width, width, 7, padding=3, groups=width), ChannelsLast()]
            branch += [nn.LayerNorm(width, eps=1e-6), Feed(width, 4 * width)]
            body.append(Scaled(nn.Sequential(*branch, ChannelsLast(back=True)), width))
    last = [nn.AdaptiveAvgPool2d(1), *_over_channels(width), nn.Flatten()]
    return nn.Sequential(*body, *last, nn.Linear(width, 1000))


#: Side of a window of Swin.
SIDE = 7


def _places() -> Any:
    """Row of the table of biases for each pair of pixels of a window."""
    place = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij")).reshape(2, -1)
    distance = place[:, :, None] - place[:, None, :] + SIDE - 1
    return distance[0] * (2 * SIDE - 1) + distance[1]


def _mask(size: int, shift: int) -> Any:
    """Minus 100 where pixels of a window were not neighbours before the shift, else 0."""
    line = np.zeros(size, np.int64)
    line[-SIDE:] = 1
    line[size - shift :] = 2
    regions = 3 * line[:, None] + line
    windows = regions.reshape(size // SIDE, SIDE, size // SIDE, SIDE).transpose(0, 2, 1, 3)
    windows = windows.reshape(-1, SIDE * SIDE)
    return np.where(windows[:, None] != windows[:, :, None], -100.0, 0.0)[:, None]


class Windows(nn.Module):
    """Liu et al. 2021: attention in windows of 7 by 7 pixels, which may be shifted."""

    def __init__(self, width: int, heads: int, size: int, shift: int) -> None:
        super().__init__()
        self.heads, self.size, self.shift, self.width = heads, size, shift, width
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.biases = nn.Parameter(pyqref.zeros((2 * SIDE - 1) ** 2, heads))
        mask = _mask(size, shift) if shift else np.zeros((1, 1, 1, 1))
        self.register_buffer("mask", pyqref.from_numpy(mask.astype(np.float32)))
        self.register_buffer("places", pyqref.from_numpy(_places().reshape(-1)))

    def forward(self, x: Any) -> Any:
        side, size, width = self.size // SIDE, self.size, self.width
        area, heads = SIDE * SIDE, self.heads
        if self.shift:
            x = pyqref.roll(x, (-self.shift, -self.shift), (1, 2))
        x = x.reshape(-1, side, SIDE, side, SIDE, width).permute(0, 1, 3, 2, 4, 5)
        mixed = self.inputs(x.reshape(-1, area, width))
        mixed = mixed.reshape(-1, side * side, area, 3, heads, width // heads)
        mixed = mixed.permute(3, 0, 1, 4, 2, 5)
        bias = self.biases[self.places].reshape(area, area, heads).permute(2, 0, 1) + self.mask
        x = pyqref.nn.functional.scaled_dot_product_attention(
            mixed[0], mixed[1], mixed[2], attn_mask=bias
        )
        x = self.output(x.transpose(2, 3).reshape(-1, area, width))
        x = x.reshape(-1, side, side, SIDE, SIDE, width).permute(0, 1, 3, 2, 4, 5)
        x = x.reshape(-1, size, size, width)
        return pyqref.roll(x, (self.shift, self.shift), (1, 2)) if self.shift else x


class Layer(nn.Module):
    """A layer of Swin."""

    def __init__(self, width: int, heads: int, size: int, shift: int) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.windows, self.feed = Windows(width, heads, size, shift), Feed(width, 4 * width)

    def forward(self, x: Any) -> Any:
        x = x + self.windows(self.first(x))
        return x + self.feed(self.second(x))


class Merge(nn.Module):
    """Four neighbouring pixels as one of twice the width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.reduce = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, False)

    def forward(self, x: Any) -> Any:
        rows = x[:, 0::2], x[:, 1::2]
        parts = [row[:, :, start::2] for start in (0, 1) for row in rows]
        return self.reduce(self.norm(pyqref.cat(parts, -1)))


def swin(
    image: int = 224, width: int = 96, depths: tuple[int, ...] = (2, 2, 6, 2), heads: int = 3
) -> Any:
    """Liu et al. 2021, Swin-T."""
    size = image // 4
    body = [nn.Conv2d(3, width, 4, 4), ChannelsLast(), nn.LayerNorm(width)]
    for stage, depth in enumerate(depths):
        if stage:
            body.append(Merge(width))
            width, heads, size = 2 * width, 2 * heads, size // 2
        for block in range(depth):
            shift = SIDE // 2 if block % 2 and size > SIDE else 0
            body.append(Layer(width, heads, size, shift))
    last = [nn.LayerNorm(width), ChannelsLast(back=True), nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*body, *last, nn.Linear(width, 1000))
