"""Pooling and means in one, two and three dimensions."""

from __future__ import annotations

import math
from typing import Any

from ..plan import Value
from ..planner import Planner, steps
from ..pools import POOLS, each_axis, of_module, windows
from ..problems import Unsupported
from ..wire import Wire

__all__: list[str] = []


def _planes(plan: Planner, x: Wire, spatial: int) -> tuple[Value, dict[str, Any]]:
    """The integers of pictures, and the lengths of their last axes before and after."""
    return plan.integers(x), {"ins": x.shape[-spatial:], "outs": plan.out.shape[-spatial:]}


def _kind(name: str, spatial: int) -> str:
    return f"{name}_3d" if spatial == 3 else name


def _max_pool(spatial: int) -> Any:
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
        found, how = _planes(plan, x, spatial)
        how |= windows(kernel_size, stride, padding, spatial)
        how["dilation"] = each_axis(dilation, spatial)
        return plan.step(_kind("max_pool", spatial), [found], "eq-quantized-max-pool", **how)

    return lower


def _avg_pool(spatial: int) -> Any:
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
        found, how = _planes(plan, x, spatial)
        how |= windows(kernel_size, stride, padding, spatial)
        how["whole_padding"] = bool(count_include_pad)
        how["divisor"] = int(divisor_override or 0)
        # With ceil_mode, or in three dimensions, every engine divides as fbgemm does.
        how["own"] = not ceil_mode and spatial < 3
        return plan.step(_kind("average_pool", spatial), [found], "eq-quantized-avg-pool", **how)

    return lower


def _adaptive(spatial: int) -> Any:
    def lower(plan: Planner, x: Wire, *unused: object, **others: object) -> Value:
        found, how = _planes(plan, x, spatial)
        even = all(size % out == 0 for size, out in zip(how["ins"], how["outs"], strict=True))
        how["own"] = even and spatial < 3
        label = "eq-quantized-adaptive-avg-pool"
        return plan.step(_kind("adaptive_average", spatial), [found], label, **how)

    return lower


for _name, _make in {
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive,
}.items():
    _modules, _arguments = POOLS[_name]
    for _spatial, _class in enumerate(_modules, 1):
        _function = _make(_spatial)
        steps.lowering(f"{_name}{_spatial}d")(_function)
        steps.lowering(_class)(of_module(_function, _arguments))


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
    axes = range(rank) if dim is None else sorted(n % rank for n in each_axis(dim, 1))
    if list(axes) != list(range(rank - len(axes), rank)):
        raise Unsupported("a mean has a C form over the last axes only: permute first")
    ins = (math.prod(found.shape[rank - len(axes) :]),)
    own = rank == 4 and len(axes) == 2
    label = "eq-quantized-mean"
    return plan.step("adaptive_average", [found], label, ins=ins, outs=(1,), own=own)
