"""Pooling and means of one- and two-dimensional pictures."""

from __future__ import annotations

import math
from typing import Any

from ..._typing import AnyModule
from ...nn import modules as nn
from ..plan import Value
from ..planner import Planner, steps
from ..problems import Unsupported
from ..wire import Wire

__all__: list[str] = []


def _each(value: Any, count: int) -> tuple[int, ...]:
    values = tuple(value) if isinstance(value, tuple | list) else (value,)
    return tuple(int(each) for each in (values * count if len(values) == 1 else values))


def _windows(
    plan: Planner, x: Wire, count: int, kernel: Any, stride: Any, padding: Any
) -> tuple[Value, dict[str, Any]]:
    found = plan.integers(x)
    if len(found.shape) != count + 2:
        raise Unsupported("its input has no batch: give a batch of one image")
    sizes = _each(kernel, count)
    moves = sizes if stride is None or stride in ((), []) else _each(stride, count)
    return found, {"kernel": sizes, "stride": moves, "padding": _each(padding, count)}


def _max_pool(count: int) -> Any:
    def lower(
        plan: Planner,
        x: Wire,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Value:
        if return_indices:
            raise Unsupported("return_indices=True has no C")
        found, windows = _windows(plan, x, count, kernel_size, stride, padding)
        windows["dilation"] = _each(dilation, count)
        return plan.step("max_pool", [found], "eq-quantized-max-pool", **windows)

    return lower


def _avg_pool(count: int) -> Any:
    def lower(
        plan: Planner,
        x: Wire,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: Any = None,
    ) -> Value:
        found, windows = _windows(plan, x, count, kernel_size, stride, padding)
        return plan.step(
            "average_pool",
            [found],
            "eq-quantized-avg-pool",
            whole_padding=bool(count_include_pad),
            divisor=int(divisor_override or 0),
            ceil_mode=bool(ceil_mode),
            **windows,
        )

    return lower


def _adaptive(count: int) -> Any:
    def lower(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
        found = plan.integers(x)
        if len(found.shape) != count + 2:
            raise Unsupported("its input has no batch: give a batch of one image")
        label = "eq-quantized-adaptive-avg-pool"
        return plan.step("adaptive_average", [found], label, spatial=count, images=True)

    return lower


_DIVISOR = "divisor_override"


def _enter() -> None:
    modules = (
        (nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveAvgPool1d),
        (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d),
    )
    for count, (largest, average, adaptive) in enumerate(modules, 1):
        pool, mean = _max_pool(count), _avg_pool(count)
        steps.lowering(f"max_pool{count}d")(pool)
        steps.lowering(f"avg_pool{count}d")(mean)
        names = "kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices"
        steps.lowering(largest)(_module(pool, names))
        names = "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", _DIVISOR
        steps.lowering(average)(_module(mean, names))
        steps.lowering(adaptive)(_module(_adaptive(count), ()))
        steps.lowering(f"adaptive_avg_pool{count}d")(_adaptive(count))


def _module(function: Any, names: tuple[str, ...]) -> Any:
    """The lowering of a module whose attributes are the arguments of a function."""

    def lower(plan: Planner, module: AnyModule, x: Wire) -> Any:
        return function(plan, x, *(getattr(module, name, None) for name in names))

    return lower


_enter()


@steps.lowering("mean")
def mean(
    plan: Planner,
    x: Wire,
    dim: Any = None,
    keepdim: bool = False,
    *unused: object,
    **others: object,
) -> Value:
    """The mean over the last axes."""
    found = plan.integers(x)
    rank = len(found.shape)
    axes = range(rank) if dim is None else sorted(n % rank for n in _each(dim, 1))
    if list(axes) != list(range(rank - len(axes), rank)):
        raise Unsupported("a mean has a C form over the last axes only: permute first")
    kept = math.prod(found.shape[: rank - len(axes)])
    rows = Value(found.name, (1, kept, math.prod(found.shape) // kept), found.grid, found.buffer)
    images = rank == 4 and len(axes) == 2
    return plan.step("adaptive_average", [rows], "eq-quantized-mean", spatial=1, images=images)
