"""Models of torch's own kind, as libraries have them, for graph mode behind ``from_torch``."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


class BasicBlock(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(out), nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = None
        if stride != 1 or channels != out:
            down = nn.Conv2d(channels, out, 1, stride, bias=False)
            self.downsample = nn.Sequential(down, nn.BatchNorm2d(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    """Nested classes; the forward calls another method."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.ReLU())
        self.layer1 = nn.Sequential(BasicBlock(4, 4, 1), BasicBlock(4, 4, 1))
        self.layer2 = nn.Sequential(BasicBlock(4, 8, 2), BasicBlock(8, 8, 1))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(8, 5)

    def _forward_impl(self, x: torch.Tensor) -> torch.Tensor:
        x = self.layer2(self.layer1(self.stem(x)))
        return self.fc(torch.flatten(self.avgpool(x), 1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self._forward_impl(x)


class Branches(nn.Module):
    """Inception: branches are joined; a second output; shapes are read."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.three = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 3, padding=1)
        self.gate = nn.Conv2d(8, 8, 1)

    def forward(self, x):
        x = torch.cat([self.one(x), F.relu(self.three(x))], dim=1)
        weight = self.gate(F.adaptive_avg_pool2d(x, 1)).sigmoid()
        return x * weight, x.reshape(x.shape[0], -1).mean(1), {"channels": x.size(1)}


class Shuffle(nn.Module):
    """A channel shuffle: ``view`` with numbers from a shape, ``chunk``, ``transpose``."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        left, right = x.chunk(2, dim=1)
        x = torch.cat((left, self.conv(torch.cat((right, left), 1))), 1)
        b, c, h, w = x.size(0), x.size(1), x.size(2), x.size(3)
        return x.view(b, 2, c // 2, h, w).transpose(1, 2).reshape(b, -1, h, w)


class Attention(nn.Module):
    """Several inputs, one by name alone, and a function of Python on a size."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, memory, *, bias):
        scores = self.query(x) @ self.key(memory).transpose(-1, -2)
        return F.softmax(scores / math.sqrt(x.shape[-1]) + bias, -1) @ self.value(memory)


class Several(nn.Module):
    """``*args`` and ``**kwargs`` whose parts are taken by index and by name."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, *args, **kwargs):
        return self.linear(args[0]) + args[1] * kwargs["scale"]


class Structures(nn.Module):
    """A tuple and a dictionary as inputs, a tuple as output."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.other = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, pair, named):
        return self.linear(pair[0]) + pair[1], (self.other(named["x"]).relu(),)


class Switch(nn.Module):
    """An option and an optional input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.other = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, x, shift=None, deep=False):
        x = self.linear(x)
        if shift is not None:
            x = x + shift
        return self.other(x.relu()) if deep else x
