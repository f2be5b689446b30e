"""The state of a model here as a state that ``torch`` loads."""

from __future__ import annotations

from collections import OrderedDict
from importlib import import_module
from typing import Any

import numpy as np

from pyqref import dtypes
from pyqref.nn import Module
from pyqref.ops.quantized import PackedConv, PackedConvTranspose
from pyqref.tensor import Tensor
from pyqref.tensor.foreign import kind_of

from .layers import torch_name

__all__ = ["to_torch_state_dict"]

#: The functions of ``torch.ops.quantized`` that pack the weight of a convolution end so.
_PREPACK = "d_prepack"


def to_torch_state_dict(model: Module) -> OrderedDict[str, Any]:
    """Return the state of a model as tensors of ``torch``, under the names of ``torch``.

    Parameters
    ----------
    model
        A float, prepared or quantized model of this package, in eager or graph mode, such as
        :func:`from_torch` gives and training or calibration has changed since.

    Returns
    -------
    OrderedDict
        For ``load_state_dict`` of the model of ``torch`` with the same layers. Quantized
        tensors stay quantized, with the same integers, scales and zero points; packed weights
        are packed for the engine of ``torch`` that is in use. It shares no memory.

    Raises
    ------
    ImportError
        There is no ``torch``.
    TypeError
        ``model`` is no module of this package, or its state holds what ``torch`` has not.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.interop.to_torch_state_dict("model")
    Traceback (most recent call last):
        ...
    TypeError: to_torch_state_dict: model must be a pyqref.nn.Module, got str
    """
    if not isinstance(model, Module):
        kind = type(model)
        raise TypeError(
            "to_torch_state_dict: model must be a pyqref.nn.Module, got "
            f"{kind.__qualname__ if kind.__module__ == 'builtins' else torch_name(kind)}"
        )
    torch = _torch()
    given = model.state_dict()
    state: OrderedDict[str, Any] = OrderedDict()
    for name, value in given.items():
        state[name] = _value(torch, model, name, value)
    state._metadata = given._metadata  # type: ignore[attr-defined]
    return state


def _torch() -> Any:
    """The real ``torch``."""
    try:
        torch: Any = import_module("torch")
    except ImportError:
        torch = None
    if not hasattr(torch, "_C") or "pyqref" in str(getattr(torch, "__version__", "")):
        raise ImportError(
            "to_torch_state_dict makes tensors of torch, and there is no torch here; install it "
            "with pip install torch, or save the state of this package with pyqref.save"
        )
    return torch


def _value(torch: Any, model: Module, name: str, value: Any) -> Any:
    """One entry of a state."""
    path, _, last = name.rpartition(".")
    if isinstance(value, tuple) and last != "_packed_params":
        parts = [_tensor(torch, each) for each in value]
        if len(parts) == 4:
            return _recurrent(torch, *parts)
        return _packed(torch, getattr(model.get_submodule(path), last), *parts)
    if isinstance(value, tuple):
        return tuple(_tensor(torch, each) for each in value)
    if isinstance(value, dtypes.dtype | dtypes.qscheme):
        return getattr(torch, str(value).rpartition(".")[2])
    if isinstance(value, Tensor):
        return _tensor(torch, value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"to_torch_state_dict: {name}: torch has nothing like {kind_of(value)}")


def _tensor(torch: Any, value: Any) -> Any:
    """A tensor, float or quantized, with memory of its own."""
    if value is None:
        return None
    value = value.detach()
    if not value.is_quantized:
        return torch.from_numpy(np.array(value.numpy(), order="C"))
    if value.dtype.bits < 8:
        return _of_few_bits(torch, value)
    integers = torch.from_numpy(np.array(value.int_repr().numpy(), order="C"))
    if not value.qscheme().is_per_channel:
        return torch._make_per_tensor_quantized_tensor(
            integers, float(value.q_scale()), int(value.q_zero_point())
        )
    scales, zero_points = _grid(torch, value)
    return torch._make_per_channel_quantized_tensor(
        integers, scales, zero_points, value.q_per_channel_axis()
    )


def _grid(torch: Any, value: Any) -> tuple[Any, Any]:
    return (
        _tensor(torch, value.q_per_channel_scales()),
        _tensor(torch, value.q_per_channel_zero_points()),
    )


def _of_few_bits(torch: Any, value: Any) -> Any:
    """A tensor of 4 or 2 bits, which ``torch`` makes of real numbers only."""
    numbers, dtype = _tensor(torch, value.dequantize()), getattr(torch, value.dtype._name)
    if not value.qscheme().is_per_channel:
        return torch.quantize_per_tensor(
            numbers, float(value.q_scale()), int(value.q_zero_point()), dtype
        )
    scales, zero_points = _grid(torch, value)
    return torch.quantize_per_channel(
        numbers, scales, zero_points, value.q_per_channel_axis(), dtype
    )


def _packed(torch: Any, packed: Any, weight: Any, bias: Any) -> Any:
    """A weight packed for ``torch.ops.quantized``."""
    ops = torch.ops.quantized
    if not isinstance(packed, PackedConv):
        return (ops.linear_prepack if weight.is_quantized else ops.linear_prepack_fp16)(
            weight, bias
        )
    geometry = [packed.stride, packed.padding, packed.dilation, packed.groups]
    kind = "conv"
    if isinstance(packed, PackedConvTranspose):
        kind = "conv_transpose"
        geometry.insert(2, packed.output_padding)
    dimensions = weight.dim() - 2
    options = [list(each) if isinstance(each, tuple | list) else each for each in geometry]
    if kind == "conv_transpose":
        options = [*options[:3], options[4], options[3]]
    return getattr(ops, f"{kind}{dimensions}{_PREPACK}")(weight, bias, *options)


def _recurrent(torch: Any, *parts: Any) -> Any:
    """The two products of a recurrent layer, packed together."""
    weight, bias, hidden_weight, hidden_bias = parts
    ops = torch.ops.quantized
    if not weight.is_quantized:
        products = [
            ops.linear_prepack_fp16(weight, bias),
            ops.linear_prepack_fp16(hidden_weight, hidden_bias),
        ]
        return ops.make_quantized_cell_params_fp16(*products)
    products = [ops.linear_prepack(weight, bias), ops.linear_prepack(hidden_weight, hidden_bias)]
    return ops.make_quantized_cell_params_dynamic(*products, bias, hidden_bias, True)
