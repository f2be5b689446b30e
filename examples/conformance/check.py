"""Verify three kernels in C, and name the mistake of each.

``python examples/conformance/check.py`` compiles ``kernels.c`` with the system's C compiler, runs
its functions through ctypes on the conformance cases of :mod:`pyqref.testing`, and prints what it
finds. The kernels take the bias as an integer and the weight per channel, as qnnpack does.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyqref.testing import check_implementation, from_library
from pyqref.testing.checking import Conformance

SOURCE = Path(__file__).with_name("kernels.c")
#: What every layer takes; the text of `from_library` says how to name parts of an array.
LAYER = "x, x_zero_point, weight, bias_integer, multiplier, output_zero_point, lower, upper"
PLACES = "stride[0], padding[0], dilation[0]"
SIZES = "x.shape[0], x.shape[1], x.shape[2], y.shape[1], weight.shape[2], y.shape[2]"
PAIR = "a, a_scale, a_zero_point, b, b_scale, b_zero_point"
KERNELS = {
    "linear": ("linear", f"{LAYER}, y.shape[0], y.shape[1], x.shape[1], y"),
    "conv1d": ("conv1d", f"{LAYER}, {PLACES}, {SIZES}, y"),
    "mul": ("multiply", f"{PAIR}, output_scale, output_zero_point, lower, y.size, y"),
}


def compiler() -> str:
    """The C compiler that the environment names, or the system's.

    Raises
    ------
    SystemExit
        There is none.
    """
    found = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not found:
        sys.exit("There is no C compiler: install gcc or clang, or set CC to one.")
    return found


def build(folder: Path) -> ctypes.CDLL:
    """Compile the kernels to a shared library in ``folder``, and load it."""
    library = folder / "kernels.so"
    # Without -ffp-contract=off a compiler may fuse a product and a sum, which rounds once.
    flags = ["-O1", "-std=c99", "-Wall", "-Werror", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run(
        [*compiler().split(), *flags, "-o", str(library), str(SOURCE), "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


def check(library: ctypes.CDLL) -> list[Conformance]:
    """Run each kernel on the cases of its operation."""
    return [
        check_implementation(
            from_library(library, function, arguments),
            operation,
            engine="qnnpack",
            without=["weight zero point"],  # these weights are symmetric
        )
        for operation, (function, arguments) in KERNELS.items()
    ]


def main() -> None:
    """Print what is wrong with each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        for result in check(build(Path(folder))):
            print(f"{result}\n")


if __name__ == "__main__":
    main()
