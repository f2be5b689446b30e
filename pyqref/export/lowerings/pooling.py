"""Pooling and means: the largest integer, or the mean of real numbers."""

from __future__ import annotations

from typing import Any

from ..maker import Maker
from ..pools import POOLS, each_axis, of_module, windows
from ..problems import Unsupported
from ..table import lowering
from ..wire import Wire
from .exact import whole_mean, window_mean

__all__: list[str] = []


def _windows(kernel: Any, stride: Any, padding: Any, count: int) -> dict[str, Any]:
    of = windows(kernel, stride, padding, count)
    return {
        "kernel_shape": list(of["kernel"]),
        "strides": list(of["stride"]),
        "pads": list(of["padding"]) * 2,
    }


def _max_pool(
    make: Maker,
    x: Wire,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> str:
    if return_indices:
        raise Unsupported("return_indices=True is not exported")
    count = len(x.shape) - 2
    how = _windows(kernel_size, stride, padding, count)
    how["dilations"] = list(each_axis(dilation, count))
    return make.moved(make.node("MaxPool", [x.name], ceil_mode=int(ceil_mode), **how), x)


def _avg_pool(
    make: Maker,
    x: Wire,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Any = None,
) -> Any:
    if divisor_override is not None:
        raise Unsupported("divisor_override is not exported")
    of = windows(kernel_size, stride, padding, len(x.shape) - 2)
    whole = of["kernel"] == x.shape[2:] and not any(of["padding"])
    if x.is_quantized and (make.style == "exact" or (make.style == "qoperator" and whole)):
        geometry = of["kernel"], of["stride"], of["padding"]
        return window_mean(make, x, *geometry, ceil_mode, count_include_pad)
    how = _windows(kernel_size, stride, padding, len(x.shape) - 2)
    how |= {"ceil_mode": int(ceil_mode), "count_include_pad": int(count_include_pad)}
    return make.finish(make.node("AveragePool", [make.real(x)], **how))


def _adaptive(make: Maker, x: Wire, largest: bool) -> Any:
    """Windows that give a number of outputs: one window, or windows of one size."""
    outs = make.out.shape[2:]
    ins = x.shape[2:]
    if any(size % out for size, out in zip(ins, outs, strict=True)):
        raise Unsupported(f"{outs} outputs of {ins} have windows of different sizes")
    sizes = [size // out for size, out in zip(ins, outs, strict=True)]
    if largest:
        return _max_pool(make, x, sizes)
    if all(out == 1 for out in outs) and not (x.is_quantized and make.style != "qdq"):
        return make.finish(make.node("GlobalAveragePool", [make.real(x)]))
    return _avg_pool(make, x, sizes)


for _name, _function in {
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": lambda make, x, *_, **__: _adaptive(make, x, False),
    "adaptive_max_pool": lambda make, x, *_, **__: _adaptive(make, x, True),
}.items():
    _modules, _arguments = POOLS[_name]
    lowering(*_modules)(of_module(_function, _arguments))
    lowering(*(f"{_name}{spatial}d" for spatial in (1, 2, 3)))(_function)


def _reduced(kind: str) -> Any:
    def lower(
        make: Maker,
        x: Wire,
        dim: Any = None,
        keepdim: bool = False,
        *unused: Any,
        keepdims: bool = False,
        **others: Any,
    ) -> Any:
        keep, rank = bool(keepdim or keepdims), len(x.shape)
        axes = None if dim is None else each_axis(dim, 1)
        if kind == "ReduceMean" and make.style != "qdq" and x.is_quantized:
            every = range(rank) if axes is None else [axis % rank for axis in axes]
            result = whole_mean(make, x, every, keep)
            if result is not None:
                return result
        inputs = [make.real(x)] + ([] if axes is None else [make.shape(*axes)])
        return make.finish(make.node(kind, inputs, keepdims=int(keep)))

    return lower


lowering("mean")(_reduced("ReduceMean"))
lowering("sum")(_reduced("ReduceSum"))
lowering("amax")(_reduced("ReduceMax"))
lowering("amin")(_reduced("ReduceMin"))
