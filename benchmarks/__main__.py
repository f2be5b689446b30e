"""Run the races, print a table of ratios, and write JSON and charts.

``python -m benchmarks [--models] [--quick] [--threads N] [--only KIND] [--match TEXT]
[--json FILE] [--chart FILE]``. With ``--models``, whole networks: ``--only`` names one of them.
A ratio is the median time of the fastest other library, divided by ours, measured in turns
in this process, in three rounds that are minutes apart: above 1 pyqref is faster. Needs
torch, rich, threadpoolctl, and for the charts matplotlib; onnxruntime and onnx join in where
they are installed.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import pyqref
from pyqref import kernels

from . import (
    activations,
    calls,
    convolutions,
    elements,
    floats,
    layers,
    model_table,
    models,
    onnx_models,
    peaks,
    ranges,
    scaling,
    zoo,
)
from .charts import bars, geometric_means, roofline, threads_of
from .files import text_of
from .pinning import Pinned
from .race import Result, run

GROUPS = {
    "linear": layers.linear,
    "convolution": convolutions.convolution,
    "activations": activations.activations,
    "numbers": elements.numbers,
    "ranges": ranges.ranges,
    "smallest": elements.smallest,
    "calls": calls.calls,
    "floats": floats.floats,
    "recurrent": models.recurrent,
    "models": models.inference,
    "training": models.training,
}
#: What is only run where it is asked for.
OTHERS = {"scaling": scaling.scaling}


def processor() -> str:
    """Name of the processor, and what tells it from others of that name in virtual machines."""
    information = Path("/proc/cpuinfo")
    found: dict[str, str] = {}
    if information.exists():
        for line in information.read_text().splitlines():
            key, _, value = line.partition(":")
            found.setdefault(key.strip(), value.strip())
    name = found.get("model name") or platform.processor() or platform.machine()
    numbers = [f"{key} {found[key]}" for key in ("cpu family", "model") if key in found]
    return ", ".join([name, *numbers])


def plain(result: Result) -> dict[str, Any]:
    """Return the JSON of a race; times are seconds."""
    return {
        "kind": result.kind,
        "shape": result.shape,
        "operations": result.operations,
        "moved": result.moved,
        "peak": result.peak,
        "pyqref": result.ours,
        "best": result.peers[result.best_peer],
        "peers": result.peers,
        "difference": result.difference,
        "ratio": result.ratio,
    }


def row(result: Result, roofs: dict[str, float]) -> list[str]:
    """Return the row of a race in the table."""
    colour, share = "green" if result.ratio >= 1 else "red", ""
    if result.moved:
        roof = max(
            result.operations / (result.peak or roofs["operations"]), result.moved / roofs["bytes"]
        )
        share = f"{roof / result.ours:.0%}"
    return [
        result.kind,
        result.shape,
        f"{result.ours * 1e6:.1f}",
        f"{result.peers[result.best_peer] * 1e6:.1f}",
        result.best_peer,
        f"{result.operations / result.ours / 1e9:.1f}",
        share,
        f"{result.difference:.3g}",
        f"[{colour}]{result.ratio:.2f}",
    ]


def draw(measured: dict[str, Any], path: Path) -> None:
    """The bars, and beside them (``NAME-roofline``) the roofline where there is one."""
    bars(measured).figure.savefig(path)
    if any(race["moved"] for race in measured["races"]):
        second = path.with_stem(path.stem + "-roofline")
        roofline(measured).figure.savefig(second)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer shapes, shorter")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--models", action="store_true", help="the table of whole networks")
    parser.add_argument("--only", action="append", metavar="NAME", help="a kind, or a network")
    parser.add_argument(
        "--match", action="append", help="only what has this in its line, as '64 x 768' has"
    )
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--chart", type=Path, metavar="FILE")
    options = parser.parse_args()
    known = zoo.NETWORKS if options.models else GROUPS | OTHERS
    for name in options.only or ():
        if name not in known:
            parser.error(f"--only must be one of {', '.join(known)}, got {name!r}")
    return options


def refuse_the_reference() -> None:
    """End, unless NumPy's kernel was asked for: its times say nothing about the library."""
    if kernels.in_use() == "reference" and not os.environ.get("PYQREF_KERNEL"):
        sys.exit(
            f"benchmarks: pyqref from {Path(pyqref.__file__).parent} has no compiled kernels, so "
            "its times would be those of NumPy; compile it by `pip install -e .`, or set "
            "PYQREF_KERNEL=reference to measure NumPy"
        )


def whole_models(options: argparse.Namespace, versions: str, console: Console) -> None:
    """Run the networks, print their table, and write a line for each race."""
    console.print(f"{kernels.in_use()} on {processor()}, {threads_of(options.threads)}; {versions}")
    names = options.only or list(zoo.NETWORKS)
    races = model_table.measure(names, options.quick, options.threads, console)
    model_table.show(races, console)
    if options.json:
        measured = {
            "processor": processor(),
            "kernel": kernels.in_use(),
            "threads": options.threads,
            "versions": versions,
            "quick": options.quick,
            "races": races,
        }
        options.json.write_text(text_of(measured))


def main() -> None:
    """Run what was asked for."""
    options = arguments()
    refuse_the_reference()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    pyqref.set_num_threads(options.threads)
    threadpool_limits(options.threads)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    versions = f"torch {torch.__version__}"
    if onnx_models.available:
        versions += f", onnxruntime {onnx_models.version}"
    if options.models:
        whole_models(options, versions, console)
        return
    products = peaks.Products(options.threads)
    roofs = {
        "operations": products.best(),
        "bytes": peaks.memory_bandwidth(options.threads),
    }
    console.print(f"{kernels.in_use()} on {processor()}, {threads_of(options.threads)}; {versions}")
    console.print(
        f"peaks measured: {roofs['operations'] / 1e9:.0f} Gop/s of its dot product, "
        f"{roofs['bytes'] / 1e9:.1f} GB/s copied"
    )
    table = Table(title="medians in microseconds; 'roof' is the share of the measured peak")
    for name in ("operation", "shape", "pyqref", "best", "of", "Gop/s", "roof", "differ", "ratio"):
        left = name in ("operation", "shape", "of")
        table.add_column(name, justify="left" if left else "right")
    results: dict[str, Result] = {}
    pinned = Pinned(options.threads)
    rounds, seconds = (1, 0.15) if options.quick else (3, 0.2)
    for name in list(options.only or GROUPS) * rounds:
        rng = np.random.default_rng(0)
        for race in (GROUPS | OTHERS)[name](rng, options.quick, options.threads):
            line = f"{race.kind} {race.shape}"
            if options.match and not any(text in line for text in options.match):
                continue
            found = run(race, seconds, pinned, products.now)
            results[line] = results[line].and_then(found) if line in results else found
    for result in results.values():
        table.add_row(*row(result, roofs))
    extra = elements.import_seconds("pyqref") - elements.import_seconds("numpy")
    measured = {
        "processor": processor(),
        "kernel": kernels.in_use(),
        "threads": options.threads,
        "versions": versions,
        "peaks": roofs,
        "import_milliseconds": extra * 1e3,
        "races": [plain(result) for result in results.values()],
    }
    console.print(table)
    for kind, (mean, low, _, count) in geometric_means(measured["races"]).items():
        console.print(f"{kind:<38} mean {mean:6.2f}  smallest {low:6.2f}  of {count}")
    console.print(f"import pyqref: {extra * 1e3:.0f} ms more than import numpy")
    if options.json:
        options.json.write_text(text_of(measured))
    if options.chart:
        draw(measured, options.chart)


if __name__ == "__main__":
    main()
