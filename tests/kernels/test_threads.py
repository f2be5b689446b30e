"""The number of threads, and kernels that run from many threads and after a fork."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref._insides import openmp_waiting
from pyqref._kernels import threads
from pyqref.numerics.requantize import requantization


def test_number_of_threads_is_what_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_openmp", True)
    before = _kernels.get_num_threads()
    _kernels.set_num_threads(3)
    assert _kernels.get_num_threads() == 3
    _kernels.set_num_threads(before)


@pytest.mark.skipif(not threads.has_openmp(), reason="built without OpenMP")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_work_is_called_by_each_thread(n_threads: int) -> None:
    """One that returns early may do the call of one that is late; all have returned at the end."""
    calls: list[int] = []
    _kernels.together(lambda: calls.append(1), n_threads)
    assert len(calls) == n_threads


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_work_raises_is_raised(n_threads: int) -> None:
    def work() -> None:
        raise KeyError("work")

    with pytest.raises(KeyError, match="work"):
        _kernels.together(work, n_threads)
    calls: list[int] = []
    _kernels.together(lambda: calls.append(1), 1)
    assert [1] == calls


@pytest.mark.parametrize("n_threads", [0, -1, 1025])
def test_number_of_threads_out_of_range(n_threads: int) -> None:
    with pytest.raises(ValueError, match=rf"n_threads must be in \[1, 1024\], got {n_threads}"):
        _kernels.set_num_threads(n_threads)


@pytest.mark.parametrize("n_threads", [1.0, "2", None, True])
def test_number_of_threads_of_another_type(n_threads: object) -> None:
    with pytest.raises(TypeError, match="n_threads must be an int"):
        _kernels.set_num_threads(n_threads)  # type: ignore[arg-type]


def test_without_openmp_more_threads_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_openmp", False)
    monkeypatch.setattr(threads, "limit", 1)
    with pytest.warns(RuntimeWarning, match="one thread is used because pyqref was built without"):
        _kernels.set_num_threads(2)
    assert _kernels.get_num_threads() == 1


def test_kernels_run_from_several_python_threads_at_once(compiled_kernel: str) -> None:
    """Each call has its own scratch: nothing is shared but the packed weights."""
    rng = np.random.default_rng(0)
    packed = _kernels.pack_linear(rng.integers(-128, 128, (100, 301)).astype(np.int8))
    requant = requantization("fbgemm", 0.02, 0.01, 1.5, 3)
    inputs = [rng.integers(0, 256, (120, 301)).astype(np.uint8) for _ in range(8)]

    def run(x: np.ndarray) -> np.ndarray:
        return _kernels.linear(x, 7, packed, 0, requant)

    expected = [run(x) for x in inputs]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for one, other in zip(expected, pool.map(run, inputs), strict=True):
                assert_same_bits(one, other)


def test_threads_that_wait_awake_change_no_bit(
    compiled_kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Soon after a loop, another one is worth threads for less work."""
    parallel = pytest.importorskip("pyqref._kernels._parallel")
    monkeypatch.setattr(threads, "limit", 3)
    large, small = (np.linspace(-3, 3, n, dtype=np.float32) for n in (2_000_003, 150_001))
    parallel.expect_waiting(60.0)
    try:
        _kernels.quantize_per_tensor(large, 0.02, 3, 0, 255, np.uint8)
        several = _kernels.quantize_per_tensor(small, 0.02, 3, 0, 255, np.uint8)
    finally:
        parallel.expect_waiting(0.0)
        _kernels.quantize_per_tensor(large, 0.02, 3, 0, 255, np.uint8)
        parallel.expect_waiting(openmp_waiting.awake())
    monkeypatch.setattr(threads, "limit", 1)
    assert_same_bits(_kernels.quantize_per_tensor(small, 0.02, 3, 0, 255, np.uint8), several)


def test_threads_woken_by_small_loops_in_a_row_change_no_bit(
    compiled_kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loops that are too small to wake threads wake them once there have been some."""
    parallel = pytest.importorskip("pyqref._kernels._parallel")
    large, small = (np.linspace(-3, 3, n, dtype=np.float32) for n in (2_000_003, 150_001))
    monkeypatch.setattr(threads, "limit", 1)
    expected = _kernels.quantize_per_tensor(small, 0.02, 3, 0, 255, np.uint8)
    monkeypatch.setattr(threads, "limit", 3)
    parallel.expect_waiting(60.0)
    try:
        for _ in range(8):
            result = _kernels.quantize_per_tensor(small, 0.02, 3, 0, 255, np.uint8)
            assert_same_bits(expected, result)
    finally:
        parallel.expect_waiting(0.0)
        _kernels.quantize_per_tensor(large, 0.02, 3, 0, 255, np.uint8)
        parallel.expect_waiting(openmp_waiting.awake())


FORK = """
import os, sys, warnings
import numpy as np
from pyqref import _kernels

_kernels.set_num_threads(4)
x = np.linspace(-3, 3, 1_000_003, dtype=np.float32)
expected = _kernels.quantize_per_tensor(x, 0.02, 3, 0, 255, np.uint8)  # starts the threads
child = os.fork()
if child == 0:
    same = (_kernels.quantize_per_tensor(x, 0.02, 3, 0, 255, np.uint8) == expected).all()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _kernels.set_num_threads(2)
    os._exit(0 if same and caught and _kernels.get_num_threads() == 1 else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_forked_child_runs_kernels_on_one_thread(tmp_path: Path) -> None:
    """GNU's OpenMP would wait for ever in the child; a hang is a failure after a minute."""
    program = [sys.executable, "-W", "ignore", "-c", FORK]
    subprocess.run(program, check=True, timeout=600, cwd=tmp_path)


@pytest.mark.parametrize(
    ("user", "spin_count"),
    [
        ({}, openmp_waiting.SPIN_COUNT),
        ({"GOMP_SPINCOUNT": "77"}, "77"),
        ({"OMP_WAIT_POLICY": "passive"}, "0"),
    ],
)
def test_threads_wait_awake_for_a_short_time_unless_told_otherwise(
    user: dict[str, str], spin_count: str, tmp_path: Path
) -> None:
    """GNU's OpenMP reports the setting that it has read; builds without it report nothing."""
    program = "import os, pyqref; print([name for name in os.environ if 'SPIN' in name])"
    others = {
        name: value for name, value in os.environ.items() if name not in openmp_waiting.WAITING
    }
    result = subprocess.run(
        [sys.executable, "-c", program],
        env={**others, "OMP_DISPLAY_ENV": "verbose", **user},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {spin_count} >= set(re.findall(r"GOMP_SPINCOUNT = '(\d+)'", result.stderr))
    assert f"{[name for name in user if 'SPIN' in name]}\n" == result.stdout


@pytest.mark.skipif(not threads.has_openmp(), reason="built without OpenMP")
@pytest.mark.parametrize(("asked", "given"), [("2", 2), ("5000", threads.MOST_THREADS)])
def test_environment_is_bounded_as_set_num_threads_is(
    asked: str, given: int, tmp_path: Path
) -> None:
    program = "import pyqref; print(pyqref.get_num_threads())"
    environment = {**os.environ, "OMP_NUM_THREADS": asked}
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert f"{given}\n" == result.stdout


def test_threadpoolctl_limits_the_kernels() -> None:
    """``threadpool_limits`` lowers the number that ``set_num_threads`` set, and never raises it."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    before = threads.get_num_threads()
    threads.set_num_threads(3)
    try:
        if not threads.has_openmp():
            assert threads.get_num_threads() == 1
            return
        assert threads.get_num_threads() == 3
        for limit, given in ((1, 1), (2, 2), (5000, 3)):
            with threadpoolctl.threadpool_limits(limit):
                assert threads.get_num_threads() == given
        with threadpoolctl.threadpool_limits(1):
            threads.set_num_threads(3)
            assert threads.get_num_threads() == 3
        assert threads.get_num_threads() == 3
    finally:
        threads.set_num_threads(before)
