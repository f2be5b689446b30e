"""Compare functions of one float32 between kernels, for all 2^32 numbers.

Run it after a change of ``pyqref/_kernels/simd/functions.h``. Kernels whose instruction set adds a
product in one rounding (``ROUNDED_ONCE``) must give the bits of those that round twice, as the
equations do. It takes a quarter of an hour for each function::

    python tools/all_float32.py [functions]
"""

from __future__ import annotations

import sys

import numpy as np

import pyqref
from pyqref import kernels
from pyqref._kernels import activations

FUNCTIONS = ("softplus",)
#: What softplus needs: beta, the threshold, and a zero.
ARGUMENTS = {"softplus": (1.0, 20.0, 0.0)}
#: Follows the equations operation by operation.
PLAIN = "portable"
PART = 1 << 24


def bits(function: str, numbers: np.ndarray, kernel: str) -> np.ndarray:
    """Return the results as integers; nan has many bits, which count as one."""
    kernels.use(kernel)
    with np.errstate(all="ignore"):
        found = activations.activation(function, numbers, *ARGUMENTS.get(function, ()))
    assert found is not None
    found = np.where(np.isnan(found), np.float32(np.nan), found)
    return np.asarray(found, np.float32).view(np.uint32)


def differences(function: str, fused: list[str]) -> int:
    """Count the numbers whose results differ, and print the first of each part."""
    count = 0
    for first in range(0, 1 << 32, PART):
        numbers = np.arange(first, first + PART, dtype=np.uint32).view(np.float32)
        expected = bits(function, numbers, PLAIN)
        for kernel in fused:
            wrong = np.flatnonzero(bits(function, numbers, kernel) != expected)
            count += wrong.size
            if wrong.size:
                print(f"{function}, {kernel}: differs at {numbers[wrong[0]]!r}")
    return count


def main(functions: list[str]) -> int:
    """Compare every kernel that this machine runs with the plain one."""
    pyqref.set_num_threads(1)
    fused: list[str] = [name for name in ("avx2", "avx512vnni") if name in kernels.supported()]
    counts = {name: differences(name, fused) for name in functions or FUNCTIONS}
    for name, count in counts.items():
        print(f"{name}: {count} of {1 << 32:,} numbers differ in {', '.join(fused)}")
    return any(counts.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
