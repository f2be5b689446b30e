"""Figures of the chapters on training and on whole models."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import pyqref
from pyqref.numerics.equalization import channel_range
from pyqref.numerics.exponential import exp_below
from pyqref.plot.style import ink


def straight_through() -> Any:
    """Values of fake quantization, and the gradient that is used for them."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
    x = pyqref.linspace(-1.5, 1.75, 801).requires_grad_()
    y = pyqref.fake_quantize_per_tensor_affine(x, 0.25, 4, 0, 8)
    y.sum().backward()
    assert x.grad is not None
    places = x.detach().numpy()
    for ax, values, title in (
        (axes[0], y.detach().numpy(), "value"),
        (axes[1], x.grad.numpy(), "gradient used in training"),
    ):
        ax.plot(places, values, color="C0")
        ax.set_title(title)
        ax.set_xlabel("weight")
    return figure


def folded() -> Any:
    """The largest weight of each channel before and after folding."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    generator = np.random.default_rng(0)
    conv, norm = pyqref.nn.Conv2d(4, 12, 3), pyqref.nn.BatchNorm2d(12)
    pyqref.manual_seed(0)
    conv.reset_parameters()
    deviation = generator.uniform(0.2, 2.0, 12).astype(np.float32)
    norm.running_var.copy_(pyqref.from_numpy(deviation**2))
    fused = pyqref.nn.utils.fusion.fuse_conv_bn_eval(conv.eval(), norm.eval())
    for index, (name, layer) in enumerate((("before", conv), ("after folding", fused))):
        largest = np.abs(layer.weight.detach().numpy()).reshape(12, -1).max(axis=1)
        ax.bar(np.arange(12) + 0.4 * index - 0.2, largest, 0.4, color=f"C{index}", label=name)
    ax.set_xticks(range(12))
    ax.set_xlabel("output channel")
    ax.set_ylabel("largest weight")
    ax.legend(fontsize="small")
    return figure


def equalized() -> Any:
    """Ranges of the weights of two adjacent layers in each channel, before and after."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True)
    pyqref.manual_seed(0)
    model = pyqref.nn.Sequential(
        pyqref.nn.Linear(8, 12), pyqref.nn.ReLU(), pyqref.nn.Linear(12, 4)
    ).eval()
    factors = 10.0 ** np.random.default_rng(0).uniform(-1, 1, 12)
    model[0].weight.data *= pyqref.tensor(factors).float().reshape(12, 1)
    equal = pyqref.quantization.repair.cross_layer_equalization(model)
    for ax, title, each in ((axes[0], "before", model), (axes[1], "after", equal)):
        for index, (name, axis) in enumerate((("first layer", 0), ("second layer", 1))):
            ranges = channel_range(each[2 * index].weight.detach().numpy(), axis)
            places = np.arange(12) + 0.4 * index - 0.2
            ax.bar(places, ranges, 0.4, color=f"C{index}", label=name)
        ax.set_yscale("log")
        ax.set_title(title)
        ax.set_xlabel("channel")
    axes[0].set_ylabel("range of the weights")
    axes[1].legend(fontsize="small", loc="upper left")
    return figure


def bits_and_noise() -> Any:
    """Noise of the output of a network over the bits of one layer's weights."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    pyqref.manual_seed(0)
    nn, data = pyqref.nn, pyqref.rand(256, 64)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4)).eval()
    widths = range(8, 1, -1)
    found = pyqref.quantization.mixed_precision.search_mixed_precision(
        model, data, "sqnr", {"bits": 8}, choices=tuple(widths), exhaustive=0, progress=False
    )
    for name, label in (("0", "first layer, 4096 weights"), ("2", "last layer, 256 weights")):
        noise = [float(found.sensitivities[name, (bits, 8)]) for bits in widths]
        ax.plot(widths, noise, "os"[name == "2"] + "-", label=label)
    ax.set_yscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("width of the weights of one layer [bits]")
    ax.set_ylabel("noise of the output / signal")
    ax.legend(fontsize="small", loc="upper left")
    return figure


def descent() -> Any:
    """Three optimisers in a long valley."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    optim = pyqref.optim
    makers = {
        "SGD": lambda p: optim.SGD(p, lr=0.03),
        "SGD with momentum 0.9": lambda p: optim.SGD(p, lr=0.03, momentum=0.9),
        "Adam": lambda p: optim.Adam(p, lr=0.1),
    }
    curvature = pyqref.tensor([1.0, 30.0])
    for name, make in makers.items():
        place = pyqref.tensor([1.0, 1.0]).requires_grad_()
        optimizer, losses = make([place]), []
        for _ in range(80):
            optimizer.zero_grad()
            loss = (curvature * place**2).sum() / 2
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        ax.plot(losses, label=name)
    ax.set_yscale("log")
    ax.set_xlabel("step")
    ax.set_ylabel("loss")
    ax.legend(fontsize="small")
    return figure


def loudness() -> Any:
    """Error of a static and of a dynamic grid for inputs of different size."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    bell = pyqref.randn(4000, generator=pyqref.manual_seed(0)).numpy()
    sizes = np.logspace(-1.5, 1, 26)
    static, dynamic = [], []
    for size in sizes:
        x = pyqref.from_numpy((bell * size).astype(np.float32))
        for errors, largest in ((static, 4.0), (dynamic, float(x.abs().max()))):
            back = pyqref.fake_quantize_per_tensor_affine(x, 2 * largest / 255, 128, 0, 255)
            noise = (back - x).numpy()
            errors.append(np.sqrt(np.mean(noise**2)) / size)
    ax.plot(sizes, static, color="C1", label="static: range from -4 to 4")
    ax.plot(sizes, dynamic, color="C0", label="dynamic: range of each input")
    ax.axvline(1, color=ink(ax), linestyle=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("standard deviation of the input")
    ax.set_ylabel("relative error")
    ax.legend(fontsize="small")
    return figure


def powers() -> Any:
    """The error of the exponential function in units in the last place."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    x = np.linspace(-20, 0, 4001).astype(np.float32)
    exact = np.exp(x.astype(np.float64))
    errors = (exp_below(x) - exact) / np.spacing(exact.astype(np.float32))
    for place in (-0.5, 0.5):
        ax.axhline(place, color=ink(ax), linestyle="--", linewidth=1)
    ax.plot(x, errors, ".", color="C0", markersize=2)
    ax.set_xlabel("x")
    ax.set_ylabel("error of exp(x)\n[units in the last place]")
    ax.set_ylim(-0.8, 0.8)
    return figure


class Residual(pyqref.nn.Module):
    """The network of the chapter on graph mode."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = pyqref.nn.Conv2d(3, 8, 3, padding=1)
        self.bn = pyqref.nn.BatchNorm2d(8)
        self.block = pyqref.nn.Conv2d(8, 8, 3, padding=1)
        self.pool = pyqref.nn.AdaptiveAvgPool2d(1)

    def forward(self, x: Any) -> Any:
        """Scale down after a sum with a ReLU."""
        functional = pyqref.nn.functional
        x = functional.relu(self.bn(self.conv(x)))
        x = functional.relu(x + self.block(x))
        return self.pool(x)


def stages() -> Any:
    """The number of nodes of a graph after each stage."""
    figure, ax = plt.subplots(figsize=(6.4, 2.4))
    quantize_fx = pyqref.quantization.quantize_fx
    model, x = Residual().eval(), pyqref.randn(4, 3, 8, 8)
    mapping = pyqref.quantization.get_default_qconfig_mapping("fbgemm")
    prepared = quantize_fx.prepare_fx(model, mapping, (x,))
    prepared(x)
    graphs = {
        "traced": pyqref.fx.symbolic_trace(model),
        "fused": quantize_fx.fuse_fx(model),
        "prepared": prepared,
        "reference": quantize_fx.convert_to_reference_fx(copy.deepcopy(prepared)),
        "lowered": quantize_fx.convert_fx(copy.deepcopy(prepared)),
    }
    counts = [len(list(each.graph.nodes)) for each in graphs.values()]
    ax.barh(list(graphs), counts, color="C0")
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    for place, count in enumerate(counts):
        ax.text(count + 0.2, place, str(count), va="center", color=ink(ax))
    ax.set_xlabel("nodes of the graph")
    return figure
