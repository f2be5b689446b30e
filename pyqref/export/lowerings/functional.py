"""Layers as functions: their weight is an argument, packed or a tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ..._typing import Packed, Tensor
from ...tensor.base import TensorBase
from ..maker import Maker
from ..problems import Unsupported
from ..table import lowering
from ..wire import Wire
from .dynamic import dynamic_linear
from .norms import batch_norm, group_norm, instance_norm, layer_norm
from .weighted import float_layer, quantized_layer

__all__: list[str] = []


def of_packed(packed: Packed, relu: bool) -> SimpleNamespace:
    """A packed weight, seen as the layer that it belongs to."""
    weight, bias = packed.unpack()
    layer = SimpleNamespace(
        weight=lambda: weight,
        bias=lambda: bias,
        _packed_weight=lambda: packed,
        _weight_bias=lambda: (weight, bias),
        _packed_params=SimpleNamespace(_packed_params=packed),
        fused_relu=relu,
    )
    if hasattr(packed, "stride"):
        layer.kernel_size = tuple(packed.shape[2:])
        for name in ("stride", "padding", "dilation", "groups", "transposed", "output_padding"):
            setattr(layer, name, getattr(packed, name))
    return layer


def _packed(relu: bool) -> Callable[..., Any]:
    def lower(make: Maker, x: Wire, packed: Any, *unused: Any, **others: Any) -> Any:
        if isinstance(packed, TensorBase):
            raise Unsupported("its weight is not packed")
        return quantized_layer(make, of_packed(packed, relu), x)

    return lower


_NAMES = ["linear", *(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3))]
for _name in _NAMES:
    lowering(f"quantized.{_name}")(_packed(relu=False))
    lowering(f"quantized.{_name}_relu")(_packed(relu=True))


@lowering("quantized.linear_dynamic", "quantized.linear_dynamic_fp16")
def linear_dynamic(make: Maker, x: Wire, packed: Packed, *unused: object, **others: object) -> str:
    """A linear layer that quantizes its input, or has a weight of half precision."""
    return dynamic_linear(make, of_packed(packed, False), x)


@lowering("quantized.linear_relu_dynamic", "quantized.linear_relu_dynamic_fp16")
def linear_relu_dynamic(
    make: Maker, x: Wire, packed: Packed, *unused: object, **others: object
) -> str:
    """Lower a dynamic linear layer, with negative results set to zero."""
    return str(make.node("Relu", [linear_dynamic(make, x, packed)]))


def _known(*given: Any) -> None:
    if any(isinstance(each, Wire) for each in given):
        raise Unsupported("its weight is computed while the model runs")


@lowering("linear")
def linear(make: Maker, x: Wire, weight: Tensor, bias: Tensor | None = None) -> str:
    """A linear layer of real numbers."""
    _known(weight, bias)
    return float_layer(make, SimpleNamespace(weight=weight, bias=bias), x)


def _tuple(value: Any, count: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (int(value),) * count


def _conv(
    make: Maker,
    x: Wire,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Any:
    _known(weight, bias)
    count = len(weight.shape) - 2
    layer = SimpleNamespace(weight=weight, bias=bias, groups=groups, transposed=False)
    layer.kernel_size = tuple(weight.shape[2:])
    layer.stride, layer.dilation = _tuple(stride, count), _tuple(dilation, count)
    layer.padding = padding if isinstance(padding, str) else _tuple(padding, count)
    return float_layer(make, layer, x)


for _name in "123":
    lowering(f"conv{_name}d")(_conv)


@lowering("layer_norm")
def layer_norm_function(
    make: Maker,
    x: Wire,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *unused: object,
    **others: object,
) -> str:
    """The last axes normalized."""
    _known(weight, bias)
    shape = tuple(normalized_shape)
    layer = SimpleNamespace(weight=weight, bias=bias, eps=eps, normalized_shape=shape)
    return layer_norm(make, layer, x)


@lowering("group_norm")
def group_norm_function(
    make: Maker,
    x: Wire,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    *unused: object,
    **others: object,
) -> str:
    """Groups of channels normalized."""
    _known(weight, bias)
    layer = SimpleNamespace(weight=weight, bias=bias, eps=eps, num_groups=num_groups)
    layer.num_channels = x.shape[1]
    return group_norm(make, layer, x)


@lowering("quantized.instance_norm")
def instance_norm_function(
    make: Maker,
    x: Wire,
    weight: Tensor,
    bias: Tensor | None,
    eps: float,
    *unused: object,
    **others: object,
) -> str:
    """Channels of each image normalized."""
    _known(weight, bias)
    layer = SimpleNamespace(weight=weight, bias=bias, eps=eps, num_features=x.shape[1])
    return instance_norm(make, layer, x)


@lowering("batch_norm")
def batch_norm_function(
    make: Maker,
    x: Wire,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> str:
    """Channels scaled by statistics of the training."""
    _known(running_mean, running_var, weight, bias)
    if training:
        raise Unsupported("it is in training mode: call model.eval() first")
    layer = SimpleNamespace(weight=weight, bias=bias, eps=eps, num_features=x.shape[1])
    layer.running_mean, layer.running_var, layer.training = running_mean, running_var, False
    return batch_norm(make, layer, x)
