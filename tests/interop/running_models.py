"""Models of torch's own kind that ``torch.fx`` cannot trace, one construct a class."""

from __future__ import annotations

import functools
from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
import torch.nn.functional as F
from torch import fx, nn

Outputs = namedtuple("Outputs", ["logits", "aux"])  # noqa: PYI024 (as torchvision has it)
LAYERS = {"relu": nn.ReLU, "gelu": nn.GELU}


@dataclass
class Named(OrderedDict):
    """An output as transformers has it: a dictionary that is a dataclass."""

    hidden: Any = None
    state: Any = None

    def __post_init__(self) -> None:
        for name in ("hidden", "state"):
            if isinstance(getattr(self, name), torch.Tensor):
                self[name] = getattr(self, name)


class Kind(Enum):
    MEAN = "mean"
    SUM = "sum"


class Config:
    """Settings with a dtype of torch in them."""

    def __init__(self, **given: Any) -> None:
        self.dtype = torch.float32
        self.sizes = [4, 4]
        self.__dict__.update(given)


@fx.wrap
def pick(x: torch.Tensor) -> torch.Tensor:
    """Depends on data, so that it must not be traced."""
    return x + 1 if x.sum() > 0 else x - 1


def counted(function: Any) -> Any:
    """A decorator with a closure."""

    @functools.wraps(function)
    def wrapper(self, *args, **kwargs):
        kwargs.setdefault("factor", 2.0)
        return function(self, *args, **kwargs)

    return wrapper


class Chunks(nn.Module):
    """A loop over ``chunk``, and ``list`` of it."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        parts = [self.linear(part) for part in x.chunk(2, 1)]
        left, right = list(x.chunk(2, 1))
        return torch.cat(parts, 1) + torch.cat([right, left], dim=1)


class Assigning(nn.Module):
    """Item assignment, in place."""

    def forward(self, x):
        x = x.clone()
        x[:, 0] = 1.0
        x[:, 1:3] += x[:, 2:4]
        return x


class Keywords(nn.Module):
    """``**kwargs`` with defaults, passed on by a decorator."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)

    @counted
    def forward(self, x, **kwargs):
        x = self.linear(x) * kwargs["factor"]
        return x + kwargs.get("shift", 0.5)


class Shapes(nn.Module):
    """A branch on a shape, an assertion, an import inside, a loop of unknown length."""

    def forward(self, x):
        import math

        torch._assert(x.shape[1] == 4, "four columns")
        if x.shape[0] > 1:
            x = x * math.sqrt(x.shape[0])
        for row in x:
            x = x + row
        return x


class Structured(nn.Module):
    """Dictionaries, a namedtuple, an enumeration, settings, a table of classes."""

    def __init__(self) -> None:
        super().__init__()
        self.config = Config(kind=Kind.SUM)
        self.heads = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 2)})
        self.scales = nn.ParameterDict({"a": torch.full((4,), 2.0)})
        self.shifts = nn.ParameterList([torch.ones(1), torch.zeros(1)])
        self.table = torch.arange(4.0)

    def forward(self, x):
        kind = self.config.kind
        if len(x) > 1 and kind is Kind.SUM:
            x = x.to(self.config.dtype) * self.scales["a"] + self.table
        for shift in self.shifts:
            x = x + shift
        outputs = {name: LAYERS["gelu"]()(head(x)) for name, head in self.heads.items()}
        return Outputs(outputs["a"], aux=outputs["b"])


class Inner(nn.Module):
    """Gives an output with names; has a method that others call."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = Normed(4)

    def mask(self, x):
        return (x > 0).to(x.dtype)

    def forward(self, x, **kwargs):
        return Named(hidden=self.norm(x), state=kwargs.get("state"))


class Normed(nn.LayerNorm):
    """A layer of torch, extended: its own forward calls that of the layer."""

    gain = property(lambda self: self.weight + 1)

    def forward(self, x):
        if x.dim() > 1 and len(x):
            x = super().forward(x)
        return x * self.gain


class Outer(nn.Module):
    """Reads attributes and calls methods of its child; registered hooks run."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.inner.register_forward_hook(double)

    @torch.no_grad()
    def scale(self, x):
        return x.abs().max()

    def forward(self, x):
        found = self.inner(x, state=x)
        assert isinstance(self.inner, Inner)
        assert list(found) == ["hidden", "state"]
        return found.hidden * self.inner.mask(x) / self.scale(x) + found["state"]


def double(module, args, output):
    """A forward hook of the user."""
    output.hidden = output.hidden * 2


class Wrapped(nn.Module):
    """Calls a function that ``fx.wrap`` was called for."""

    def forward(self, x):
        return pick(x) * 2


class Listed(nn.Module):
    """A child in a plain list, a bound method and a partial among the attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.others = [self.linear]
        self.call = functools.partial(F.leaky_relu, negative_slope=0.5)
        self.method = self.helper

    def helper(self, x):
        return x + 1

    def forward(self, x):
        for other in self.others:
            x = other(x) if len(x) else x
        return self.call(self.method(x))


class Missing(nn.Module):
    """Needs what is not here, in a function that it calls."""

    def forward(self, x):
        if len(x) > 100:
            x = torch.fft.ifft(x)
        return decompose(x)


def decompose(x: torch.Tensor) -> torch.Tensor:
    """Calls what is not here."""
    return torch.fft.fft(x)


class Seldom(nn.Module):
    """Needs what is not here under a condition only."""

    def forward(self, x):
        if len(x) > 2:
            return torch.fft.fft(x)
        return x


EXAMPLES = (
    *(Chunks, Assigning, Keywords, Shapes, Structured, Outer, Wrapped, Listed),
    lambda: nn.Sequential(Chunks(), nn.ReLU(), Normed(4)),
)
