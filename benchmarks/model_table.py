"""The table of whole models: ``python -m benchmarks --models``.

Each network of :mod:`.zoo` runs in integers and in real numbers, in pyqref and in torch, by turns.
With one thread the processor time of that thread counts, and not what others do on the machine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

import pyqref

from . import zoo
from .memory import peak_of
from .models import same_weights
from .race import places, settle
from .recipes import observed, quantized, training_step

__all__ = ["measure", "show"]

STATIC, DYNAMIC = ("x86", "fbgemm", "onednn"), ("fbgemm", "onednn")
#: Networks that are calibrated, those that are trained with the side of their images, and those
#: whose memory is looked at.
CALIBRATED, MEMORY = ("ResNet-50", "MiniLM"), ("MiniLM", "ResNet-50")
TRAINED = {"ResNet-18": 224, "MobileNetV2": 96, "MiniLM": 0}
#: Side of the images where the whole benchmark is to be quick.
QUICK_SIDE = 96
#: Seconds of a turn.
BURST = 0.03
Race = dict[str, Any]
Works = dict[str, Callable[[], Any]]


def in_turns(works: Works, seconds: float, threads: int) -> dict[str, float]:
    """Median seconds of each, in turns for about so many seconds; of three turns at the least."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    names = list(works)
    times: dict[str, list[float]] = {name: [] for name in names}
    start, turn = time.perf_counter(), 0
    while turn < 3 or time.perf_counter() - start < seconds:
        for place in places(len(names), turn):
            settle()
            times[names[place]].append(_seconds_of(works[names[place]], clock))
        turn += 1
    return {name: float(np.median(each)) for name, each in times.items()}


def _seconds_of(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    """Return the time of a run in the middle of others; a long one is its own warm-up."""
    seconds: list[float] = []
    while not seconds or sum(seconds) < BURST:
        before = clock()
        work()
        seconds.append(clock() - before)
    return float(np.median(seconds))


def race_of(kind: str, shape: str, times: dict[str, float], ours: str, peers: list[str]) -> Race:
    """A line of the file: our time, those of the others, and the best of these over ours."""
    others = {name: times[name] for name in peers}
    best = min(others.values())
    return {
        "kind": kind,
        "shape": shape,
        "pyqref": times[ours],
        "best": best,
        "peers": others,
        "ratio": best / times[ours],
    }


def _without_gradients(space: Any, model: Any, inputs: tuple[Any, ...]) -> Callable[[], Any]:
    def work() -> Any:
        with space.no_grad():
            return model(*inputs)

    return work


def _tensors(space: Any, arrays: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
    return tuple(space.from_numpy(each) for each in arrays)


def inference(name: str, quick: bool, threads: int) -> Iterator[Race]:
    """Integers and real numbers; the best of torch's engines counts."""
    side, dynamic = QUICK_SIDE * quick, zoo.NETWORKS[name].dynamic
    models = dict(zip((pyqref, torch), same_weights(lambda s: zoo.build(s, name)), strict=True))
    small = {space: _tensors(space, zoo.batch_of(name, 1, side=side)) for space in models}
    engines = DYNAMIC if dynamic else STATIC[:1] if quick else STATIC
    integers = {}
    for engine in engines:
        # fbgemm of torch, for one, has no transposed convolution with a scale for each channel.
        with contextlib.suppress(RuntimeError):
            model = quantized(torch, models[torch], small[torch], dynamic, engine)
            integers[f"torch {engine}"] = torch, model
    ours = quantized(pyqref, models[pyqref], small[pyqref], dynamic, "fbgemm")
    runners = {"pyqref": (pyqref, ours), **integers}
    runners |= {"pyqref float": (pyqref, models[pyqref]), "torch float": (torch, models[torch])}
    for batch in (1,) if quick else (1, 8):
        arrays = zoo.batch_of(name, batch, side=side)
        works = {
            each: _without_gradients(space, model, _tensors(space, arrays))
            for each, (space, model) in runners.items()
        }
        times = in_turns(works, 0.5 if quick else 4.0, threads)
        shape = f"{name}, batch {batch}"
        int8 = race_of("int8 model", shape, times, "pyqref", list(integers))
        yield {**int8, "own float": times["pyqref float"] / times["pyqref"]}
        yield race_of("float model", shape, times, "pyqref float", ["torch float"])


def _both(kind: str, shape: str, make: Any, name: str, side: int, threads: int) -> Race:
    """A race of what ``make(space, model, inputs)`` gives."""
    arrays = zoo.batch_of(name, 1 if kind == "calibration" else 8, side=side)
    mine, theirs = same_weights(lambda space: zoo.build(space, name))
    works = {
        space.__name__: make(space, model, _tensors(space, arrays))
        for space, model in ((pyqref, mine), (torch, theirs))
    }
    times = in_turns(works, 4.0, threads)
    return race_of(kind, shape, times, "pyqref", ["torch"])


def calibration(name: str, threads: int) -> Iterator[Race]:
    """A pass of one input through the observers of ranges, and through those of histograms."""
    for histogram in (False, True):

        def make(space: Any, model: Any, inputs: Any, histogram: bool = histogram) -> Any:
            prepared = observed(space, model, inputs, histogram)
            return _without_gradients(space, prepared, inputs)

        observer = "HistogramObserver" if histogram else "MinMaxObserver"
        yield _both("calibration", f"{name}, {observer}", make, name, 0, threads)


def training(name: str, threads: int) -> Iterator[Race]:
    """A step of quantization-aware training, of eight inputs."""
    yield _both("QAT step", f"{name}, batch 8", training_step, name, TRAINED[name], threads)


def memory(name: str, threads: int) -> Iterator[Race]:
    """Peaks in bytes, not seconds."""
    for kind in ("float", "int8"):
        peaks = {space: peak_of(space, name, kind, threads) for space in ("pyqref", "torch")}
        yield race_of(f"peak memory, {kind}", name, peaks, "pyqref", ["torch"])


def measure(names: list[str], quick: bool, threads: int, console: Console) -> list[Race]:
    """All races of these networks, each printed when it is done."""
    found: list[Race] = []
    for name in names:
        kinds = [inference(name, quick, threads)]
        if not quick:
            kinds += [calibration(name, threads)] if name in CALIBRATED else []
            kinds += [training(name, threads)] if name in TRAINED else []
            kinds += [memory(name, threads)] if name in MEMORY else []
        for kind in kinds:
            for race in kind:
                found.append(race)
                unit = "MB" if "memory" in race["kind"] else "ms"
                size = race["pyqref"] / 1e6 if unit == "MB" else race["pyqref"] * 1e3
                line = f"{race['kind']:<20} {race['shape']:<34} {size:10.2f} {unit}"
                own = f"  own float {race['own float']:.2f}" if "own float" in race else ""
                console.print(f"{line}  ratio {race['ratio']:.2f}{own}", highlight=False)
    return found


def show(races: list[Race], console: Console) -> None:
    """A line for each network, then the mean of each column."""
    columns: dict[str, dict[str, float]] = {}
    for race in races:
        name, _, batch = race["shape"].partition(", batch ")
        for kind, of in (("int8 model", "int8"), ("float model", "float")):
            if race["kind"] == kind:
                columns.setdefault(f"{of}, {batch}", {})[name] = race["ratio"]
        if "own float" in race:
            columns.setdefault(f"own float, {batch}", {})[name] = race["own float"]
    columns = {each: columns[each] for each in sorted(columns, key=lambda c: c.split(",")[::-1])}
    table = Table(title="times faster than torch, batches of 1 and 8; int8 over its own float")
    for each in ("network", *columns):
        table.add_column(each, justify="left" if each == "network" else "right")
    for name in dict.fromkeys(race["shape"].partition(", batch ")[0] for race in races):
        if any(name in column for column in columns.values()):
            row = [f"{each[name]:.2f}" if name in each else "" for each in columns.values()]
            table.add_row(name, *row)
    means = [np.exp(np.mean(np.log(list(each.values())))) for each in columns.values()]
    table.add_row("geometric mean", *(f"{mean:.2f}" for mean in means))
    console.print(table)
