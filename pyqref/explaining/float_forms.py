"""Float forms of quantized operations, for numbers that need no integers.

A quantized layer stands for a float one, with a scale and a zero point for its result.
:func:`float_form` gives the float one, as a function of the same arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import nn
from .._typing import AnyModule
from ..nn import functional as F
from ..nn.modules import Module
from ..nn.quantized import FXFloatFunctional, QFunctional
from ..ops.quantized.packed import PackedWeight
from ..ops.quantized.packed_conv import PackedConv
from ..tensor import Tensor, cat, matmul
from .values import as_float, on_floats

__all__ = [
    "NoFloatFormError",
    "float_form",
    "packed_weight_of",
    "reference_weight_of",
    "run_with_weight",
    "then",
]

Form = Callable[..., Any]

#: Functions that only put numbers on a grid, or take them off.
GRID_ONLY = (
    "quantize_per_tensor",
    "quantize_per_channel",
    "quantize_per_tensor_dynamic",
    "dequantize",
)


class NoFloatFormError(LookupError):
    """A function has no float form: the caller runs it on the grids of its inputs."""


class ReferenceWeight:
    """The weight of a reference layer, which computes on real numbers, as a packed one.

    Attributes
    ----------
    stride, padding, output_padding, dilation, groups, spatial, transposed
        Its geometry; of a linear layer ``spatial`` is 0.
    """

    def __init__(self, layer: AnyModule) -> None:
        self.layer = layer
        self.spatial = max(layer.weight.ndim - 2, 0)
        self.transposed = bool(getattr(layer, "transposed", False))
        self.stride: Any = getattr(layer, "stride", None)
        self.padding: Any = getattr(layer, "padding", None)
        self.output_padding: Any = getattr(layer, "output_padding", None)
        self.dilation: Any = getattr(layer, "dilation", None)
        self.groups: Any = getattr(layer, "groups", None)

    def unpack(self) -> tuple[Any, Any]:
        """The quantized weight and the float bias."""
        bias = self.layer.bias
        return self.layer.get_quantized_weight(), None if bias is None else bias.detach()


def reference_weight_of(operation: object) -> ReferenceWeight | None:
    """The weight of a reference layer, fused or not; None of any other, or of other padding."""
    layer = operation
    if isinstance(operation, nn.intrinsic._FusedModule):
        layer = next(iter(operation.children()), None)
    kinds = nn.quantized.reference
    convolutions = (kinds.Conv1d, kinds.Conv2d, kinds.Conv3d)
    transposed = (kinds.ConvTranspose1d, kinds.ConvTranspose2d, kinds.ConvTranspose3d)
    if not isinstance(layer, (kinds.Linear, *convolutions, *transposed)):
        return None
    known = getattr(layer, "padding_mode", "zeros") == "zeros"
    return ReferenceWeight(layer) if known else None


def packed_weight_of(operation: object, args: tuple[Any, ...] = ()) -> PackedWeight | None:
    """The packed weight of a layer, or among the arguments of a function; None without one."""
    if isinstance(operation, Module):
        packed = operation.__dict__.get("_packed_params")
        inner = operation._modules.get("_packed_params")
        packed = packed if inner is None else inner.__dict__.get("_packed_params")
        return packed if isinstance(packed, PackedWeight) else None
    return next((each for each in args if isinstance(each, PackedWeight)), None)


def run_with_weight(
    packed: PackedWeight | ReferenceWeight,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    layer: Any = None,
) -> Tensor:
    """Run the linear layer, or the convolution, of a packed weight on float tensors.

    Parameters
    ----------
    packed
        Says which operation it is, and its geometry.
    x, weight, bias
        Float tensors; ``bias`` may be None.
    layer
        The module that has the packed weight; it may pad the input itself.
    """
    if not isinstance(packed, (PackedConv, ReferenceWeight)) or packed.spatial == 0:
        return F.linear(x, weight, bias)
    index = packed.spatial - 1
    if packed.transposed:
        transposed = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[index]
        geometry = packed.stride, packed.padding, packed.output_padding
        return transposed(x, weight, bias, *geometry, packed.groups, packed.dilation)
    if hasattr(layer, "_padded") and not isinstance(packed, ReferenceWeight):
        x = layer._padded(x)
    straight = (F.conv1d, F.conv2d, F.conv3d)[index]
    return straight(x, weight, bias, packed.stride, packed.padding, packed.dilation, packed.groups)


def then(
    operation: Module | Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Form:
    """Return the function that a fused layer, or function, applies to the result of its weight."""
    name = type(operation).__name__ if isinstance(operation, Module) else operation.__name__
    name = name.lower().replace("_", "")
    if "leakyrelu" in name:
        if isinstance(operation, Module):
            slope: Any = operation.negative_slope
        else:
            slope = _bound(operation, args, kwargs).get("negative_slope", 0.01)
        return lambda y: F.leaky_relu(y, slope)
    if "tanh" in name:
        return lambda y: y.tanh()
    if "add" in name:
        added = as_float(args[1])
        return (lambda y: F.relu(y + added)) if "relu" in name else (lambda y: y + added)
    return F.relu if "relu" in name else lambda y: y


def float_form(operation: object, counterpart: Module | None = None) -> Form:
    """The function of float tensors that a layer, a function or a method stands for.

    Parameters
    ----------
    operation
        A module, a function, or the name of a method of tensors.
    counterpart
        The module at the same path in the float model, which is asked first.

    Returns
    -------
    callable
        Takes the arguments of ``operation``, whose quantized tensors it dequantizes.
    """
    if isinstance(operation, Module):
        form = _of_module(operation, counterpart)
    elif isinstance(operation, str):
        form = _of_method(operation)
    else:
        form = _of_function(operation)
    return lambda *args, **kwargs: form(*on_floats(args), **dict(on_floats(kwargs)))


def _of_module(module: Module, counterpart: Module | None) -> Form:
    kind = type(module)
    if kind.__name__ in ("Quantize", "DeQuantize", "FakeQuantize"):
        return lambda x: x
    if (packed := packed_weight_of(module)) is not None:

        def run(x: Any, *args: Any, **kwargs: Any) -> Any:
            weight, bias = packed.unpack()
            y = run_with_weight(packed, x, as_float(weight), bias, module)
            return then(module, (x, *args), kwargs)(y)

        return run
    if counterpart is not None:
        runs_relu = "ReLU" in kind.__name__ and kind.__name__.startswith("BN")
        return (lambda *args: F.relu(counterpart(*args))) if runs_relu else counterpart
    if kind.__name__ == "PReLU":
        return lambda x: F.prelu(x, as_float(module.weight))
    for base in kind.__mro__:
        if base.__module__.startswith("pyqref.nn.modules") and "forward" in vars(base):
            forward = base.forward  # type: ignore[attr-defined]
            return lambda *args, **kwargs: forward(module, *args, **kwargs)
    return module


def _of_method(name: str) -> Form:
    if name in GRID_ONLY:
        return _itself
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


def _itself(x: Any, *_: Any, **__: Any) -> Any:
    return x


def _of_function(function: Any) -> Form:
    name = getattr(function, "__name__", "")
    if name in GRID_ONLY:
        return _itself
    if isinstance(getattr(function, "__self__", None), QFunctional):
        return getattr(FXFloatFunctional(), name)
    if not getattr(function, "__module__", "").startswith("pyqref.ops.quantized"):
        return function

    def run(*args: Any, **kwargs: Any) -> Any:
        if (packed := packed_weight_of(function, args)) is not None:
            weight, bias = packed.unpack()
            y = run_with_weight(packed, args[0], as_float(weight), bias)
            return then(function, args, kwargs)(y)
        base = name.removesuffix("_relu") if name != "leaky_relu" else name
        if base not in FUNCTIONS:
            raise NoFloatFormError(name)
        y = FUNCTIONS[base](**_bound(function, args, kwargs))
        return F.relu(y) if base != name else y

    return run


def _bound(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by the names of its parameters, defaults included."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _batch_norm(qx: Any, weight: Any, bias: Any, mean: Any, var: Any, eps: float, **_: Any) -> Any:
    return F.batch_norm(qx, mean, var, weight, bias, False, 0.0, eps)


def _layer_norm(
    input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: Any, **_: Any
) -> Any:
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def _group_norm(input: Any, num_groups: int, weight: Any, bias: Any, eps: float, **_: Any) -> Any:
    return F.group_norm(input, num_groups, weight, bias, eps)


def _instance_norm(input: Any, weight: Any, bias: Any, eps: float, **_: Any) -> Any:
    return F.instance_norm(input, None, None, weight, bias, True, 0.0, eps)


def _elu(self: Any, alpha: float, scale: float, input_scale: float, **_: Any) -> Any:
    positive, negative = self.clamp(min=0.0), self.clamp(max=0.0)
    return scale * (positive + alpha * (input_scale * negative).expm1())


#: Float functions of the parameters of those of ``pyqref.ops.quantized``, by their names.
FUNCTIONS: dict[str, Form] = {
    "add": lambda qa, qb, **_: qa + qb,
    "mul": lambda qa, qb, **_: qa * qb,
    "add_scalar": lambda qa, b: qa + b,
    "mul_scalar": lambda qa, b: qa * b,
    "matmul": lambda qa, qb, **_: matmul(qa, qb),
    "cat": lambda qx, dim, **_: cat(qx, dim),
    "batch_norm": _batch_norm,
    "batch_norm1d": _batch_norm,
    "batch_norm2d": _batch_norm,
    "batch_norm3d": _batch_norm,
    "layer_norm": _layer_norm,
    "group_norm": _group_norm,
    "instance_norm": _instance_norm,
    "elu": _elu,
    "celu": lambda self, alpha, **_: F.celu(self, alpha),
    "hardswish": lambda **given: F.hardswish(given["input"]),
    "leaky_relu": lambda qx, negative_slope, **_: F.leaky_relu(qx, negative_slope),
    "prelu": lambda qx, weight, **_: F.prelu(qx, weight),
    "sigmoid": lambda self, **_: F.sigmoid(self),
    "softmax": lambda qx, dim, **_: F.softmax(qx, dim),
    "dropout": lambda self, p, training, **_: F.dropout(self, p, training),
    "relu": lambda qx, **_: F.relu(qx),
    "relu6": lambda qx, **_: F.relu6(qx),
    "threshold": lambda qx, threshold, value: F.threshold(qx, threshold, value),
    "clamp": lambda qx, **ends: qx.clamp(**ends),
    "max_pool1d": lambda qx, kernel_size, stride, padding, dilation, ceil_mode: F.max_pool1d(
        qx, kernel_size, stride or None, padding, dilation, ceil_mode
    ),
    "max_pool2d": lambda qx, kernel_size, stride, padding, dilation, ceil_mode: F.max_pool2d(
        qx, kernel_size, stride or None, padding, dilation, ceil_mode
    ),
}
