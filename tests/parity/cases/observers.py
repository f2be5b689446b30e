"""Observers: ranges, histograms and parameters, batch after batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import joined, parity_case


def batches(seed: int, shape: tuple[int, ...] = (3, 4, 5)) -> list[Any]:
    """Batches whose ranges grow, shrink, repeat and stay on one side of zero."""
    rng = np.random.default_rng(seed)
    scales = (1.0, 2.0, 0.5, 10.0, 10.0, 1e-3)
    made = [(rng.standard_normal(shape) * scale).astype(np.float32) for scale in scales]
    return [*made, np.abs(made[0]) + np.float32(3)]


def watch(torch: Any, make: Any, data: list[Any]) -> dict[str, Any]:
    """Record an observer's range after each batch, and its parameters at the end."""
    observer = make()
    seen: dict[str, list[Any]] = {}
    for batch in data:
        observer(torch.from_numpy(batch))
        for name in ("min_val", "max_val", "histogram"):
            value = getattr(observer, name, None)
            if value is not None and value.numel() <= 64:
                seen.setdefault(name, []).append(value.numpy().ravel().copy())
    scale, zero_point = observer.calculate_qparams()
    return {
        **{name: np.concatenate(values) for name, values in seen.items()},
        "scale": scale.numpy(),
        "zero_point": zero_point.numpy(),
    }


def each_scheme(torch: Any, make: Any, schemes: list[str], data: list[Any]) -> dict[str, Any]:
    results = []
    for scheme in schemes:
        for dtype in ("quint8", "qint8"):
            for reduce_range in (False, True):
                if reduce_range and dtype == "quint8" and scheme.endswith("symmetric"):
                    continue
                recipe = make.with_args(
                    dtype=getattr(torch, dtype),
                    qscheme=getattr(torch, scheme),
                    reduce_range=reduce_range,
                )
                results.append(watch(torch, recipe, data))
    return joined(results)


PER_TENSOR = ["per_tensor_affine", "per_tensor_symmetric"]
PER_CHANNEL = [
    "per_channel_affine",
    "per_channel_symmetric",
    "per_channel_affine_float_qparams",
]


@parity_case()
def min_max(torch: Any) -> dict[str, Any]:
    return each_scheme(torch, torch.ao.quantization.MinMaxObserver, PER_TENSOR, batches(0))


@parity_case()
def moving_average_min_max(torch: Any) -> dict[str, Any]:
    make = torch.ao.quantization.MovingAverageMinMaxObserver
    return each_scheme(torch, make, PER_TENSOR, batches(1))


@parity_case()
def per_channel_min_max(torch: Any) -> dict[str, Any]:
    make = torch.ao.quantization.PerChannelMinMaxObserver.with_args(ch_axis=1)
    return each_scheme(torch, make, PER_CHANNEL, batches(2))


@parity_case()
def moving_average_per_channel_min_max(torch: Any) -> dict[str, Any]:
    make = torch.ao.quantization.MovingAveragePerChannelMinMaxObserver
    return each_scheme(torch, make, PER_CHANNEL[:2], batches(3))


@parity_case()
def histogram_counts(torch: Any) -> dict[str, Any]:
    """Every count, with few bins."""
    results = []
    for bins in (1, 7, 64):
        make = torch.ao.quantization.HistogramObserver.with_args(bins=bins)
        results.append(watch(torch, make, batches(4)))
    return joined(results)


@parity_case()
def histogram_parameters(torch: Any) -> dict[str, Any]:
    """2,048 bins: the parameters chosen for bells, tails, outliers and one-sided data."""
    rng = np.random.default_rng(5)
    data = {
        "normal": [rng.standard_normal(5000) for _ in range(3)],
        "laplace": [rng.laplace(size=5000) for _ in range(3)],
        "relu": [np.maximum(rng.standard_normal(5000), 0) for _ in range(3)],
        "uniform": [rng.uniform(-1, 1, 5000)],
        "outlier": [np.append(rng.standard_normal(5000), 100.0)],
        "linear": [np.linspace(0, 1, 1000)],
        "growing": [rng.standard_normal(1000) * scale for scale in (1, 3, 9)],
        "shrinking": [rng.standard_normal(1000) * scale for scale in (9, 3, 1)],
    }
    results = {}
    for name, parts in data.items():
        results[name] = []
        for scheme in PER_TENSOR:
            make = torch.ao.quantization.HistogramObserver.with_args(
                dtype=torch.qint8, qscheme=getattr(torch, scheme)
            )
            results[name].append(watch(torch, make, [part.astype(np.float32) for part in parts]))
    return {name: joined(parts) for name, parts in results.items()}


@parity_case(conventions="torch")
def degenerate_data(torch: Any) -> dict[str, Any]:
    """Zeros, constants of either sign, tiny ranges: torch's formulas, not the documented ones."""
    results = []
    for make in ("MinMaxObserver", "MovingAverageMinMaxObserver", "HistogramObserver"):
        for scheme in PER_TENSOR:
            for value in (0.0, 7.0, -7.0, 1e-30):
                for reach in (0.0, 1e-9):
                    recipe = getattr(torch.ao.quantization, make).with_args(
                        dtype=torch.qint8, qscheme=getattr(torch, scheme)
                    )
                    data = [np.float32([value - reach, value, value + reach])] * 2
                    results.append(watch(torch, recipe, data))
    return joined(results)


@parity_case()
def custom_ranges(torch: Any) -> dict[str, Any]:
    """quant_min and quant_max of the user, of both kinds of dtype."""
    results = []
    for dtype in ("quint8", "qint8"):
        for scheme in PER_TENSOR:
            for low, high in ((0, 15), (0, 127), (-8, 7), (-127, 127)):
                recipe = torch.ao.quantization.MinMaxObserver.with_args(
                    dtype=getattr(torch, dtype),
                    qscheme=getattr(torch, scheme),
                    quant_min=low,
                    quant_max=high,
                )
                results.append(watch(torch, recipe, batches(6)))
    return joined(results)


@parity_case()
def default_observers(torch: Any) -> dict[str, Any]:
    """Every default observer that finds parameters."""
    names = [
        "default_observer",
        "default_histogram_observer",
        "default_weight_observer",
        "default_per_channel_weight_observer",
        "weight_observer_range_neg_127_to_127",
        "per_channel_weight_observer_range_neg_127_to_127",
        "default_float_qparams_observer",
        "default_float_qparams_observer_4bit",
    ]
    data = batches(7, (6, 10))
    return joined([watch(torch, getattr(torch.ao.quantization, name), data) for name in names])


@parity_case()
def reprs(torch: Any) -> dict[str, Any]:
    """Observers print as in torch, before and after data."""
    q = torch.ao.quantization
    results = {}
    for observer in (
        q.MinMaxObserver(),
        q.PerChannelMinMaxObserver(),
        q.HistogramObserver(bins=4),
        q.RecordingObserver(),
        q.PlaceholderObserver(dtype=torch.quint8, is_dynamic=True),
        q.FixedQParamsObserver(0.5, 3),
    ):
        name = type(observer).__name__
        before = repr(observer)
        observer(torch.from_numpy(np.float32([[-1, 2], [3, 5]])))
        results[name] = f"{before} {observer!r}"
    return results
