"""Networks whose blocks join branches side by side: GoogLeNet, InceptionV3, DenseNet."""

from __future__ import annotations

from typing import Any

import pyqref
from pyqref import nn

from .blocks import head, unit

__all__ = ["densenet", "googlenet", "inception_v3"]


class Joined(nn.Module):
    """Results of several branches, side by side."""

    def __init__(self, *branches: Any) -> None:
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x: Any) -> Any:
        return pyqref.cat([branch(x) for branch in self.branches], 1)


#: Channels of the four branches and of their reductions; None for a pooling between.
GOOGLE = (
    (64, (96, 128), (16, 32), 32), (128, (128, 192), (32, 96), 64), None,
    (192, (96, 208), (16, 48), 64), (160, (112, 224), (24, 64), 64),
    (128, (128, 256), (24, 64), 64), (112, (144, 288), (32, 64), 64),
    (256, (160, 320), (32, 128), 128), None,
    (256, (160, 320), (32, 128), 128), (384, (192, 384), (48, 128), 128),
)  # fmt: skip


def googlenet(rows: Any = GOOGLE) -> Any:
    """Szegedy et al. 2014, with batch norm."""
    body = [unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1), unit(64, 64), unit(64, 192, 3)]
    body.append(nn.MaxPool2d(3, 2, 1))
    inputs = 192
    for row in rows:
        if row is None:
            body.append(nn.MaxPool2d(3, 2, 1))
            continue
        one, (three, threes), (five, fives), pooled = row
        body.append(
            Joined(
                unit(inputs, one),
                nn.Sequential(unit(inputs, three), unit(three, threes, 3)),
                nn.Sequential(unit(inputs, five), unit(five, fives, 3)),
                nn.Sequential(nn.MaxPool2d(3, 1, 1), unit(inputs, pooled)),
            )
        )
        inputs = one + threes + fives + pooled
    return nn.Sequential(*body, *head(inputs))


def _chain(inputs: int, *layers: Any) -> Any:
    """Units of (outputs, kernel, stride, padding), one behind the other."""
    units = []
    for outputs, kernel, stride, padding in layers:
        units.append(unit_of(inputs, outputs, kernel, stride, padding))
        inputs = outputs
    return nn.Sequential(*units)


def unit_of(inputs: int, outputs: int, kernel: Any, stride: int, padding: Any) -> Any:
    """Convolution with a kernel of two sizes, batch norm and ReLU."""
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outputs), nn.ReLU())


def _square(inputs: int, pooled: int) -> Any:
    return Joined(
        _chain(inputs, (64, 1, 1, 0)),
        _chain(inputs, (48, 1, 1, 0), (64, 5, 1, 2)),
        _chain(inputs, (64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 1, 1)),
        nn.Sequential(nn.AvgPool2d(3, 1, 1), *_chain(inputs, (pooled, 1, 1, 0))),
    )


def _crossed(inputs: int, width: int) -> Any:
    across, along = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
    last = (192, *along)
    return Joined(
        _chain(inputs, (192, 1, 1, 0)),
        _chain(inputs, (width, 1, 1, 0), (width, *across), last),
        _chain(
            inputs, (width, 1, 1, 0), (width, *along), (width, *across), (width, *along),
            (192, *across),
        ),
        nn.Sequential(nn.AvgPool2d(3, 1, 1), *_chain(inputs, (192, 1, 1, 0))),
    )  # fmt: skip


def _wide(inputs: int) -> Any:
    def pair() -> Any:
        sides = ((1, 3), (0, 1)), ((3, 1), (1, 0))
        return Joined(*(unit_of(384, 384, kernel, 1, padding) for kernel, padding in sides))

    return Joined(
        _chain(inputs, (320, 1, 1, 0)),
        nn.Sequential(*_chain(inputs, (384, 1, 1, 0)), pair()),
        nn.Sequential(*_chain(inputs, (448, 1, 1, 0), (384, 3, 1, 1)), pair()),
        nn.Sequential(nn.AvgPool2d(3, 1, 1), *_chain(inputs, (192, 1, 1, 0))),
    )


def inception_v3(
    squares: tuple[int, ...] = (32, 64, 64),
    crosses: tuple[int, ...] = (128, 160, 160, 192),
    wides: int = 2,
) -> Any:
    """Szegedy et al. 2015."""
    first = _chain(3, (32, 3, 2, 0), (32, 3, 1, 0), (64, 3, 1, 1))
    second = _chain(64, (80, 1, 1, 0), (192, 3, 1, 0))
    body, inputs = [first, nn.MaxPool2d(3, 2), second, nn.MaxPool2d(3, 2)], 192
    for pooled in squares:
        body.append(_square(inputs, pooled))
        inputs = 224 + pooled
    small = _chain(inputs, (64, 1, 1, 0), (96, 3, 1, 1), (96, 3, 2, 0))
    body.append(Joined(_chain(inputs, (384, 3, 2, 0)), small, nn.MaxPool2d(3, 2)))
    inputs += 480
    for width in crosses:
        body.append(_crossed(inputs, width))
        inputs = 768
    crossed = ((192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)))
    large = _chain(inputs, (192, 1, 1, 0), *crossed, (192, 3, 2, 0))
    body.append(Joined(_chain(inputs, (192, 1, 1, 0), (320, 3, 2, 0)), large, nn.MaxPool2d(3, 2)))
    inputs += 512
    for _ in range(wides):
        body.append(_wide(inputs))
        inputs = 2048
    return nn.Sequential(*body, *head(inputs))


def _before(inputs: int, outputs: int, kernel: int = 1) -> list[Any]:
    """Batch norm and ReLU in front of a convolution."""
    convolution = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False)
    return [nn.BatchNorm2d(inputs), nn.ReLU(), convolution]


class Dense(nn.Module):
    """Input and result of a branch, side by side."""

    def __init__(self, inputs: int, growth: int) -> None:
        super().__init__()
        layers = _before(inputs, 4 * growth) + _before(4 * growth, growth, 3)
        self.branch = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        return pyqref.cat((x, self.branch(x)), 1)


def densenet(depths: tuple[int, ...] = (6, 12, 24, 16), growth: int = 32) -> Any:
    """Huang et al. 2016, 121 layers."""
    inputs = 2 * growth
    body = [unit(3, inputs, 7, 2), nn.MaxPool2d(3, 2, 1)]
    for stage, depth in enumerate(depths):
        if stage:
            body += [*_before(inputs, inputs // 2), nn.AvgPool2d(2, 2)]
            inputs //= 2
        for _ in range(depth):
            body.append(Dense(inputs, growth))
            inputs += growth
    return nn.Sequential(*body, nn.BatchNorm2d(inputs), nn.ReLU(), *head(inputs))
