"""A real system in a process of its own, told to do without VNNI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

try:
    from .cases import Case, stored
except ImportError:  # imported by a program beside it
    from cases import Case, stored  # type: ignore[import-not-found,no-redef]

#: What makes torch take the kernels of a processor without VNNI.
WITHOUT_VNNI = {"ONEDNN_MAX_CPU_ISA": "AVX2", "FBGEMM_ENABLE_INSTRUCTIONS": "AVX2"}


def results_of(
    system: str, cases: list[Case], folder: Path, python: str = sys.executable
) -> dict[int, np.ndarray]:
    """Return, by number of the case, the results of the system for the cases that it takes."""
    source, target = folder / "cases.npz", folder / "results.npz"
    np.savez(source, **stored(cases))
    program = Path(__file__).parent / "systems.py"
    command = [python, str(program), system, str(source), str(target)]
    environment = os.environ | WITHOUT_VNNI
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=300)
    with np.load(target) as arrays:
        return {int(name): arrays[name] for name in arrays.files}
