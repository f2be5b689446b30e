"""Blocks that several networks share: units of convolution, residual sums, attention."""

from __future__ import annotations

from typing import Any

import pyqref
from pyqref import nn

__all__ = ["Attention", "Feed", "Residual", "SqueezeExcite", "Transformer", "head", "unit"]


def unit(inputs: int, outputs: int, kernel: int = 1, stride: int = 1, **how: Any) -> Any:
    """Convolution, batch norm, and the activation ``act``, which may be None."""
    act, dilation = how.pop("act", nn.ReLU), how.get("dilation", 1)
    how.setdefault("padding", kernel // 2 * dilation)
    layers = [nn.Conv2d(inputs, outputs, kernel, stride, bias=False, **how)]
    layers.append(nn.BatchNorm2d(outputs))
    return nn.Sequential(*layers, *([act()] if act else []))


def head(features: int, classes: int = 1000) -> list[Any]:
    """Global average pooling and a classifier."""
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, classes)]


class Residual(nn.Module):
    """``act(branch(x) + shortcut(x))``, where the shortcut may be ``x`` itself."""

    def __init__(self, branch: Any, shortcut: Any = None, act: Any = None) -> None:
        super().__init__()
        self.branch, self.shortcut = branch, shortcut or nn.Identity()
        self.act = act() if act else nn.Identity()

    def forward(self, x: Any) -> Any:
        return self.act(self.branch(x) + self.shortcut(x))


class SqueezeExcite(nn.Module):
    """Hu et al. 2017: each channel times a number made of the means of all."""

    def __init__(self, channels: int, hidden: int, act: Any = nn.ReLU, gate: Any = nn.Sigmoid):
        super().__init__()
        self.pool, self.act, self.gate = nn.AdaptiveAvgPool2d(1), act(), gate()
        self.reduce, self.expand = nn.Conv2d(channels, hidden, 1), nn.Conv2d(hidden, channels, 1)

    def forward(self, x: Any) -> Any:
        return x * self.gate(self.expand(self.act(self.reduce(self.pool(x)))))


class Attention(nn.Module):
    """Vaswani et al. 2017, with the queries, keys and values of one product."""

    def __init__(self, width: int, heads: int, causal: bool = False) -> None:
        super().__init__()
        self.heads, self.causal = heads, causal
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Any) -> Any:
        batch, length, width = x.size(0), x.size(1), self.output.in_features
        mixed = self.inputs(x).reshape(batch, length, 3, self.heads, width // self.heads)
        mixed = mixed.permute(2, 0, 3, 1, 4)
        each = pyqref.nn.functional.scaled_dot_product_attention(
            mixed[0], mixed[1], mixed[2], is_causal=self.causal
        )
        return self.output(each.transpose(1, 2).reshape(batch, length, width))


class Feed(nn.Sequential):
    """Two linear layers and an activation between."""

    def __init__(self, width: int, hidden: int, act: Any = nn.GELU) -> None:
        super().__init__(nn.Linear(width, hidden), act(), nn.Linear(hidden, width))


class Transformer(nn.Module):
    """A layer of a transformer: norms before its two halves, or behind them as in BERT."""

    def __init__(self, width: int, heads: int, *, before: bool = True, causal: bool = False):
        super().__init__()
        self.before = before
        self.attention, self.feed = Attention(width, heads, causal), Feed(width, 4 * width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        if self.before:
            x = x + self.attention(self.first(x))
            return x + self.feed(self.second(x))
        x = self.first(x + self.attention(x))
        return self.second(x + self.feed(x))
