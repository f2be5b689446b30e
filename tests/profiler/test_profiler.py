"""Profilers measure: which operations ran, how often, inside which, and for how long."""

from __future__ import annotations

import json
import sys
import threading
import time
from typing import Any

import pytest

import pyqref
from pyqref import nn, profiler
from pyqref import quantization as q
from pyqref.autograd import profiler as old


def sums(events: Any) -> dict[str, Any]:
    return {each.key: each for each in events.key_averages()}


def test_operations_of_a_training_step() -> None:
    """Forward, backward, quantized and dynamic operations, as often as they ran."""
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2))
    x = pyqref.randn(2, 3, 4, 4)
    with profiler.profile() as prof:
        for _ in range(3):
            model(x).sum().backward()
    found = sums(prof)
    for name in ("aten::conv2d", "aten::relu", "aten::linear", "aten::sum", "LinearBackward"):
        assert 3 == found[name].count, name
    assert 3 == found["ConvolutionBackward"].count
    model = q.QuantWrapper(nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(16, 2)))
    model.eval().qconfig = q.default_qconfig
    model = q.prepare(model)
    model(x)
    model = q.convert(model)
    with old.profile() as measured:
        model(x)
        q.quantize_dynamic(nn.Sequential(nn.Linear(4, 4)).eval())(x)
        nn.LSTM(4, 4)(x[0])
        x.add_(1)
        _ = x[0] + 1
    keys = set(sums(measured))
    assert {"quantized::conv2d", "quantized::linear", "quantized::linear_dynamic"} <= keys
    assert {"aten::quantize_per_tensor", "aten::dequantize", "aten::lstm", "aten::add"} <= keys
    assert not {name for name in keys if "__getattr__" in name or name == "aten::size"}


def test_times() -> None:
    """Total of a span is its wall time; own times add up to it; each counts once."""
    with profiler.profile() as prof:
        before = time.perf_counter()
        with profiler.record_function("outer"):
            with profiler.record_function("inner"):
                time.sleep(0.02)
            y = pyqref.randn(50, 50) @ pyqref.randn(50, 50)
        wall = (time.perf_counter() - before) * 1e6
    assert y.shape == (50, 50)
    found = sums(prof)
    outer, inner = found["outer"], found["inner"]
    assert 20_000 <= inner.cpu_time_total <= outer.cpu_time_total <= wall
    assert inner.self_cpu_time_total == inner.cpu_time_total
    inside = sum(each.self_cpu_time_total for each in prof.events())
    assert outer.cpu_time_total == pytest.approx(inside)
    assert prof.key_averages().self_cpu_time_total == pytest.approx(inside)
    (event,) = [each for each in prof.events() if each.name == "inner"]
    assert "outer" == event.cpu_parent.name
    assert event in event.cpu_parent.cpu_children


def test_errors_close_what_they_leave() -> None:
    """An operation that raises is measured; what runs afterwards is not inside it."""
    with profiler.profile() as prof:
        with pytest.raises(RuntimeError), profiler.record_function("fails"):
            _ = pyqref.ones(2) + pyqref.ones(3)
        pyqref.ones(2).exp()
    (event,) = [each for each in prof.events() if each.name == "aten::exp"]
    assert event.cpu_parent is None


def test_it_costs_nothing_when_off() -> None:
    """Outside of a profiler the interpreter calls nobody; a span is two attribute look-ups."""
    before = sys.getprofile()
    with profiler.profile():
        assert sys.getprofile() is not before
        with pytest.raises(RuntimeError, match="another profiler is running"), old.profile():
            pass
    assert sys.getprofile() is before
    with profiler.record_function("nobody listens"):
        pass
    with old.profile(enabled=False) as measured:
        pyqref.ones(1).exp()
    with pytest.raises(RuntimeError, match="didn't finish"):
        measured.key_averages()


def test_shapes_group() -> None:
    """With ``record_shapes`` calls of other shapes are other lines."""
    with profiler.profile(record_shapes=True) as prof:
        pyqref.ones(2, 3) @ pyqref.ones(3, 4)
        pyqref.ones(5, 3) @ pyqref.ones(3, 4)
        pyqref.ones(5, 3) @ pyqref.ones(3, 4)
    grouped = prof.key_averages(group_by_input_shape=True)
    found = {str(e.input_shapes): e.count for e in grouped if e.key == "aten::matmul"}
    assert {"[[2, 3], [3, 4]]": 1, "[[5, 3], [3, 4]]": 2} == found
    assert "Input Shapes" in grouped.table()


def test_tables() -> None:
    """Sorted, as many lines as asked for, with a total; columns of a GPU are 0."""
    with profiler.profile() as prof:
        for _ in range(3):
            pyqref.ones(3).exp()
        pyqref.ones(300, 300) @ pyqref.ones(300, 300)
    averages = prof.key_averages()
    for key in ("cpu_time_total", "self_cpu_time_total", "count", "cpu_time"):
        lines = averages.table(sort_by=key, row_limit=2).splitlines()
        assert 7 == len(lines)
        best = max(averages, key=lambda each: getattr(each, key))
        assert lines[3].split()[0] == best.key
    assert averages.table(sort_by="cuda_time_total").splitlines()[-1].startswith("Self CPU time")
    with pytest.raises(AttributeError, match="sort_by must be one of"):
        averages.table(sort_by="colour")
    assert str(averages.total_average().count) == str(sum(each.count for each in averages))


def test_schedules_and_traces(tmp_path: Any) -> None:
    """Measured are the active steps of each cycle; a trace is what viewers read."""
    seen: list[int] = []

    def ready(prof: Any) -> None:
        seen.append(sum(each.name == "aten::exp" for each in prof.events()))
        prof.export_chrome_trace(tmp_path / f"{len(seen)}.json")

    plan = profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
    with profiler.profile(schedule=plan, on_trace_ready=ready) as prof:
        for _ in range(10):
            pyqref.ones(1).exp()
            prof.step()
    assert [2, 2] == seen
    trace = json.loads((tmp_path / "1.json").read_text(encoding="utf-8"))["traceEvents"]
    names = [each["name"] for each in trace]
    assert ["ProfilerStep#2", "ProfilerStep#3"] == [n for n in names if n.startswith("Profiler")]
    assert all(each["dur"] >= 0 and each["ph"] == "X" for each in trace)


def test_threads_have_their_own_spans() -> None:
    """A thread that starts inside is measured, and nests by itself."""
    with profiler.profile() as prof, profiler.record_function("main"):
        thread = threading.Thread(target=lambda: pyqref.ones(2).exp())
        thread.start()
        thread.join()
    (event,) = [each for each in prof.events() if each.name == "aten::exp"]
    assert event.cpu_parent is None


def test_what_is_not_measured_is_said() -> None:
    """Options without effect warn by name."""
    for option in ("profile_memory", "with_stack", "with_flops", "with_modules"):
        with pytest.warns(q.NoEffectWarning, match=f"{option} has no effect"):
            profiler.profile(**{option: True})
        with pytest.warns(q.NoEffectWarning, match=f"{option} has no effect"):
            old.profile(**{option: True})
    both = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
    with pytest.warns(q.NoEffectWarning, match="activity CUDA has no effect"):
        profiler.profile(activities=both)
    with pytest.warns(q.NoEffectWarning, match="use_cuda has no effect"):
        old.profile(use_cuda=True)
