"""Observers of ranges, and trained ranges, against calibrators of ONNX Runtime and torch."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.ao.quantization._learnable_fake_quantize import _LearnableFakeQuantize

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
    "MovingAverageMinMaxObserver, batches": (
        q.MovingAverageMinMaxObserver,
        "MovingAverageMinMaxObserver",
    ),
    "HistogramObserver, batches": (q.HistogramObserver, "HistogramObserver"),
    "PowerOfTwoObserver": (q.PowerOfTwoObserver, "MinMaxObserver"),
    "MSEObserver": (q.MSEObserver, "HistogramObserver"),
    "MSEObserver, golden section": (
        partial(q.MSEObserver, "golden_section"),
        "HistogramObserver",
    ),
}
#: The same of observers of 64 channels.
OF_CHANNELS: dict[str, tuple[Callable[..., Any], str]] = {
    "PerChannelMinMaxObserver, batches": (q.PerChannelMinMaxObserver, "PerChannelMinMaxObserver"),
    "MovingAveragePerChannelMinMaxObserver, batches": (
        q.MovingAveragePerChannelMinMaxObserver,
        "MovingAveragePerChannelMinMaxObserver",
    ),
    "PerChannelPowerOfTwoObserver": (q.PerChannelPowerOfTwoObserver, "PerChannelMinMaxObserver"),
}


def ranges(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Four batches are seen, and a range is found; results are ranges, in their own unit."""
    for size in SIZES[1:2] if quick else SIZES:
        x = rng.standard_normal(size).astype(np.float32)
        data = [x * np.float32(each) for each in SCALES]
        mine, others = [[space.from_numpy(each) for each in data] for space in (pyqref, torch)]
        work, moved = float(4 * size), float(16 * size)
        for name, (make, arguments) in THEIRS.items():
            peers = {"onnxruntime": partial(_collected, arguments, data)}
            yield Race(name, f"{size:,}", work, partial(_found, make, mine), peers, np.inf, moved)
        observers = torch.ao.quantization
        for name, (make, peer) in OF_TORCH.items():
            peers = {"torch": partial(_scales, getattr(observers, peer), others)}
            yield Race(name, f"{size:,}", work, partial(_scales, make, mine), peers, np.inf, moved)
        peers = {
            "torch": partial(_scales, observers.MinMaxObserver, others),
            "onnxruntime": partial(_extremes, _session(threads), data),
        }
        ours = partial(_scales, _reset(q.MinMaxObserver()), mine)
        yield Race("MinMaxObserver, batches", f"{size:,}", work, ours, peers, np.inf, moved)
        peers = {"torch": partial(_step_size, others)}
        ours = partial(_scales, _reset(q.LSQObserver()), mine)
        yield Race("LSQObserver", f"{size:,}", work, ours, peers, np.inf, moved)
        yield from _trained(mine, others, work, moved)
        lines, their_lines = [[each.reshape(64, -1) for each in of] for of in (mine, others)]
        for name, (make, peer) in OF_CHANNELS.items():
            peers = {"torch": partial(_scales, getattr(observers, peer), their_lines)}
            ours = partial(_scales, make, lines)
            yield Race(name, f"64 x {size // 64:,}", work, ours, peers, np.inf, moved)


def _trained(mine: list[Any], others: list[Any], work: float, moved: float) -> Iterator[Race]:
    """Four batches forward and backward through a fake quantizer that trains; the scale is set."""
    mine, others = [[each.clone().requires_grad_() for each in of] for of in (mine, others)]
    theirs = _LearnableFakeQuantize(
        torch.ao.quantization.MinMaxObserver,
        quant_min=-128,
        quant_max=127,
        use_grad_scaling=True,
        dtype=torch.qint8,
        qscheme=torch.per_tensor_symmetric,
    )
    ours = q.LSQFakeQuantize(quant_min=-128, quant_max=127)
    ours(mine[0])
    theirs.scale.data.copy_(torch.tensor(ours.scale.tolist()))
    theirs.enable_param_learning()
    theirs.zero_point.requires_grad = False
    pact, level = q.PACTFakeQuantize(alpha=3.0), torch.nn.Parameter(torch.tensor([3.0]))
    rows: dict[str, tuple[Callable[..., Any], Any, Callable[..., Any], Any]] = {
        "LSQFakeQuantize, batches and gradients": (ours, ours.scale, theirs, theirs.scale),
        "PACTFakeQuantize, batches and gradients": (
            pact,
            pact.alpha,
            partial(_clipped, level, torch.zeros(())),
            level,
        ),
    }
    for name, (forward, parameter, peer, their_parameter) in rows.items():
        peers = {"torch": partial(_steps, peer, their_parameter, others)}
        yield Race(
            name,
            f"{mine[0].numel():,}",
            work,
            partial(_steps, forward, parameter, mine),
            peers,
            np.inf,
            moved,
        )


def _clipped(level: Any, zero: Any, x: Any) -> Any:
    """``eq-pact-clip`` and the grid below it, as one writes it with torch."""
    y = torch.clamp(x, zero, level)
    return torch.fake_quantize_per_tensor_affine(y, level.item() / 255, 0, 0, 255)


def _steps(forward: Callable[..., Any], parameter: Any, batches: list[Any]) -> np.ndarray:
    """Return the gradient of the trained number, summed over the batches."""
    parameter.grad = None
    for each in batches:
        each.grad = None
        forward(each).sum().backward()
    return np.array(parameter.grad.tolist())


def _found(make: Callable[[], Any], batches: list[Any]) -> np.ndarray:
    observer = make()
    for each in batches:
        observer(each)
    return np.array([each.item() for each in observer.find_range()])


def _reset(observer: Any) -> Callable[[], Any]:
    """An observer that was made before, where what the others use was made before as well."""

    def as_new() -> Any:
        observer.reset_min_max_vals()
        return observer

    return as_new


def _scales(make: Callable[[], Any], batches: list[Any]) -> np.ndarray:
    observer = make()
    for each in batches:
        observer(each)
    return np.array(observer.calculate_qparams()[0].tolist())


def _step_size(batches: list[Any]) -> np.ndarray:
    """The scale with which a learned step size begins, as one writes it with torch."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for each in batches:
        total += each.abs().sum()
        count += each.numel()
    return np.array([(2 * total / count / 127**0.5).item()])


def _session(threads: int) -> Any:
    """A network with the two nodes that CalibrationMethod.MinMax adds for a tensor."""
    import onnx
    import onnxruntime

    helper = onnx.helper
    names = {"low": "ReduceMin", "high": "ReduceMax"}
    nodes = [helper.make_node(kind, ["x"], [name], keepdims=0) for name, kind in names.items()]
    made = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, []) for name in names]
    given = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n"])
    graph = helper.make_graph(nodes, "extremes", [given], made)
    opsets = [helper.make_opsetid("", 18)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _extremes(session: Any, batches: list[np.ndarray]) -> np.ndarray:
    found = np.array([session.run(None, {"x": each}) for each in batches])
    return np.array([(found[:, 1].max() - min(found[:, 0].min(), 0)) / 255])


def _collected(arguments: tuple[Any, ...], batches: list[np.ndarray]) -> np.ndarray:
    from onnxruntime.quantization.calibrate import HistogramCollector

    method, symmetric, bins, percentile = arguments
    collector = HistogramCollector(method, symmetric, bins, 128, percentile, None)
    with contextlib.redirect_stdout(io.StringIO()):
        for each in batches:
            collector.collect({"x": [each]})
        found = collector.compute_collection_result()["x"]
    return np.array([float(found[0]), float(found[1])])
