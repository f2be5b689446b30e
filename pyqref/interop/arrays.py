"""Values of ``torch`` and NumPy as values of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import dtypes
from pyqref.numerics.embedding import unpack_bits
from pyqref.tensor import Tensor, make_per_channel, make_per_tensor
from pyqref.tensor.base import wrap

from .._typing import AnyModule

__all__ = ["is_torch", "is_wider", "named_constant", "to_value"]

#: Floating-point numbers of ``torch`` that float32 holds exactly and no tensor here has.
_NARROW = ("torch.bfloat16", "torch.float8")
#: Packed objects that hold one weight and a bias.
_WITH_BIAS = tuple(f"{kind}PackedParamsBase" for kind in ("Linear", "Conv1d", "Conv2d", "Conv3d"))


def is_torch(value: object, name: str) -> bool:
    """Return True if ``value`` is an instance of the class ``torch.<name>``.

    Examples
    --------
    >>> is_torch(3, "Tensor")
    False
    """
    return any(
        each.__module__.split(".")[0] == "torch" and each.__name__ == name
        for each in type(value).__mro__
    )


def named_constant(value: object) -> Any:
    """The dtype, quantization scheme, memory format or layout of the same name.

    Raises
    ------
    TypeError
        There is none here.
    """
    name = str(value).removeprefix("torch.")
    found = getattr(dtypes, "bool_" if name == "bool" else name, None)
    named_only = isinstance(found, dtypes._NamedDtype)
    if named_only or not isinstance(
        found, dtypes.dtype | dtypes.qscheme | dtypes.memory_format | dtypes.layout
    ):
        raise TypeError(f"there is no {value} here")
    return found


def to_value(value: object) -> Any:
    """Return the value as an object of pyqref, with its own memory.

    Parameters
    ----------
    value
        A tensor of ``torch`` (quantized too) or of this package, a NumPy array or number, a
        dtype or scheme of ``torch``, None, a number or a string, or lists, tuples and
        dictionaries of them. Packed weights of ``torch`` become tuples of weight and bias;
        those of a recurrent layer, of both of its products. bfloat16 and the types of 8 bits
        become float32.

    Raises
    ------
    TypeError
        Something else, or elements of a type that no tensor of pyqref can hold.

    Examples
    --------
    >>> import numpy as np
    >>> to_value((np.float32([1, 2]), None))
    (tensor([1., 2.]), None)
    """
    if isinstance(value, Tensor):
        return value.detach().clone()
    if is_torch(value, "Tensor"):
        return _tensor(value)
    if is_torch(value, "ScriptObject"):
        return to_value(_packed(value))
    if isinstance(value, np.ndarray | np.generic):
        dtypes.from_numpy_dtype(value.dtype)
        return wrap(np.array(value, dtype=value.dtype.newbyteorder("="), order="C"))
    if any(is_torch(value, kind) for kind in ("dtype", "qscheme", "memory_format", "layout")):
        return named_constant(value)
    if isinstance(value, tuple | list):
        return type(value)([to_value(each) for each in value])
    if isinstance(value, dict):
        return {key: to_value(each) for key, each in value.items()}
    if value is None or isinstance(value, int | float | str | dtypes.dtype | dtypes.qscheme):
        return value
    raise TypeError(f"a {type(value).__module__}.{type(value).__name__} cannot be read")


def is_wider(value: AnyModule) -> bool:
    """Return True if a torch tensor becomes one of float32, which holds its numbers exactly."""
    return str(value.dtype).startswith(_NARROW)


def _tensor(value: Any) -> Any:
    """A tensor of ``torch``, copied."""
    if str(value.layout) != "torch.strided" or value.device.type == "meta":
        kind = "meta" if value.device.type == "meta" else str(value.layout).removeprefix("torch.")
        raise TypeError(f"a {kind} tensor cannot be read; give a dense one")
    value = value.detach().cpu()
    if value.is_quantized:
        return _quantized(value)
    if is_wider(value):
        value = value.float()
    dtype = named_constant(value.dtype)
    array = value.resolve_conj().resolve_neg().numpy()
    return wrap(np.array(array, dtype=dtype.numpy_dtype, order="C"))


def _quantized(value: Any) -> Any:
    """A quantized tensor of ``torch``: the same integers, scales and zero points."""
    dtype = named_constant(value.dtype)
    integers = np.array(value.int_repr().numpy(), order="C")
    if dtype.bits < 8:  # several to a byte, over the ends of the rows
        integers = unpack_bits(integers.reshape(1, -1), dtype.bits)
        integers = integers[0, : value.numel()].reshape(tuple(value.shape))
    if str(value.qscheme()).startswith("torch.per_tensor"):
        return make_per_tensor(integers, value.q_scale(), value.q_zero_point(), dtype)
    return make_per_channel(
        integers,
        value.q_per_channel_scales().numpy().copy(),
        value.q_per_channel_zero_points().numpy().copy(),
        value.q_per_channel_axis(),
        dtype,
        named_constant(value.qscheme()),
    )


def _packed(value: Any) -> Any:
    """The weights and biases inside a packed object of ``torch``."""
    name = str(value._type()).rpartition(".")[2]
    if name in _WITH_BIAS:
        return tuple(value.unpack())
    if name == "EmbeddingPackedParamsBase":
        return value.unpack()
    if name == "CellParamsBase":
        (_, _, _, _, products), _ = value.__getstate__()
        return tuple(each for product in products for each in product.unpack())
    raise TypeError(f"a packed object of type {name} cannot be read")
