"""How work that threads share gains by more of them: ``python -m benchmarks.scaling --json FILE``.

Some large work of each kind, raced as everything else is, in one process for each number of
threads: 1, 2, 4, 8, ... up to as many processors as there are.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from . import convolutions, elements, layers, models
from .files import text_of
from .pinning import PROCESSORS
from .race import Race

LINEAR = [(1024, 4096, 4096), (128, 1024, 1024), (8, 4096, 4096)]
#: Batch, then as in ``convolutions.py``.
CONV2D = [
    (8, 64, 56, 64, 3, 1, 1),
    (8, 512, 28, 128, 1, 1, 1),
    (1, 256, 14, 256, 3, 1, 1),
    (8, 144, 56, 144, 3, 1, 144),
]
SIZE = 1 << 24
ELEMENTS = (
    "quantize",
    "fake quantize, backward",
    "MinMaxObserver",
    "HistogramObserver",
)
CELLS = "dynamic LSTM", "2 layer(s), hidden 1024, batch 32"
#: Made for ARM: on other processors it is ten times as slow as torch's other engines.
FOR_ARM = "torch qnnpack"


def scaling(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """The work."""
    for race in layers.linear_of(rng, LINEAR[1:2] if quick else LINEAR, threads):
        if race.kind == "linear":
            yield race
    for layer in CONV2D[2:3] if quick else CONV2D:
        yield convolutions.convolution_of(rng, 2, *layer, threads)
    if quick:
        return
    for race in elements.numbers_of(rng, [SIZE]):
        if race.kind in ELEMENTS:
            yield race
    for race in models.recurrent(rng, quick, threads):
        if (race.kind, race.shape) == CELLS:
            yield race._replace(peers={n: run for n, run in race.peers.items() if n != FOR_ARM})
            break
    for name in ("ResNet-50", "MobileNetV2"):
        yield from models.inference_of(rng, name, (8,), ("x86", *layers.ENGINES))


def counts(processors: int) -> list[int]:
    """Powers of two up to the number of processors.

    Examples
    --------
    >>> counts(12)
    [1, 2, 4, 8]
    """
    return [1 << n for n in range(processors.bit_length())]


def main() -> None:
    """Run the benchmark once for each number of threads and write what it measured."""
    parser = argparse.ArgumentParser(prog="benchmarks.scaling", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", required=True)
    parser.add_argument("--quick", action="store_true", help="two layers, shorter")
    options = parser.parse_args()
    measured = []
    with tempfile.TemporaryDirectory() as folder:
        for threads in counts(len(PROCESSORS)):
            file = Path(folder, f"{threads}.json")
            command = [sys.executable, "-m", "benchmarks", "--only", "scaling"]
            command += ["--threads", str(threads), "--json", str(file)]
            subprocess.run(command + ["--quick"] * options.quick, check=True)
            measured.append(json.loads(file.read_text()))
            options.json.write_text(text_of(measured))


if __name__ == "__main__":
    main()
