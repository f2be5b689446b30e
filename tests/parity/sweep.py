"""Compare every quantized operation with live torch on a million random elements and more.

    python tests/parity/sweep.py [--elements 1000000] [name ...]

Each operation runs again and again on fresh random shapes, scales and zero points, with
saturation and ties among them, under both engines. Prints how many elements differ, and by
how much. ``sweep_operations.py`` has the operations.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.sweep_operations import OPERATIONS

ENGINES = ("fbgemm", "qnnpack")


def numbers(result: Any) -> np.ndarray:
    """Integers of a quantized result, numbers of a float one."""
    if result.is_quantized:
        return np.asarray(result.int_repr().numpy(), np.int64)
    return np.asarray(result.detach().numpy())


def compare(name: str, engine: str, elements: int) -> tuple[int, int, float, str]:
    """Elements compared, how many differ, the largest difference, torch's refusal if any."""
    import torch

    import pyqref

    torch.backends.quantized.engine = pyqref.backends.quantized.engine = engine
    compared = different = repetition = 0
    largest = 0.0
    while compared < elements:
        seed = [len(name), *name.encode(), repetition]
        try:
            theirs = numbers(OPERATIONS[name](torch, np.random.default_rng(seed)))
        except (RuntimeError, NotImplementedError) as error:
            return compared, different, largest, str(error).splitlines()[0][:60]
        ours = numbers(OPERATIONS[name](pyqref, np.random.default_rng(seed)))
        gap = np.abs(ours.astype(np.float64) - theirs)
        compared += gap.size
        different += int((gap > 0).sum())
        largest = max(largest, float(gap.max(initial=0.0)))
        repetition += 1
    return compared, different, largest, ""


def main() -> None:
    """Sweep the operations named on the command line, or all."""
    import torch

    import pyqref

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    pyqref.backends.quantized.conventions = "torch"
    table = Table("operation", "engine", "elements", "different", "largest", "")
    jobs = [(name, engine) for name in options.names or OPERATIONS for engine in ENGINES]
    for name, engine in track(jobs, "Comparing"):
        compared, different, largest, refusal = compare(name, engine, options.elements)
        table.add_row(name, engine, f"{compared:,}", f"{different:,}", f"{largest:.3g}", refusal)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
