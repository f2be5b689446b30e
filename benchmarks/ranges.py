"""Observers that find better ranges, against calibrators of ONNX Runtime and observers of torch."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch

import pyqref
from pyqref import quantization as q

from .race import Race

SIZES = [1 << n for n in (14, 18, 22)]
#: Batches of one race, the second of which is the widest.
SCALES = (1.0, 2.0, 0.5, 1.0)

#: Of each observer the calibrator of ONNX Runtime with its arguments: method, symmetric, bins,
#: percentile.
THEIRS: dict[str, tuple[Callable[..., Any], tuple[str, bool, int, float | None]]] = {
    "EntropyObserver, as onnxruntime": (
        partial(q.EntropyObserver, bins=128, definition="onnxruntime"),
        ("entropy", False, 128, None),
    ),
    "EntropyObserver": (
        partial(q.EntropyObserver, bins=1024, smoothing=1e-4),
        ("entropy", False, 1024, None),
    ),
    "PercentileObserver, as onnxruntime": (
        partial(q.PercentileObserver, bins=2048, symmetric=True, definition="onnxruntime"),
        ("percentile", True, 2048, 99.999),
    ),
    "PercentileObserver": (
        partial(q.PercentileObserver, bins=2048, symmetric=False),
        ("percentile", False, 2048, 99.999),
    ),
}
#: Of each observer the one of torch that does the most similar work.
OF_TORCH: dict[str, tuple[Callable[..., Any], str]] = {
    "PowerOfTwoObserver": (q.PowerOfTwoObserver, "MinMaxObserver"),
    "MSEObserver": (q.MSEObserver, "HistogramObserver"),
    "MSEObserver, golden section": (
        partial(q.MSEObserver, "golden_section"),
        "HistogramObserver",
    ),
}


def ranges(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Four batches are seen, and a range is found; results are ranges, in their own unit."""
    del threads
    for size in SIZES[1:2] if quick else SIZES:
        x = rng.standard_normal(size).astype(np.float32)
        data = [x * np.float32(each) for each in SCALES]
        mine, others = [[space.from_numpy(each) for each in data] for space in (pyqref, torch)]
        work, moved = float(4 * size), float(16 * size)
        for name, (make, arguments) in THEIRS.items():
            peers = {"onnxruntime": partial(_collected, arguments, data)}
            yield Race(name, f"{size:,}", work, partial(_found, make, mine), peers, np.inf, moved)
        for name, (make, peer) in OF_TORCH.items():
            theirs = getattr(torch.ao.quantization, peer)
            peers = {"torch": partial(_scales, theirs, others)}
            yield Race(name, f"{size:,}", work, partial(_scales, make, mine), peers, np.inf, moved)


def _found(make: Callable[[], Any], batches: list[Any]) -> np.ndarray:
    observer = make()
    for each in batches:
        observer(each)
    return np.array([each.item() for each in observer.find_range()])


def _scales(make: Callable[[], Any], batches: list[Any]) -> np.ndarray:
    observer = make()
    for each in batches:
        observer(each)
    return np.array([observer.calculate_qparams()[0].item()])


def _collected(arguments: tuple[Any, ...], batches: list[np.ndarray]) -> np.ndarray:
    from onnxruntime.quantization.calibrate import HistogramCollector

    method, symmetric, bins, percentile = arguments
    collector = HistogramCollector(method, symmetric, bins, 128, percentile, None)
    with contextlib.redirect_stdout(io.StringIO()):
        for each in batches:
            collector.collect({"x": [each]})
        found = collector.compute_collection_result()["x"]
    return np.array([float(found[0]), float(found[1])])
