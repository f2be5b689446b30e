"""Ctrl-C ends a kernel that takes long, and what it had not finished is never seen."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

import pyqref
from pyqref import kernels

CHILD = """
import os, signal, sys, threading, time
import pyqref

# A shell starts what runs in its background without Python's handler.
signal.signal(signal.SIGINT, signal.default_int_handler)
pyqref.set_num_threads(int(sys.argv[1]))
convolve = pyqref.nn.quantized.functional.conv2d
"""

#: The work of a child, which sends itself a signal after half a second of it.
WORK = """
x = pyqref.quantize_per_tensor(pyqref.ones(2, 64, 64, 64), 0.1, 0, pyqref.quint8)
dense = pyqref.quantize_per_tensor(pyqref.ones(128, 64, 9, 9), 0.1, 0, pyqref.qint8)
many = convolve(x, dense, None, scale=1.0, zero_point=0)
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

#: What takes long, each as an input and a call that lasts some seconds. All that is measured is
#: the time of the processor: how often the machine lets the child work does not matter.
LONG = {
    "depthwise": (
        "(depthwise(2, 64, 1024, 1024), weight(64, 1, 31, 31))",
        "convolve(x, w, None, groups=64, scale=1.0, zero_point=0)",
    ),
    "depthwise dilated": (
        "(depthwise(4, 64, 512, 512), weight(64, 1, 31, 31))",
        "convolve(x, w, None, dilation=3, groups=64, scale=1.0, zero_point=0)",
    ),
    "one long line": (
        "(depthwise(1, 64, 1, 2**20), weight(64, 1, 1, 1025))",
        "convolve(x, w, None, groups=64, scale=1.0, zero_point=0)",
    ),
    "in groups": (
        "(depthwise(1, 128, 512, 512), weight(128, 4, 21, 21))",
        "convolve(x, w, None, groups=32, scale=1.0, zero_point=0)",
    ),
    "real, one image": (
        "(pyqref.ones(1, 64, 512, 512), pyqref.ones(64, 64, 9, 9))",
        "pyqref.conv2d(x, w)",
    ),
    "real, many images": (
        "(pyqref.ones(8, 64, 256, 256), pyqref.ones(64, 64, 9, 9))",
        "pyqref.conv2d(x, w)",
    ),
    "real, in groups": (
        "(pyqref.ones(1, 64, 256, 256), pyqref.ones(64, 4, 9, 9))",
        "pyqref.conv2d(x, w, groups=16)",
    ),
    "real, one long line": (
        "(pyqref.ones(1, 64, 2**17), pyqref.ones(64, 64, 65))",
        "pyqref.conv1d(x, w)",
    ),
    "real, three axes": (
        "(pyqref.ones(1, 16, 32, 96, 96), pyqref.ones(32, 16, 5, 5, 5))",
        "pyqref.conv3d(x, w)",
    ),
    "real, of pixels, into memory that is new": (
        "(pyqref.ones(1, 256, 300, 300), pyqref.ones(2048, 256, 1, 1))",
        "pyqref.conv2d(x, w)",
    ),
    "product": ("(pyqref.ones(6000, 6000), None)", "x @ x"),
    "products": ("(pyqref.ones(48, 1500, 1500), None)", "pyqref.bmm(x, x)"),
    "largest": (
        "(pyqref.ones(1, 2, 4096, 4096), None)",
        "pyqref.nn.functional.max_pool2d(x, 15, 1)",
    ),
}

CALLED = """
def depthwise(*shape):
    x = pyqref.quantize_per_tensor(pyqref.ones(*shape), 0.1, 0, pyqref.quint8)
    return x.contiguous(memory_format=pyqref.channels_last)

def weight(*shape):
    return pyqref.quantize_per_tensor(pyqref.ones(*shape), 0.1, 0, pyqref.qint8)

(x, w), used = INPUT, []

def send():
    clock = time.pthread_getcpuclockid(threading.main_thread().ident)
    begun = time.clock_gettime(clock)
    while time.clock_gettime(clock) < begun + 0.3:
        time.sleep(0.01)
    used.append(time.clock_gettime(clock))
    os.kill(os.getpid(), signal.SIGINT)

try:
    threading.Thread(target=send).start()
    while True:
        CALL
except KeyboardInterrupt:
    print(time.thread_time() - used[0] < 1)
"""


def _run(program: str, n_threads: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(CHILD + program), str(n_threads)],
        # Elsewhere: in a clone the sources would hide the package that is tested.
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PYTHONPATH": str(Path(pyqref.__file__).parents[1])},
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
    assert ["True", "True"] == _run(WORK + INTERRUPTED, n_threads)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_handler_of_the_user(n_threads: int) -> None:
    """A handler that does not raise is called once, after the kernel, whose result is whole."""
    assert ["True [True]"] == _run(WORK + HANDLED, n_threads)


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="there is no such clock")
@pytest.mark.parametrize("name", LONG)
def test_every_long_kind(name: str) -> None:
    """KeyboardInterrupt comes before a second of the processor's time has passed."""
    given, call = LONG[name]
    assert ["True"] == _run(CALLED.replace("INPUT", given).replace("CALL", call), 1)
