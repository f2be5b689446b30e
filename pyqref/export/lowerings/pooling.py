"""Pooling and means: the largest integer, or the mean of real numbers."""

from __future__ import annotations

from typing import Any

from ...nn import modules as nn
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire

__all__: list[str] = []


def _each(value: Any, count: int) -> list[int]:
    values = list(value) if isinstance(value, tuple | list) else [value] * count
    return [int(each) for each in values] * (count if len(values) == 1 and count > 1 else 1)


def _windows(kernel: Any, stride: Any, padding: Any, count: int) -> dict[str, Any]:
    sizes = _each(kernel, count)
    steps = sizes if stride is None or stride == [] else _each(stride, count)
    return {"kernel_shape": sizes, "strides": steps, "pads": _each(padding, count) * 2}


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
    windows = _windows(kernel_size, stride, padding, count)
    windows["dilations"] = _each(dilation, count)
    return make.moved(make.node("MaxPool", [x.name], ceil_mode=int(ceil_mode), **windows), x)


for _count in "123":
    lowering(f"max_pool{_count}d")(_max_pool)


@lowering(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)
def max_pool_module(make: Maker, layer: Layer, x: Wire) -> str:
    """The largest of each window: integers stay what they are."""
    return _max_pool(
        make,
        x,
        layer.kernel_size,
        layer.stride,
        layer.padding,
        layer.dilation,
        layer.ceil_mode,
        layer.return_indices,
    )


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
    windows = _windows(kernel_size, stride, padding, len(x.shape) - 2)
    windows |= {"ceil_mode": int(ceil_mode), "count_include_pad": int(count_include_pad)}
    return make.finish(make.node("AveragePool", [make.real(x)], **windows))


for _count in "123":
    lowering(f"avg_pool{_count}d")(_avg_pool)


@lowering(nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)
def avg_pool_module(make: Maker, layer: Layer, x: Wire) -> str:
    """The mean of each window."""
    return _avg_pool(
        make,
        x,
        layer.kernel_size,
        layer.stride,
        layer.padding,
        layer.ceil_mode,
        layer.count_include_pad,
        getattr(layer, "divisor_override", None),
    )


def _adaptive(make: Maker, x: Wire, largest: bool) -> Any:
    """Windows that give a number of outputs: one window, or windows of one size."""
    outs = make.out.shape[2:]
    ins = x.shape[2:]
    if any(size % out for size, out in zip(ins, outs, strict=True)):
        raise Unsupported(f"{outs} outputs of {ins} have windows of different sizes")
    sizes = [size // out for size, out in zip(ins, outs, strict=True)]
    if largest:
        return _max_pool(make, x, sizes)
    if all(out == 1 for out in outs):
        return make.finish(make.node("GlobalAveragePool", [make.real(x)]))
    return _avg_pool(make, x, sizes)


for _count in "123":
    lowering(f"adaptive_avg_pool{_count}d")(lambda make, x, *_, **__: _adaptive(make, x, False))
    lowering(f"adaptive_max_pool{_count}d")(lambda make, x, *_, **__: _adaptive(make, x, True))


@lowering(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)
def adaptive_avg_pool_module(make: Maker, layer: Layer, x: Wire) -> str:
    """Means of windows that give a number of outputs."""
    return _adaptive(make, x, False)


@lowering(nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d)
def adaptive_max_pool_module(make: Maker, layer: Layer, x: Wire) -> str:
    """The largest of windows that give a number of outputs."""
    return _adaptive(make, x, True)


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
        inputs = [make.real(x)]
        if dim is not None:
            inputs.append(make.shape(*_each(dim, 1)))
        return make.finish(make.node(kind, inputs, keepdims=int(keepdim or keepdims)))

    return lower


lowering("mean")(_reduced("ReduceMean"))
lowering("sum")(_reduced("ReduceSum"))
lowering("amax")(_reduced("ReduceMax"))
lowering("amin")(_reduced("ReduceMin"))
