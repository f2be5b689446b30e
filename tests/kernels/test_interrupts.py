"""Ctrl-C ends a kernel that takes long, and what it had not finished is never seen."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap

import pytest

from pyqref import kernels

#: The work of a child, which sends itself a signal after half a second of it.
CHILD = """
import os, signal, sys, threading, time
import pyqref

pyqref.set_num_threads(int(sys.argv[1]))
x = pyqref.quantize_per_tensor(pyqref.ones(2, 64, 64, 64), 0.1, 0, pyqref.quint8)
dense = pyqref.quantize_per_tensor(pyqref.ones(128, 64, 9, 9), 0.1, 0, pyqref.qint8)
many = pyqref.nn.quantized.functional.conv2d(x, dense, None, scale=1.0, zero_point=0)
convolve = pyqref.nn.quantized.functional.conv2d
batch = pyqref.cat([x] * 20)
sent = 0.0

def send():
    global sent
    time.sleep(0.5)
    sent = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def work():
    return convolve(batch, dense, None, scale=1.0, zero_point=0)
"""

INTERRUPTED = """
threading.Thread(target=send).start()
try:
    while True:
        work()
except KeyboardInterrupt:
    print(time.monotonic() - sent < 1)
same = convolve(x, dense, None, scale=1.0, zero_point=0)
print(bool((same.int_repr() == many.int_repr()).all()))
"""

HANDLED = """
calls = []

def handler(number, frame):
    part = convolve(x, dense, None, scale=1.0, zero_point=0)
    calls.append(bool((part.int_repr() == many.int_repr()).all()))

signal.signal(signal.SIGINT, handler)
thread = threading.Thread(target=send)
thread.start()
done = work()
thread.join()
print(bool((done[-2:].int_repr() == many.int_repr()).all()), calls)
"""


def _run(program: str, n_threads: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD + program), str(n_threads)],
        # Elsewhere: in a clone the sources would hide the package that is tested.
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "" == done.stderr
    return done.stdout.split("\n")[:-1]


pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="a process cannot send itself Ctrl-C"),
    pytest.mark.skipif(kernels.in_use() == "reference", reason="NumPy cannot be interrupted"),
]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupted_kernel(n_threads: int) -> None:
    """KeyboardInterrupt comes within a second, and the next call gives what it gave before."""
    assert ["True", "True"] == _run(INTERRUPTED, n_threads)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_handler_of_the_user(n_threads: int) -> None:
    """A handler that does not raise is called once, after the kernel, whose result is whole."""
    assert ["True [True]"] == _run(HANDLED, n_threads)
