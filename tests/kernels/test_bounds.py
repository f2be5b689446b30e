"""No kernel reads or writes outside of the arrays that it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kernels.compare import behind_a_line

from pyqref import _kernels


@pytest.mark.skipif(sys.platform == "win32", reason="pages are guarded by mprotect")
def test_arrays_beside_forbidden_pages(compiled_kernel: str, tmp_path: Path) -> None:
    """A stray access would end the program with a signal, which ``check`` reports."""
    program = [sys.executable, str(Path(__file__).with_name("guarded.py")), compiled_kernel]
    # The limit is for a program that hangs. Under emulation it takes more than a minute.
    subprocess.run(program, check=True, timeout=1200, cwd=tmp_path)


@pytest.mark.parametrize("size", [1, 5, 16, 33, 257, 2**15 + 1])
def test_bytes_around_the_result_stay(compiled_kernel: str, size: int, n_threads: int) -> None:
    """The result is a part of a larger array; what is around it keeps its value."""
    kernel = _kernels.registry.twin("quantize")
    x = behind_a_line(np.arange(size, dtype=np.float32) % 200, 4)
    around = np.full(size + 128, 77, np.uint8)
    kernel.quantize_per_tensor(x, around[64:-64], 1.0, 3, 0, 255, n_threads)
    assert (around[64:-64] == x + 3).all()
    assert (around[:64] == 77).all()
    assert (around[-64:] == 77).all()
