"""Linear layers and convolutions with a quantized weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._typing import AnyModule
from ...nn import modules as nn
from ...nn import quantized as nnq
from ...nn.intrinsic import quantized as nniq
from ...nn.intrinsic.quantized import dynamic as nniqd
from ...nn.quantized import dynamic as nnqd
from ...nn.quantized import reference as nnqr
from ...ops import quantized as ops
from ...tensor.base import TensorBase
from ..plan import Value
from ..planner import REAL, Planner, steps
from ..problems import Unsupported
from ..table import why_not
from ..wire import Wire

__all__: list[str] = []

#: Layers that apply a ReLU before they round.
_RELU = (nniq.ConvReLU1d, nniq.ConvReLU2d, nniq.LinearReLU)


def _weighted(plan: Planner, packed: Any, x: Value, relu: bool, before: Any = None) -> Value:
    """A step with a packed weight.

    ``before`` is the padding in front of each axis; None where the packed weight has it.
    """
    if packed.operation == "qgemm":
        return plan.step("linear", [x], "eq-linear-accumulator", packed=packed, relu=relu)
    if packed.spatial > 2:
        raise Unsupported("it has three dimensions, C is written for one and two")
    padding = packed.padding if before is None else before
    kind, label = "convolution", "eq-conv-accumulator"
    if packed.transposed:
        kind, label = "transposed", "eq-conv-transpose-accumulator"
    return plan.step(kind, [x], label, packed=packed, relu=relu, padding=tuple(padding))


@steps.lowering(nnq.Linear, nnq.Conv1d, nnq.Conv2d, nnq.Conv3d)
@steps.lowering(nnq.ConvTranspose1d, nnq.ConvTranspose2d, nnq.ConvTranspose3d)
def layer(plan: Planner, module: AnyModule, x: Wire) -> Value:
    """A quantized layer, with a ReLU if it is one of two layers."""
    before = None
    if getattr(module, "padding_mode", "zeros") != "zeros":
        raise Unsupported(f"padding_mode={module.padding_mode!r} has no C: use 'zeros'")
    if isinstance(getattr(module, "padding", None), str):
        geometry = module.padding, module.kernel_size, module.stride, module.dilation
        before = [first for first, _ in ops.padding_pairs("Conv", *geometry)]
    relu = isinstance(module, _RELU)
    return _weighted(plan, module._packed_weight(), plan.integers(x), relu, before)


@steps.lowering(nniq.LinearLeakyReLU, nniq.LinearTanh)
@steps.lowering(nniq.ConvAdd2d, nniq.ConvAddReLU2d)
def fused(plan: Planner, module: AnyModule, x: Wire, *extra: Any) -> Value:
    """Refuse layers that round once for two operations."""
    raise Unsupported("it rounds once for two operations: quantize the two layers one by one")


@steps.lowering(nnqd.Linear, nniqd.LinearReLU, nnqd.LSTM, nnqd.GRU)
@steps.lowering(nnqd.Conv1d, nnqd.Conv2d, nnqd.Conv3d)
@steps.lowering("quantized.linear_dynamic", "quantized.linear_relu_dynamic")
def dynamic(plan: Planner, *args: Any, **others: object) -> Value:
    """Refuse layers that choose the grid of their input while they run."""
    raise Unsupported("its input gets its grid while it runs: quantize it statically")


@steps.lowering(nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
@steps.lowering(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
def real(plan: Planner, module: nn.Module, *args: object, **others: object) -> Value:
    """Refuse layers of real numbers."""
    if type(module).__module__.startswith(nnqr.__name__):
        raise Unsupported("a reference layer computes with real numbers: use convert_fx")
    raise Unsupported(why_not(module, REAL))


def _function(relu: bool) -> Callable[..., Any]:
    def lower(plan: Planner, x: Wire, packed: Any, *unused: object, **others: object) -> Value:
        if isinstance(packed, TensorBase):
            raise Unsupported("its weight is not packed")
        return _weighted(plan, packed, plan.integers(x), relu)

    return lower


_NAMES = ["linear", *(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3))]
for _name in _NAMES:
    steps.lowering(f"quantized.{_name}")(_function(relu=False))
    steps.lowering(f"quantized.{_name}_relu")(_function(relu=True))
