"""Memory that is freed is used again and not asked of the system anew, once a kernel is chosen."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

#: Pages that the system cleared while arrays of 1 MiB, and of 6 MiB in all, came and went.
PAGES = """
import resource
import numpy as np
import pyqref

pyqref.kernels.in_use()

def come_and_go():
    arrays = [np.ones(1 << 20, np.uint8) for _ in range(6)]

come_and_go()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    come_and_go()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries do as they do")
def test_arrays_that_come_and_go_stay_in_memory() -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    run = [sys.executable, "-c", PAGES]
    done = subprocess.run(run, env=own, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 6 * 256
