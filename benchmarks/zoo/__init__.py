"""Whole networks with random weights, written once for pyqref and for torch.

Each file is a script that imports pyqref; torch's networks are the same text with the name of the
library changed, as a user's script is after its one changed line.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

__all__ = ["NETWORKS", "Network", "build"]

#: In the order in which they import each other.
FILES = ("blocks", "residual", "mobile", "inception", "maps", "vision", "language", "signals")
Inputs = Callable[[np.random.Generator, int, Any], tuple[np.ndarray, ...]]


def images(rng: np.random.Generator, batch: int, shape: Any) -> tuple[np.ndarray, ...]:
    """Images, videos and spectra: unit normals of this shape."""
    sides = shape if isinstance(shape, tuple) else (3, shape, shape)
    return (rng.standard_normal((batch, *sides), np.float32),)


def words(rng: np.random.Generator, batch: int, shape: Any) -> tuple[np.ndarray, ...]:
    """Draw so many words each, for so many inputs: ``(length, vocabulary)``."""
    return (rng.integers(0, shape[1], (batch, shape[0])),)


def two_sentences(rng: np.random.Generator, batch: int, shape: Any) -> tuple[np.ndarray, ...]:
    """Return the sentence that is read and the one that is written."""
    return words(rng, batch, shape) + words(rng, batch, shape)


def clicks(rng: np.random.Generator, batch: int, shape: Any) -> tuple[np.ndarray, ...]:
    """Numbers of a visit, and four rows for each table: ``(numbers, tables, rows)``."""
    numbers, tables, rows = shape
    return (*images(rng, batch, (numbers,)), rng.integers(0, rows, (batch, tables, 4)))


class Network(NamedTuple):
    """A network: who makes it, from what, and a tiny one of its kind for tests.

    Attributes
    ----------
    file, function
        Where it is written.
    options
        Arguments of the function.
    shape
        Of the inputs: the side of an image, or what ``inputs`` takes.
    small
        Arguments and shape of the tiny one.
    inputs
        Make a batch.
    dynamic
        Quantized dynamically, eagerly; else statically, by its graph.
    """

    file: str
    function: str
    options: dict[str, Any]
    shape: Any
    small: tuple[dict[str, Any], Any]
    inputs: Inputs = images
    dynamic: bool = False


_TINY_V3 = ((3, 16, 16, 0, 0, 1), (5, 72, 24, 1, 1, 2))
_TINY_GOOGLE = ((8, (4, 8), (4, 8), 8), None, (8, (4, 8), (4, 8), 8))
_TINY_ROWS = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3))
_TINY_BERT = {"width": 16, "depth": 1, "heads": 2, "words": 40}
_DEEP = {"depths": (3, 4, 6, 3), "deep": True}
_MINI = {"width": 384, "depth": 6}

NETWORKS: dict[str, Network] = {
    "ResNet-18": Network("residual", "resnet", {}, 224, ({"depths": (1, 1), "width": 8}, 32)),
    "ResNet-50": Network(
        "residual", "resnet", _DEEP, 224, ({"depths": (1, 2), "width": 8, "deep": True}, 32)
    ),
    "MobileNetV2": Network("mobile", "mobilenet_v2", {}, 224, ({"rows": _TINY_ROWS}, 32)),
    "MobileNetV3": Network("mobile", "mobilenet_v3", {}, 224, ({"rows": _TINY_V3}, 32)),
    "EfficientNet-B0": Network("mobile", "efficientnet_b0", {}, 224, ({"rows": _TINY_ROWS}, 32)),
    "ShuffleNetV2": Network(
        "mobile", "shufflenet_v2", {}, 224, ({"repeats": (2,), "widths": (32,)}, 32)
    ),
    "GoogLeNet": Network("inception", "googlenet", {}, 224, ({"rows": _TINY_GOOGLE}, 32)),
    "InceptionV3": Network(
        "inception", "inception_v3", {}, 299, ({"squares": (8,), "crosses": (8,), "wides": 0}, 96)
    ),
    "DenseNet-121": Network(
        "inception", "densenet", {}, 224, ({"depths": (1, 2), "growth": 8}, 32)
    ),
    "RegNet": Network("residual", "regnet", {}, 224, ({"depths": (1, 2), "widths": (16, 32)}, 32)),
    "ConvNeXt-T": Network(
        "vision", "convnext", {}, 224, ({"depths": (1, 1), "widths": (16, 32)}, 32)
    ),
    "ViT-B/16": Network(
        "vision", "vit", {}, 224, ({"image": 32, "width": 16, "depth": 1, "heads": 2}, 32)
    ),
    "Swin-T": Network(
        "vision", "swin", {}, 224, ({"image": 56, "width": 16, "depths": (2, 1), "heads": 2}, 56)
    ),
    "DeepLabV3": Network(
        "maps", "deeplab_v3", {}, 224, ({"depths": (1, 1, 1), "width": 8, "features": 8}, 32)
    ),
    "YOLO with SiLU": Network("maps", "yolo", {}, 320, ({"width": 4}, 64)),
    "UNet": Network("maps", "unet", {}, 256, ({"width": 8, "levels": 2}, 32)),
    "r3d_18": Network(
        "residual", "r3d_18", {}, (3, 8, 112, 112),
        ({"depths": (1, 1), "width": 8}, (3, 4, 16, 16)),
    ),
    "MiniLM": Network("language", "bert", _MINI, (128, 30522), (_TINY_BERT, (9, 40)), words, True),
    "BERT-base": Network("language", "bert", {}, (128, 30522), (_TINY_BERT, (9, 40)), words, True),
    "GPT-2": Network("language", "gpt2", {}, (64, 50257), (_TINY_BERT, (9, 40)), words, True),
    "Whisper encoder": Network(
        "signals", "whisper_encoder", {}, (80, 1000),
        ({"bands": 8, "length": 20, "width": 16, "depth": 1, "heads": 2}, (8, 20)), dynamic=True,
    ),
    "LSTM language model": Network(
        "language", "lstm_language_model", {}, (35, 10000),
        ({"words": 40, "width": 16}, (9, 40)), words, True,
    ),
    "GRU seq2seq": Network(
        "language", "gru_seq2seq", {}, (20, 8000),
        ({"words": 40, "width": 16}, (9, 40)), two_sentences, True,
    ),
    "DLRM": Network(
        "signals", "dlrm", {}, (13, 26, 10000),
        ({"tables": 3, "rows": 40, "width": 16}, (13, 3, 40)), clicks, True,
    ),
    "conformer": Network(
        "signals", "conformer", {}, (200, 80),
        ({"bands": 8, "width": 16, "depth": 1, "heads": 2, "kernel": 7}, (9, 8)), dynamic=True,
    ),
}  # fmt: skip


def _module(library: str, file: str) -> ModuleType:
    """A file, for pyqref as it stands, for another library with the name changed."""
    if library == "pyqref":
        return importlib.import_module(f".{file}", __name__)
    package = f"{__name__}.of_{library}"
    if package not in sys.modules:
        sys.modules[package] = ModuleType(package)
        for each in FILES:
            module = ModuleType(f"{package}.{each}")
            module.__package__ = package
            sys.modules[module.__name__] = module
            path = Path(__file__).with_name(f"{each}.py")
            text = path.read_text().replace("pyqref", library)
            exec(compile(text, f"{path}, for {library}", "exec"), module.__dict__)
    return sys.modules[f"{package}.{file}"]


def build(space: Any, name: str, small: bool = False) -> Any:
    """The network in a library, ``pyqref`` or ``torch``, ready for inference."""
    network = NETWORKS[name]
    make = getattr(_module(space.__name__, network.file), network.function)
    return make(**(network.small[0] if small else network.options)).eval()


def batch_of(name: str, batch: int, small: bool = False, side: int = 0) -> tuple[np.ndarray, ...]:
    """The inputs of a batch as arrays; ``side`` is that of images where it can be chosen."""
    network = NETWORKS[name]
    shape = network.small[1] if small else network.shape
    if side and isinstance(shape, int) and network.file != "vision" and name != "InceptionV3":
        shape = side
    return network.inputs(np.random.default_rng(0), batch, shape)
