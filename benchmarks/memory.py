"""Peak memory of a forward pass: ``python -m benchmarks.memory LIBRARY NETWORK float|int8``.

It is measured in a process of its own, which imports no other library: pages that were given
back before the pass are not counted where Linux can be told so.
"""

from __future__ import annotations

import gc
import importlib
import subprocess
import sys
import warnings
from pathlib import Path

from . import zoo
from .recipes import quantized

__all__ = ["peak_of"]

STATUS, FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_of(library: str, name: str, kind: str, threads: int = 1) -> float:
    """Bytes of a child that runs the network, its weights and the library among them."""
    command = [sys.executable, "-m", __name__, library, name, kind, str(threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def _peak() -> float:
    lines = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM")]
    return 1024.0 * float(lines[0].split()[1])


def main() -> None:
    """Run the network and print the peak."""
    warnings.simplefilter("ignore")
    library, name, kind, threads = sys.argv[1:5]
    space = importlib.import_module(library)
    space.set_num_threads(int(threads))
    model = zoo.build(space, name)
    inputs = tuple(space.from_numpy(each) for each in zoo.batch_of(name, 1))
    if kind == "int8":
        model = quantized(space, model, inputs, zoo.NETWORKS[name].dynamic, "fbgemm")
    gc.collect()
    if FORGET.exists():
        FORGET.write_text("5")
    with space.no_grad():
        for _ in range(3):
            model(*inputs)
    print(_peak())


if __name__ == "__main__":
    main()
