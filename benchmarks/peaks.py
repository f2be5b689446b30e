"""Measure the processor's peaks in the same run: products and bytes in a second."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from .pinning import PROCESSORS

#: Ten milliseconds or more, beside which it is little to start threads.
ROUNDS = {"vector_products": 8_000_000, "tile_products": 800_000}


class Products:
    """Operations a second of the fastest dot product of bytes, out of registers, on some threads.

    A product and a sum count as two. 0 where there is no C compiler, or none that knows the
    processor.
    """

    def __init__(self, threads: int) -> None:
        self._parts = range(threads)
        self._loop: tuple[Callable[[int], float], int] | None = None
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder, "peak.so")
            source = Path(__file__).with_name("peak.c")
            command = ["cc", "-O2", "-march=native", "-shared", "-fPIC", source, "-o", library]
            try:
                subprocess.run(command, check=True, capture_output=True)
            except (OSError, subprocess.CalledProcessError):
                return
            compiled = ctypes.CDLL(str(library))
        loops = [(getattr(compiled, name), rounds) for name, rounds in ROUNDS.items()]
        for function, _ in loops:
            function.argtypes, function.restype = [ctypes.c_long], ctypes.c_double
        self._loop = max(loops, key=lambda loop: self._rate(*loop))

    def _rate(self, function: Callable[[int], float], rounds: int) -> float:
        start = time.perf_counter()
        done = sum(_on_all(lambda _: function(rounds), self._parts))
        return done / (time.perf_counter() - start)

    def now(self) -> float:
        """Return the rate at this moment: clocks change."""
        return self._rate(*self._loop) if self._loop else 0.0

    def best(self, times: int = 9) -> float:
        """Largest of some moments."""
        return max(self.now() for _ in range(times))


def memory_bandwidth(threads: int) -> float:
    """Bytes read and written in a second by copying 256 MiB, in as many parts as threads."""
    source = np.ones(1 << 28, np.uint8)
    target = np.empty_like(source)
    parts = [*zip(np.array_split(source, threads), np.array_split(target, threads), strict=True)]
    seconds = best(lambda: _on_all(lambda part: np.copyto(part[1], part[0]), parts))
    return 2.0 * source.size / seconds


def best(work: Callable[[], object], times: int = 9) -> float:
    """Smallest of some times."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _on_all(work: Callable[..., object], parts: object) -> list[float]:
    """One thread a part, on a processor of its own; what is measured takes longer than that."""
    every = list(parts)  # type: ignore[call-overload]

    def run(index: int) -> object:
        if 1 < len(every) <= len(PROCESSORS):
            os.sched_setaffinity(0, {PROCESSORS[index]})  # of this thread
        return work(every[index])

    with ThreadPoolExecutor(len(every)) as pool:
        return list(pool.map(run, range(len(every))))  # type: ignore[arg-type]
