"""The figures of the report, each drawn for light and for dark pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure as Canvas

from .. import plot
from . import conclusions
from .findings import Findings

__all__ = ["FIGURES", "Figure", "draw"]

WIDTH = 5.6
DPI = 200


@dataclass(frozen=True)
class Figure:
    """A figure: what it is called, what it shows, what follows from it, how it is drawn."""

    file: str
    title: str
    shows: str
    concludes: Callable[[Findings], str]
    draws: Callable[[Findings], Canvas]


def canvas(height: float) -> Canvas:
    """An empty figure as wide as the page's text."""
    return Canvas(figsize=(WIDTH, height), dpi=DPI, layout="constrained")


def bits(findings: Findings) -> Canvas:
    """Accuracy against bits."""
    figure = canvas(3.5)
    reference = findings.row("CNN", "fused").float_accuracy
    plot.bits_sweep(findings.bits, reference=reference, ax=figure.subplots())
    return figure


def ranges(findings: Findings) -> Canvas:
    """Activation histograms with the range each observer chose."""
    figure = canvas(5.4)
    axes = figure.subplots(2, 2).ravel()
    for ax, (layer, (values, chosen)) in zip(axes, findings.ranges.items(), strict=True):
        plot.observer_range(values, chosen, ax=ax)
        ax.set_title(layer)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize="small")
    return figure


def layers(findings: Findings) -> Canvas:
    """Error layer by layer."""
    figure = canvas(3.9)
    plot.layer_sqnr(findings.layer_errors, ax=figure.subplots())
    return figure


def logits(findings: Findings) -> Canvas:
    """Distribution of the errors of the logits."""
    figure = canvas(3.5)
    plot.error_histogram(findings.logit_errors, unit="logit", ax=figure.subplots())
    return figure


def channels(findings: Findings) -> Canvas:
    """Weight error per channel."""
    figure = canvas(3.5)
    plot.channel_error(findings.channel_errors, ax=figure.subplots())
    return figure


def readings(findings: Findings) -> Canvas:
    """The images with the smallest margins."""
    figure = canvas(2.45)
    for ax, each in zip(figure.subplots(2, 6).ravel(), findings.readings, strict=False):
        plot.image(each.pixels, f"{each.label}: {each.exact} → {each.rounded}", ax=ax)
    return figure


FIGURES = [
    Figure(
        "activation-ranges.png",
        "What the observers chose",
        "Histograms of the activations that four layers of the fused float model give for the "
        "calibration images (counts on a logarithmic axis). Each bracket is the range that one "
        "observer makes of them: its ends become the integers 0 and 255.",
        conclusions.about_ranges,
        ranges,
    ),
    Figure(
        "layer-error.png",
        "Where the error arises",
        "Signal to quantization noise ratio of each layer's output on the test images, engine "
        "fbgemm, the int8 model against the fused float one. Farther right is better; the "
        "errors of all layers before are included.",
        conclusions.about_layers,
        layers,
    ),
    Figure(
        "logit-error.png",
        "What is left of it in the logits",
        "Distribution of quantized minus float logits over all test images and classes, for the "
        "static variant that comes closest to float32 and for the one that stays farthest, with "
        "their root mean squares.",
        conclusions.about_logits,
        logits,
    ),
    Figure(
        "weight-error.png",
        "One scale, or one a channel",
        "Rounding error of the weight of <code>{layer}</code> for each output channel, in "
        "percent of that channel's root mean square, with one scale for all and with one each. "
        "Channels are sorted by their error with a single scale.",
        conclusions.about_channels,
        channels,
    ),
    Figure(
        "accuracy-bits.png",
        "How many bits it takes",
        "Test accuracy when weights and activations have 2 to 8 bits, imitated by fake "
        "quantization with MinMax observers (<code>quant_min</code> and <code>quant_max</code> "
        "set to the narrower grid): without further training and, where drawn, after two epochs "
        "of quantization-aware training at that width.",
        conclusions.about_bits,
        bits,
    ),
    Figure(
        "closest-calls.png",
        "The closest calls",
        "The twelve test images with the smallest margin between the two largest logits of the "
        "int8 network (the static variant closest to float32). Above each: the digit that it "
        "is, then what float32 and int8 read.",
        conclusions.about_readings,
        readings,
    ),
]


def dark(file: str) -> str:
    """Name of the same figure for dark pages."""
    return file.replace(".png", "-dark.png")


def draw(figure: Figure, findings: Findings, folder: Path) -> None:
    """Write a figure twice into ``folder``."""
    for name, file in (("light", figure.file), ("dark", dark(figure.file))):
        with plot.theme(name):
            figure.draws(findings).savefig(folder / file)
