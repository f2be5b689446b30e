"""Run the races, print a table of ratios, and write JSON and a chart.

``python -m benchmarks [--quick] [--threads N] [--only KIND] [--json FILE] [--chart FILE]``.
A ratio is the median time of the fastest other library, divided by ours, measured in turns
in this process: above 1 pyqref is faster. Needs torch, rich, and for the chart matplotlib;
onnxruntime and onnx join in where they are installed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import pyqref
from pyqref import kernels

from . import activations, convolutions, elements, layers, models, onnx_models
from .race import Result, run

GROUPS = {
    "linear": layers.linear,
    "convolution": convolutions.convolution,
    "activations": activations.activations,
    "numbers": elements.numbers,
    "smallest": elements.smallest,
    "recurrent": models.recurrent,
    "models": models.inference,
    "training": models.training,
}


def processor() -> str:
    """Name of the processor."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def row(result: Result) -> list[str]:
    race, colour = result.race, "green" if result.ratio >= 1 else "red"
    return [
        race.kind,
        race.shape,
        f"{result.ours * 1e6:.1f}",
        f"{result.peers[result.best_peer] * 1e6:.1f}",
        result.best_peer,
        f"{race.operations / result.ours / 1e9:.1f}",
        f"{result.difference:.3g}",
        f"[{colour}]{result.ratio:.2f}",
    ]


def geometric_means(results: list[Result]) -> dict[str, tuple[float, float, int]]:
    """For each kind: geometric mean, smallest ratio, number of races."""
    ratios = defaultdict(list)
    for result in results:
        ratios[result.race.kind].append(result.ratio)
    return {
        kind: (float(np.exp(np.log(each).mean())), min(each), len(each))
        for kind, each in ratios.items()
    }


def draw(results: list[Result], path: Path) -> None:
    """A bar for each kind: the geometric mean of its ratios."""
    from matplotlib.figure import Figure

    means = geometric_means(results)
    figure = Figure(figsize=(8, 0.3 * len(means) + 1.2), layout="constrained")
    axes = figure.subplots()
    axes.barh(list(means), [mean for mean, _, _ in means.values()], color="tab:blue")
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel("time of the fastest other library / time of pyqref")
    axes.invert_yaxis()
    figure.savefig(path)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer shapes, shorter")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=GROUPS, action="append")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--chart", type=Path, metavar="FILE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    pyqref.set_num_threads(options.threads)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    versions = f"torch {torch.__version__}"
    if onnx_models.available:
        versions += f", onnxruntime {onnx_models.onnxruntime.__version__}"
    console.print(f"{kernels.in_use()} on {processor()}, {options.threads} thread(s); {versions}")
    table = Table(title="medians in microseconds")
    for name in ("operation", "shape", "pyqref", "best", "of", "Gop/s", "differ", "ratio"):
        left = name in ("operation", "shape", "of")
        table.add_column(name, justify="left" if left else "right")
    rng = np.random.default_rng(0)
    results = []
    seconds = 0.15 if options.quick else 0.6
    for name in options.only or GROUPS:
        for race in GROUPS[name](rng, options.quick, options.threads):
            results.append(run(race, seconds))
            table.add_row(*row(results[-1]))
    console.print(table)
    for kind, (mean, smallest, count) in geometric_means(results).items():
        console.print(f"{kind:<28} mean {mean:6.2f}  smallest {smallest:6.2f}  of {count}")
    extra = elements.import_seconds("pyqref") - elements.import_seconds("numpy")
    console.print(f"import pyqref: {extra * 1e3:.0f} ms more than import numpy")
    if options.json:
        answer = {
            "processor": processor(),
            "kernel": kernels.in_use(),
            "threads": options.threads,
            "versions": versions,
            "import_milliseconds": extra * 1e3,
            "races": [
                {
                    "kind": result.race.kind,
                    "shape": result.race.shape,
                    "pyqref": result.ours,
                    **result.peers,
                    "difference": result.difference,
                    "ratio": result.ratio,
                }
                for result in results
            ],
        }
        options.json.write_text(json.dumps(answer, indent=1))
    if options.chart:
        draw(results, options.chart)


if __name__ == "__main__":
    main()
