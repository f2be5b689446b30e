"""Functions of single elements, sums and products: real numbers between two grids."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..._typing import Tensor, TensorOrNumber
from ...nn import modules as nn
from ...nn import quantized as nnq
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire
from .exact import Operand, function_of_two, matrix_product

__all__: list[str] = []


def _plain(kind: str) -> Callable[..., Any]:
    def lower(make: Maker, x: Wire, *unused: Any, **others: Any) -> Any:
        return make.finish(make.node(kind, [make.real(x)]))

    return lower


def _module(function: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """The lowering of a module whose attributes are the arguments of a function."""

    def lower(make: Maker, layer: Any, x: Wire) -> Any:
        return function(make, x, *(getattr(layer, name) for name in names))

    return lower


_SIMPLE = {
    "relu": ("Relu", (nn.ReLU,)),
    "sigmoid": ("Sigmoid", (nn.Sigmoid,)),
    "tanh": ("Tanh", (nn.Tanh,)),
    "hardswish": ("HardSwish", (nn.Hardswish,)),
    "softplus": ("Softplus", ()),
    "softsign": ("Softsign", (nn.Softsign,)),
    "mish": ("Mish", (nn.Mish,)),
    "exp": ("Exp", ()),
    "log": ("Log", ()),
    "sqrt": ("Sqrt", ()),
    "abs": ("Abs", ()),
    "neg": ("Neg", ()),
    "erf": ("Erf", ()),
    "reciprocal": ("Reciprocal", ()),
    "sin": ("Sin", ()),
    "cos": ("Cos", ()),
    "floor": ("Floor", ()),
    "ceil": ("Ceil", ()),
    "round": ("Round", ()),
    "sign": ("Sign", ()),
}


def _enter_simple() -> None:
    for name, (kind, modules) in _SIMPLE.items():
        lower = _plain(kind)
        lowering(name)(lower)
        lowering(*modules)(_module(lower))


_enter_simple()


@lowering("hardsigmoid")
def hardsigmoid(make: Maker, x: Wire, *unused: object, **others: object) -> str:
    """``min(max(x / 6 + 0.5, 0), 1)``."""
    return make.finish(make.node("HardSigmoid", [make.real(x)], alpha=1 / 6, beta=0.5))


@lowering("leaky_relu")
def leaky_relu(
    make: Maker, x: Wire, negative_slope: float = 0.01, *unused: object, **others: object
) -> str:
    """``x``, or ``negative_slope x`` where it is negative."""
    return make.finish(make.node("LeakyRelu", [make.real(x)], alpha=float(negative_slope)))


@lowering("elu")
def elu(make: Maker, x: Wire, *args: object, alpha: float = 1.0, **others: object) -> str:
    """``x``, or ``alpha (exp x - 1)`` where it is negative."""
    return make.finish(make.node("Elu", [make.real(x)], alpha=float(alpha)))


@lowering("gelu")
def gelu(make: Maker, x: Wire, approximate: str = "none") -> str:
    """``x`` times the normal distribution function."""
    return make.finish(make.node("Gelu", [make.real(x)], approximate=approximate))


@lowering("silu")
def silu(make: Maker, x: Wire, inplace: bool = False) -> str:
    """``x sigmoid(x)``."""
    real = make.real(x)
    return make.finish(make.node("Mul", [real, make.node("Sigmoid", [real])]))


def _clipped(make: Maker, x: Wire, low: float | None, high: float | None) -> Any:
    ends = ["" if end is None else make.scalar("end", end) for end in (low, high)]
    return make.finish(make.node("Clip", [make.real(x), *ends]))


@lowering("hardtanh")
def hardtanh(
    make: Maker,
    x: Wire,
    min_val: float = -1.0,
    max_val: float = 1.0,
    *unused: object,
    **others: object,
) -> str:
    """Clip to two ends."""
    return _clipped(make, x, min_val, max_val)


@lowering("relu6")
def relu6(make: Maker, x: Wire, inplace: bool = False) -> str:
    """Clip to 0 and 6."""
    return _clipped(make, x, 0.0, 6.0)


@lowering("clamp", "clip")
def clamp(
    make: Maker, x: Wire, min: float | None = None, max: float | None = None, **unused: object
) -> str:
    """Clip to two numbers, one of which may be None."""
    return _clipped(make, x, min, max)


@lowering("clamp_min")
def clamp_min(make: Maker, x: Wire, min: float) -> str:
    """Clip from below."""
    return _clipped(make, x, min, None)


@lowering("prelu")
def prelu(make: Maker, x: Wire, weight: Tensor, *unused: object, **others: object) -> str:
    """``x``, or ``weight x`` where it is negative; one weight a channel."""
    value = weight.dequantize() if weight.is_quantized else weight
    slopes = value.detach().numpy().reshape(-1, *[1] * (len(x.shape) - 2))
    return make.finish(make.node("PRelu", [make.real(x), make.constant("slope", slopes)]))


lowering(nn.Hardsigmoid)(_module(hardsigmoid))
lowering(nn.LeakyReLU)(_module(leaky_relu, "negative_slope"))
lowering(nn.GELU)(_module(gelu, "approximate"))
lowering(nn.SiLU)(_module(silu))
lowering(nn.Hardtanh)(_module(hardtanh, "min_val", "max_val"))
lowering(nn.ReLU6)(_module(relu6))
lowering(nn.PReLU, nnq.PReLU)(_module(prelu, "weight"))


@lowering(nn.ELU)
def elu_module(make: Maker, layer: Layer, x: Wire) -> str:
    """ELU with the constant of the layer."""
    return elu(make, x, alpha=layer.alpha)


@lowering("softmax")
def softmax(make: Maker, x: Wire, dim: int | None = None, *unused: object, **others: object) -> str:
    """Exponentials that sum to one along an axis."""
    if dim is None:
        raise Unsupported("softmax without dim: say along which axis")
    return make.finish(make.node("Softmax", [make.real(x)], axis=int(dim)))


@lowering("log_softmax")
def log_softmax(
    make: Maker, x: Wire, dim: int | None = None, *unused: object, **others: object
) -> str:
    """Logarithm of the softmax."""
    if dim is None:
        raise Unsupported("log_softmax without dim: say along which axis")
    return make.finish(make.node("LogSoftmax", [make.real(x)], axis=int(dim)))


lowering(nn.Softmax)(_module(softmax, "dim"))
lowering(nn.LogSoftmax)(_module(log_softmax, "dim"))


def _exactly(make: Maker, kind: str, x: Operand, y: Operand, relu: bool) -> str | None:
    if kind == "MatMul":
        return matrix_product(make, x, y)
    return function_of_two(make, kind.lower(), x, y, relu) if kind in ("Add", "Mul") else None


def _of_two(kind: str, relu: bool = False) -> Callable[..., Any]:
    def lower(make: Maker, x: Any, y: Any, *unused: Any, alpha: float = 1, **others: Any) -> Any:
        if alpha != 1 or others.get("rounding_mode") is not None:
            raise Unsupported("alpha and rounding_mode are not exported")
        if make.style == "exact":
            result = _exactly(make, kind, x, y, relu)
            if result is not None:
                return result
        real = make.node(kind, [make.real(x), make.real(y)])
        return make.finish(make.node("Relu", [real]) if relu else real)

    return lower


for _name, _kind in {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}.items():
    _functions = {_name, f"i{_name}", f"{_name}_scalar"}
    lowering(*_functions)(_of_two(_kind))
    lowering(f"{_name}_relu", f"{_name}_scalar_relu")(_of_two(_kind, relu=True))
lowering("truediv")(_of_two("Div"))
lowering("maximum")(_of_two("Max"))
lowering("minimum")(_of_two("Min"))
lowering("matmul", "bmm", "mm")(_of_two("MatMul"))


@lowering("pow")
def power(make: Maker, x: Wire, exponent: Wire | TensorOrNumber) -> str:
    """A power with a constant exponent, or element by element."""
    return make.finish(make.node("Pow", [make.real(x), make.real(exponent)]))


@lowering("rsqrt")
def rsqrt(make: Maker, x: Wire) -> str:
    """One over the square root."""
    return make.finish(make.node("Reciprocal", [make.node("Sqrt", [make.real(x)])]))


@lowering("scaled_dot_product_attention")
def attention(
    make: Maker,
    query: Wire,
    key: Wire,
    value: Wire,
    attn_mask: object = None,
    *args: object,
    **others: object,
) -> str:
    """Softmax of scaled products, times values."""
    if args or others or attn_mask is not None:
        raise Unsupported("only query, key and value are exported")
    axes = list(range(len(key.shape)))
    axes[-2:] = axes[-1], axes[-2]
    scale = make.scalar("scale", 1 / math.sqrt(query.shape[-1]))
    turned = make.node("Transpose", [make.real(key)], perm=axes)
    scores = make.node("Mul", [make.node("MatMul", [make.real(query), turned]), scale])
    weights = make.node("Softmax", [scores], axis=-1)
    return make.finish(make.node("MatMul", [weights, make.real(value)]))
