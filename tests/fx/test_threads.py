"""Traces in several threads, within one another, and ended by errors leave nothing behind."""

from __future__ import annotations

import gc
import math
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import pyqref
import pyqref.nn.functional as F
from pyqref import fx, nn
from pyqref.quantization import get_default_qconfig_mapping
from pyqref.quantization.quantize_fx import prepare_fx

fx.wrap("len")

CALL, GETATTR = vars(nn.Module).get("__call__"), vars(nn.Module).get("__getattr__")
CODES = {function: function.__code__ for function in (F.relu, F.linear, pyqref.cat)}
SQRT = math.sqrt
NODES = [
    "x", "layer", "relu", "size", "sqrt", "mul", "weight", "linear", "sigmoid", "cat", "len_1",
    "add", "output",
]  # fmt: skip


class Block(nn.Module):
    """Calls functions, methods, operators, modules, ``math`` and a wrapped builtin."""

    def __init__(self, begin: Callable[[], Any] = lambda: None) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.weight = nn.Parameter(pyqref.ones(4, 4))
        self.begin = begin

    def forward(self, x: Any) -> Any:
        self.begin()
        y = F.relu(self.layer(x)) * math.sqrt(x.size(0))
        return pyqref.cat([F.linear(y, self.weight), y.sigmoid()], 1) + len(x)


def names(module: Any) -> list[str]:
    return [node.name for node in fx.symbolic_trace(module).graph.nodes]


def assert_nothing_is_left() -> None:
    """Classes, functions and globals are what they were."""
    gc.collect()
    assert CALL is vars(nn.Module).get("__call__")
    assert GETATTR is vars(nn.Module).get("__getattr__")
    assert all(function.__code__ is code for function, code in CODES.items())
    assert math.sqrt is SQRT
    assert "len" not in globals()


@pytest.fixture(autouse=True)
def _often() -> Iterator[None]:
    """Threads take turns after a microsecond; afterwards all is as it was."""
    assert_nothing_is_left()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)
    assert_nothing_is_left()


@pytest.mark.parametrize("first_fails", [False, True])
def test_the_first_of_two_traces_ends_first(first_fails: bool) -> None:
    """The other still records everything, and takes back what both had changed."""
    first_runs, second_runs, first_ended = (threading.Event() for _ in range(3))

    def begin_first() -> None:
        first_runs.set()
        assert second_runs.wait(10)
        if first_fails:
            raise ValueError("in the middle of a trace")

    def begin_second() -> None:
        second_runs.set()
        assert first_ended.wait(10)

    def first() -> Any:
        try:
            return names(Block(begin_first))
        except ValueError as error:
            return str(error)
        finally:
            first_ended.set()

    def second() -> Any:
        assert first_runs.wait(10)
        return names(Block(begin_second))

    with ThreadPoolExecutor(2) as threads:
        found = [each.result() for each in [threads.submit(first), threads.submit(second)]]
    assert ["in the middle of a trace" if first_fails else NODES, NODES] == found


def test_many_threads_trace_and_compute() -> None:
    """Every trace records all of its own calls and no other's; every result is right."""
    model, x = Block(), pyqref.ones(2, 4)
    expected = model(x).tolist()

    def compute(_: int) -> Any:
        return model(x).tolist()

    def trace(_: int) -> Any:
        return names(Block())

    with ThreadPoolExecutor(6) as threads:
        traces = [threads.submit(trace, index) for index in range(40)]
        values = [threads.submit(compute, index) for index in range(80)]
        assert all(each.result() == NODES for each in traces)
        assert all(each.result() == expected for each in values)


def test_models_are_prepared_in_many_threads() -> None:
    """One and the same model may be among them; its ``FloatFunctional`` is traced through."""

    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.sum = nn.Linear(4, 4), nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.sum.add(self.layer(x), x)

    model, mapping = Sum().eval(), get_default_qconfig_mapping("fbgemm")

    def prepared(_: int) -> str:
        return prepare_fx(model, mapping, (pyqref.ones(1, 4),)).code

    with ThreadPoolExecutor(4) as threads:
        assert 1 == len(set(threads.map(prepared, range(12))))
    assert type(model.sum) is nn.quantized.FloatFunctional


def test_a_trace_within_a_trace() -> None:
    """The inner model is a graph of its own, and the outer one goes on recording."""
    inner = []

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            y = self.layer(x)
            inner.append(names(Block()))
            return self.layer(y) * math.sqrt(x.size(0))

    assert ["x", "layer", "layer_1", "size", "sqrt", "mul", "output"] == names(Outer())
    assert [NODES] == inner


def test_an_error_in_a_trace_within_a_trace() -> None:
    """It ends the inner one only."""

    def fail() -> None:
        raise ValueError("inner")

    class Outer(nn.Module):
        def forward(self, x: Any) -> Any:
            with pytest.raises(ValueError, match="inner"):
                fx.symbolic_trace(Block(fail))
            return F.relu(x) * math.sqrt(x.size(0))

    assert ["x", "relu", "size", "sqrt", "mul", "output"] == names(Outer())


def test_a_stand_in_dies_in_another_thread() -> None:
    """The functions get their code back wherever the last one is let go of."""
    kept = [fx.Proxy(fx.Graph().placeholder("x"))]
    assert F.relu.__code__ is not CODES[F.relu]
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    assert F.relu.__code__ is CODES[F.relu]


def test_a_function_that_is_running_when_a_trace_begins() -> None:
    """It runs on with its own code, and what it calls computes."""
    running, traced = threading.Event(), threading.Event()

    class Slow(nn.Module):
        def forward(self, x: Any) -> Any:
            y = F.relu(x)
            running.set()
            assert traced.wait(10)
            return F.relu(y) + math.sqrt(4.0)

    with ThreadPoolExecutor(1) as threads:
        result = threads.submit(Slow(), pyqref.tensor([-1.0, 1.0]))
        assert running.wait(10)
        proxy = fx.Proxy(fx.Graph().placeholder("x"))
        assert NODES == names(Block())
        traced.set()
        assert [2.0, 3.0] == result.result().tolist()
        del proxy
