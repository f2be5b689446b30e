"""Networks of words: BERT and MiniLM, GPT-2, an LSTM that writes, a GRU that translates."""

from __future__ import annotations

from typing import Any

import pyqref
from pyqref import nn

from .blocks import Transformer

__all__ = ["bert", "gpt2", "gru_seq2seq", "lstm_language_model"]


class Words(nn.Module):
    """Vectors of the words plus vectors of their places."""

    def __init__(self, words: int, places: int, width: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(places, width)

    def forward(self, words: Any) -> Any:
        order = pyqref.cumsum(pyqref.ones_like(words), 1) - 1
        return self.words(words) + self.places(order)


def bert(width: int = 768, depth: int = 12, heads: int = 12, words: int = 30522) -> Any:
    """Devlin et al. 2018; MiniLM (Wang et al. 2020) has a width of 384 and six layers."""
    layers = (Transformer(width, heads, before=False) for _ in range(depth))
    return nn.Sequential(Words(words, 512, width), nn.LayerNorm(width), *layers)


def gpt2(width: int = 768, depth: int = 12, heads: int = 12, words: int = 50257) -> Any:
    """Radford et al. 2019, the small one."""
    layers = (Transformer(width, heads, causal=True) for _ in range(depth))
    last = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
    return nn.Sequential(Words(words, 1024, width), *layers, *last)


class Writer(nn.Module):
    """Scores of the next word behind each word."""

    def __init__(self, words: int, width: int, depth: int) -> None:
        super().__init__()
        self.words, self.scores = nn.Embedding(words, width), nn.Linear(width, words)
        self.memory = nn.LSTM(width, width, depth, batch_first=True)

    def forward(self, words: Any) -> Any:
        return self.scores(self.memory(self.words(words))[0])


def lstm_language_model(words: int = 10000, width: int = 650, depth: int = 2) -> Any:
    """Zaremba et al. 2014, the medium one."""
    return Writer(words, width, depth)


class Translator(nn.Module):
    """Bahdanau et al. 2014, with the attention of products that Luong et al. 2015 took."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.source, self.target = nn.Embedding(words, width), nn.Embedding(words, width)
        self.reader = nn.GRU(width, width, batch_first=True)
        self.writer = nn.GRU(width, width, batch_first=True)
        self.mix, self.scores = nn.Linear(2 * width, width), nn.Linear(width, words)

    def forward(self, source: Any, target: Any) -> Any:
        read, state = self.reader(self.source(source))
        written, _ = self.writer(self.target(target), state)
        weights = pyqref.softmax(pyqref.matmul(written, read.transpose(1, 2)), -1)
        seen = pyqref.cat((pyqref.matmul(weights, read), written), -1)
        return self.scores(pyqref.tanh(self.mix(seen)))


def gru_seq2seq(words: int = 8000, width: int = 512) -> Any:
    """A translator of two GRUs with attention between them."""
    return Translator(words, width)
