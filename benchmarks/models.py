"""Whole models: static int8 inference, steps of quantization-aware training, recurrent cells."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

import pyqref
from pyqref.demo import models as demo_models
from pyqref.interop import load_torch_state_dict

from . import networks
from .layers import ENGINES
from .race import Race

NETWORKS = {
    "ResNet-18": networks.resnet18,
    "ResNet-50": networks.resnet50,
    "MobileNetV2": networks.mobilenet_v2,
}
STATIC_ENGINES = ("x86", *ENGINES)
#: layers, hidden size, batch; sequences of 16.
RECURRENT = [(1, 256, 1), (1, 256, 32), (2, 512, 1), (2, 512, 8), (1, 1024, 1), (2, 1024, 32)]


def same_weights(build: Any) -> tuple[Any, Any]:
    """The model in both libraries, with the weights that torch drew."""
    torch.manual_seed(0)
    theirs, mine = build(torch), build(pyqref)
    load_torch_state_dict(mine, theirs.state_dict())
    return mine, theirs


def static(space: Any, model: Any, images: Any, engine: str) -> Any:
    """Fuse, prepare, calibrate and convert for an engine."""
    ao = space.ao.quantization
    space.backends.quantized.engine = engine
    model = networks.fused(space, model.eval())
    model.qconfig = ao.get_default_qconfig(engine)
    with space.no_grad():
        prepared = ao.prepare(model)
        prepared(images)
        return ao.convert(prepared)


def inference(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Images of 224 x 224, float in and float out; the best of torch's engines counts."""
    del threads
    for name in NETWORKS:
        yield from inference_of(rng, name, (1,) if quick else (1, 8))


def inference_of(
    rng: np.random.Generator,
    name: str,
    batches: tuple[int, ...],
    engines: tuple[str, ...] = STATIC_ENGINES,
) -> Iterator[Race]:
    """One network."""
    build = NETWORKS[name]
    mine, theirs = same_weights(build)
    calibration = rng.standard_normal((2, 3, 224, 224), np.float32)
    weights, operations = cost(build(torch).eval())
    ours = static(pyqref, mine, pyqref.from_numpy(calibration), "fbgemm")
    peers = {
        engine: static(torch, theirs, torch.from_numpy(calibration), engine) for engine in engines
    }
    for batch in batches:
        x = rng.standard_normal((batch, 3, 224, 224), np.float32)
        yield Race(
            "whole model",
            f"{name}, batch {batch}",
            operations * batch,
            without_gradients(pyqref, ours, x),
            {f"torch {e}": without_gradients(torch, each, x) for e, each in peers.items()},
            tolerance=np.inf,
            moved=weights + x.nbytes + 4.0 * batch * 1000,
        )


def cost(model: Any) -> tuple[float, float]:
    """Weights, and operations of the products for one image."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, 3, 224, 224))
    return float(sum(p.numel() for p in model.parameters())), float(counter.get_total_flops())


def without_gradients(space: Any, model: Any, x: np.ndarray) -> Any:
    """Call the model on ``x``, which has its channels last where torch likes it so."""
    images = space.from_numpy(x)
    if x.ndim == 4:
        images = images.contiguous(memory_format=space.channels_last)

    def work() -> Any:
        with space.no_grad():
            return model(images)

    return work


def demo_network(space: Any) -> Any:
    """The CNN of ``pyqref demo``; torch's is the same text with the one line changed."""
    if space is pyqref:
        return demo_models.DigitCNN()
    text = inspect.getsource(demo_models).replace("pyqref", "torch")
    module = ModuleType("demo_models_of_torch")
    exec(compile(text, module.__name__, "exec"), module.__dict__)
    return module.DigitCNN()


def training(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """One step of quantization-aware training: forward, loss, backward, SGD."""
    del threads
    resnet = (
        "ResNet-18",
        networks.resnet18,
        (3, 32, 32),
        lambda space, m: networks.fused(space, m, True),
    )
    demo = (
        "CNN of the demo",
        demo_network,
        (1, 8, 8),
        lambda space, m: space.ao.quantization.fuse_modules_qat(m, m.FUSED),
    )
    for name, build, shape, fuse in (demo,) if quick else (demo, resnet):
        x = rng.standard_normal((64, *shape), np.float32)
        labels = rng.integers(0, 10, 64)
        mine, theirs = (
            training_step(space, fuse(space, model.train()), x, labels)
            for space, model in zip((pyqref, torch), same_weights(build), strict=True)
        )
        yield Race("QAT step", f"{name}, batch 64", 64.0, mine, {"torch": theirs}, np.inf)


def training_step(space: Any, model: Any, x: np.ndarray, labels: np.ndarray) -> Any:
    """Give the function that makes one step and returns the loss."""
    space.backends.quantized.engine = "fbgemm"
    model.qconfig = space.ao.quantization.get_default_qat_qconfig("fbgemm")
    model = space.ao.quantization.prepare_qat(model)
    images, classes = space.from_numpy(x), space.from_numpy(labels)
    optimizer = space.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = space.nn.CrossEntropyLoss()

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(model(images), classes)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def recurrent(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """LSTM and GRU with weights in int8 and activations quantized at each step."""
    del threads
    for kind in ("LSTM", "GRU"):
        for layers, hidden, batch in RECURRENT[:2] if quick else RECURRENT:
            mine, theirs = same_weights(
                lambda space, k=kind, h=hidden, n=layers: getattr(space.nn, k)(h, h, n)
            )
            x = rng.standard_normal((16, batch, hidden), np.float32)
            yield Race(
                f"dynamic {kind}",
                f"{layers} layer(s), hidden {hidden}, batch {batch}",
                16.0 * batch,
                without_gradients(pyqref, dynamic(pyqref, mine, "fbgemm"), x),
                {
                    f"torch {engine}": without_gradients(torch, dynamic(torch, theirs, engine), x)
                    for engine in ("fbgemm", "qnnpack")
                },
                tolerance=0.1,
            )


def dynamic(space: Any, layer: Any, engine: str) -> Any:
    """The layer with dynamic quantization."""
    space.backends.quantized.engine = engine
    model = space.nn.Sequential(layer).eval()
    kinds = {type(layer)}
    return space.ao.quantization.quantize_dynamic(model, kinds, dtype=space.qint8)[0]
