"""Models of a user's own, in torch, for the tests of ``from_torch``."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.ao.nn.quantized import FloatFunctional
from torch.ao.quantization import DeQuantStub, QuantStub


class Block(nn.Sequential):
    """A ``Sequential`` with nothing but an ``__init__``, as libraries of models have them."""

    def __init__(self, channels: int) -> None:
        super().__init__(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU6(),
        )


class Residual(nn.Module):
    """A shortcut through a ``FloatFunctional``."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.block = Block(channels)
        self.skip = FloatFunctional()

    def forward(self, input):
        return self.skip.add(self.block(input), input)


class Classifier(nn.Module):
    """Stubs, nested containers, a shared layer, functions, methods and slices."""

    def __init__(self) -> None:
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.stem = nn.Conv2d(3, 8, 3, stride=2)
        self.stages = nn.ModuleList([Residual(8), nn.Sequential(Residual(8), nn.Hardswish())])
        self.heads = nn.ModuleDict({"first": nn.Linear(8, 5), "second": nn.Linear(8, 5)})
        self.alias = self.heads["first"]

    def forward(self, x):
        x = F.relu(self.stem(self.quant(x)), inplace=True)
        for stage in self.stages:
            x = stage(x)
        x = torch.flatten(F.adaptive_avg_pool2d(x, 1), 1)
        first, second = self.dequant(self.alias(x)), self.dequant(self.heads["second"](x))
        return {"logits": first, "both": torch.cat([first, second], dim=-1)[:, 1:-1, None]}


class Reader(nn.Module):
    """Sequences: an embedding, an LSTM with two results, attention, sizes of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.lstm = nn.LSTM(8, 4, num_layers=2, bidirectional=True, batch_first=True)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(8))
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True, add_bias_kv=True)

    def forward(self, tokens):
        x, (hidden, _) = self.lstm(self.embedding(tokens))
        x = self.encoder(x)
        y, _ = self.attention(x, x, x, need_weights=False)
        best = y.reshape(tokens.size(0), -1).max(dim=1)
        return y.softmax(-1), hidden.transpose(0, 1), best.values, best.indices


class Optional(nn.Module):
    """A forward that depends on its optional arguments and on the mode."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.tensor([2.0]))
        self.register_buffer("offset", torch.tensor([0.5]))
        self.register_buffer("hidden", torch.tensor([4.0]), persistent=False)
        self.frozen = nn.Parameter(torch.tensor([3.0]), requires_grad=False)

    def forward(self, x, mask=None, *, scale=1.0, negate=False):
        y = x * self.gain + self.offset * self.hidden - self.frozen
        if mask is not None:
            y = y.masked_fill(mask, 0.0)
        if negate:
            y = -y
        y = y * scale
        return y + torch.arange(3) if self.training else y


class Creating(nn.Module):
    """Tensors made in the forward, of sizes that the input has, and random ones."""

    def forward(self, x):
        places = torch.arange(x.shape[1], dtype=torch.float32, device=x.device)
        rows = torch.zeros(x.size(0), 1) + torch.ones(1)
        return x + places + rows, torch.rand(3)


class Branching(nn.Module):
    """Control flow that depends on data."""

    def forward(self, x):
        return x if x.sum() > 0 else -x


class Sparse(nn.Module):
    """Has a tensor that cannot be read."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.eye(2).to_sparse())

    def forward(self, x):
        return x


class Unknown(nn.Module):
    """Functions, methods and layers that are not here, and below them more of them."""

    def __init__(self) -> None:
        super().__init__()
        self.decoder = nn.FractionalMaxPool2d(2, 4)
        self.inner = nn.ModuleDict({"branch": Branching(), "sparse": Sparse()})
        self.hooked = nn.Linear(2, 2)
        self.hooked.register_full_backward_hook(lambda *_: None)

    def forward(self, x):
        return torch.fft.fft(x).angle()
