"""Networks of sound, and of clicks: Whisper's encoder, a conformer, DLRM."""

from __future__ import annotations

import itertools
from typing import Any

import pyqref
from pyqref import nn

from .blocks import Attention, Feed, Transformer

__all__ = ["conformer", "dlrm", "whisper_encoder"]


class Whisper(nn.Module):
    """Radford et al. 2022: convolutions over time, then a transformer."""

    def __init__(self, bands: int, length: int, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.first = nn.Conv1d(bands, width, 3, padding=1)
        self.second = nn.Conv1d(width, width, 3, 2, 1)
        self.act, self.norm = nn.GELU(), nn.LayerNorm(width)
        self.places = nn.Parameter(pyqref.zeros(length // 2, width))
        self.layers = nn.Sequential(*(Transformer(width, heads) for _ in range(depth)))

    def forward(self, x: Any) -> Any:
        x = self.act(self.second(self.act(self.first(x)))).transpose(1, 2)
        return self.norm(self.layers(x + self.places))


def whisper_encoder(
    bands: int = 80, length: int = 1000, width: int = 512, depth: int = 6, heads: int = 8
) -> Any:
    """Radford et al. 2022, the base encoder, of ten seconds."""
    return Whisper(bands, length, width, depth, heads)


class Over(nn.Module):
    """A layer over time, ``(N, C, T)``, of what is ``(N, T, C)``."""

    def __init__(self, *layers: Any) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Any) -> Any:
        return self.layers(x.transpose(1, 2)).transpose(1, 2)


class Conformer(nn.Module):
    """Gulati et al. 2020: half a feed-forward, attention, a convolution, the other half."""

    def __init__(self, width: int, heads: int, kernel: int) -> None:
        super().__init__()
        self.before = nn.Sequential(nn.LayerNorm(width), Feed(width, 4 * width, nn.SiLU))
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, heads))
        depthwise = nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
        self.convolution = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 2 * width),
            nn.GLU(),
            Over(depthwise, nn.BatchNorm1d(width), nn.SiLU()),
            nn.Linear(width, width),
        )
        self.behind = nn.Sequential(nn.LayerNorm(width), Feed(width, 4 * width, nn.SiLU))
        self.norm = nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        x = x + 0.5 * self.before(x)
        x = x + self.attention(x)
        x = x + self.convolution(x)
        return self.norm(x + 0.5 * self.behind(x))


def conformer(
    bands: int = 80, width: int = 256, depth: int = 8, heads: int = 4, kernel: int = 31
) -> Any:
    """Gulati et al. 2020."""
    layers = (Conformer(width, heads, kernel) for _ in range(depth))
    return nn.Sequential(nn.Linear(bands, width), *layers, nn.Linear(width, 1000))


class Dlrm(nn.Module):
    """Naumov et al. 2019: products of all pairs of vectors, between two small networks."""

    def __init__(self, tables: int, rows: int, width: int, dense: int) -> None:
        super().__init__()
        self.bags = nn.ModuleList([nn.EmbeddingBag(rows, width, mode="sum") for _ in range(tables)])
        sizes = [dense, 512, 256, width]
        pairs = width + tables * (tables + 1) // 2
        self.bottom = self._layers(*sizes)
        self.top = self._layers(pairs, 512, 256, 1)[:-1]
        below = pyqref.tril_indices(tables + 1, tables + 1, -1)
        self.register_buffer("first", below[0])
        self.register_buffer("second", below[1])

    @staticmethod
    def _layers(*sizes: int) -> Any:
        pairs = itertools.pairwise(sizes)
        return nn.Sequential(*(each for pair in pairs for each in (nn.Linear(*pair), nn.ReLU())))

    def forward(self, numbers: Any, chosen: Any) -> Any:
        dense = self.bottom(numbers)
        found = [bag(chosen[:, i].contiguous()) for i, bag in enumerate(self.bags)]
        every = pyqref.stack([dense, *found], 1)
        products = pyqref.matmul(every, every.transpose(1, 2))
        pairs = products[:, self.first, self.second]
        return pyqref.sigmoid(self.top(pyqref.cat((dense, pairs), 1)))


def dlrm(tables: int = 26, rows: int = 10000, width: int = 64, dense: int = 13) -> Any:
    """Naumov et al. 2019."""
    return Dlrm(tables, rows, width, dense)
