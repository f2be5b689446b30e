"""Constructors of the allowed names: tensors, parameters, sizes, sets, and NumPy's values."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import dtypes
from ...numerics.embedding import unpack_bits
from ...tape import Array
from ...tensor import Tensor
from ...tensor.base import TensorBase, wrap
from ...tensor.parameter import Parameter
from ...tensor.quantized import make_per_channel, make_per_tensor
from ...tensor.size import Size
from ..errors import FileError
from .inert import Call, Named, Pairs, short
from .numpy_values import numpy_array, numpy_buffer, numpy_dtype, numpy_scalar
from .packed import script_object
from .storages import is_count
from .values import Builder

__all__ = ["CONSTRUCTORS"]

_QUANTIZED = {each._name: each for each in (dtypes.qint8, dtypes.quint8, dtypes.qint32)}
_QUANTIZED |= {each._name: each for each in (dtypes.quint4x2, dtypes.quint2x4)}


def _arguments(builder: Builder, call: Call, where: str, least: int, most: int) -> list[Any]:
    """The arguments of a call, None for those that are not there."""
    if not least <= len(call.args) <= most:
        builder.refuse(where, f"calls {call.name} with {len(call.args)} arguments")
    return [*call.args, *[None] * (most - len(call.args))]


def _flag(builder: Builder, value: Any, where: str) -> bool:
    if value is None or type(value) is bool:
        return bool(value)
    return builder.refuse(where, f"has requires_grad {short(value)}")


def _no_hooks(builder: Builder, hooks: Any, where: str) -> None:
    if hooks is not None and not (isinstance(hooks, Pairs) and not hooks.pairs):
        builder.refuse(where, "has backward hooks, which are functions")


def _view(
    builder: Builder, storage: Any, dtype: str | None, place: list[Any], where: str
) -> tuple[str, Array]:
    name, array = builder.storages.array(storage, dtype, builder.at(where))
    if name in ("quint4x2", "quint2x4"):
        return name, _unpacked(builder, array, _QUANTIZED[name].bits, place, where)
    offset, size, stride = place
    return name, builder.storages.view(array, offset, size, stride, builder.at(where))


def _unpacked(builder: Builder, array: Array, bits: int, place: list[Any], where: str) -> Array:
    """The integers of quint4x2 or quint2x4: several a byte, over the ends of the rows."""
    offset, size, stride = place
    integers = unpack_bits(array.reshape(1, -1), bits)[0]
    builder.storages.view(integers, offset, size, stride, builder.at(where))  # the checks
    numbers = int(np.prod(size, dtype=np.int64))
    contiguous = np.empty(size, np.uint8).strides
    if offset or tuple(stride) != contiguous:
        builder.refuse(where, f"is a view of {bits}-bit integers, which torch does not have")
    return integers[:numbers].reshape(size)


def _tensor(builder: Builder, call: Call, where: str) -> Any:
    """``_rebuild_tensor(storage, offset, size, stride)``, versions 1 to 3."""
    version = 3 if call.name.endswith("_v3") else 2
    given = _arguments(builder, call, where, 4, 6 + (version == 3) + 1)
    storage, offset, size, stride, requires_grad, hooks = given[:6]
    dtype = None
    if version == 3:
        dtype = given[6].text.removeprefix("torch.") if isinstance(given[6], Named) else None
        if dtype is None:
            builder.refuse(where, f"has the dtype {short(given[6])}")
    if given[-1] is not None and not (isinstance(given[-1], Pairs) and not given[-1].pairs):
        builder.refuse(where, f"has the metadata {short(given[-1])}, such as a complex tensor's")
    _no_hooks(builder, hooks, where)
    place = [offset, _plain_size(size), _plain_size(stride)]
    name, array = _view(builder, storage, dtype, place, where)
    if name in _QUANTIZED:
        builder.refuse(where, f"has elements of {name}, but neither scale nor zero point")
    needs_gradient = _flag(builder, requires_grad, where)
    if needs_gradient and array.dtype.kind != "f":
        builder.refuse(where, f"is of {name} and cannot require a gradient")
    tensor = wrap(array)
    tensor.requires_grad = needs_gradient
    return tensor


def _plain_size(value: Any) -> Any:
    """A ``torch.Size`` or a list of TorchScript, as a tuple."""
    if isinstance(value, Call) and value.name == "torch.Size" and len(value.args) == 1:
        value = value.args[0]
    return tuple(value) if isinstance(value, list) else value


def _parameter(builder: Builder, call: Call, where: str) -> Any:
    """``_rebuild_parameter(tensor, requires_grad, hooks)``, and with a state."""
    data, requires_grad, hooks, state = _arguments(builder, call, where, 1, 4)
    if "_rebuild_parameter" in call.name:
        _no_hooks(builder, hooks, where)
    if state is not None and not (isinstance(state, Pairs) and not state.pairs):
        builder.notes.append(f"{where}: attributes of the parameter are left out")
    tensor = builder.build(data, where, 1)
    if not isinstance(tensor, Tensor):
        builder.refuse(where, f"is a parameter of {short(tensor)}")
    if tensor.is_quantized:
        return tensor
    return Parameter(tensor.detach(), requires_grad=_flag(builder, requires_grad, where))


def _from_type(builder: Builder, call: Call, where: str) -> Any:
    """``_rebuild_from_type_v2(function, type, args, state)`` of a tensor with attributes."""
    function, kind, args, state = _arguments(builder, call, where, 4, 4)
    allowed = ("torch.Tensor", "torch.nn.parameter.Parameter")
    if not isinstance(function, Named) or not isinstance(args, tuple):
        builder.refuse(where, f"calls {short(function)}")
    if not function.text.startswith("torch._utils._rebuild_"):
        builder.refuse(where, f"calls {function.text}")
    if not isinstance(kind, Named) or kind.text not in allowed:
        builder.refuse(where, "is a tensor of another class; save a plain one instead")
    if state is not None and not (isinstance(state, Pairs) and not state.pairs):
        builder.notes.append(f"{where}: attributes of the tensor are left out")
    return builder.build(Call(function.text, args), where, 1)


def _quantized(builder: Builder, call: Call, where: str) -> Any:
    """``_rebuild_qtensor(storage, offset, size, stride, quantizer, requires_grad, hooks)``."""
    storage, offset, size, stride, quantizer, requires_grad, hooks = _arguments(
        builder, call, where, 5, 7
    )
    _no_hooks(builder, hooks, where)
    if _flag(builder, requires_grad, where):
        builder.refuse(where, "is quantized and cannot require a gradient")
    name, array = _view(
        builder, storage, None, [offset, _plain_size(size), _plain_size(stride)], where
    )
    if name not in _QUANTIZED or not isinstance(quantizer, tuple) or len(quantizer) not in (3, 4):
        builder.refuse(where, f"has elements of {name} and the quantizer {short(quantizer)}")
    scheme = quantizer[0].text if isinstance(quantizer[0], Named) else ""
    try:
        if len(quantizer) == 3 and scheme.startswith("torch.per_tensor_"):
            return _per_tensor(array, quantizer, _QUANTIZED[name])
        if len(quantizer) == 4 and scheme.startswith("torch.per_channel_"):
            scales, zero_points = (
                _numbers(builder, each, where, what)
                for each, what in zip(quantizer[1:3], ("scales", "zero points"), strict=True)
            )
            if not is_count(quantizer[3]):
                raise ValueError(f"axis must be an int, got {short(quantizer[3])}")
            floating = zero_points.dtype.kind == "f"
            return make_per_channel(
                array,
                scales,
                zero_points,
                quantizer[3],
                _QUANTIZED[name],
                dtypes.per_channel_affine_float_qparams if floating else dtypes.per_channel_affine,
            )
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        raise FileError(f"{builder.at(where)}: {error}") from error
    return builder.refuse(where, f"has the quantizer {short(quantizer)}")


def _per_tensor(array: Array, quantizer: tuple[Any, ...], dtype: dtypes.dtype) -> Any:
    _, scale, zero_point = quantizer
    if type(scale) not in (float, int) or type(zero_point) is not int:
        raise TypeError(f"scale and zero_point must be numbers, got {short(quantizer[1:])}")
    return make_per_tensor(array, scale, zero_point, dtype)


def _numbers(builder: Builder, value: Any, where: str, what: str) -> Array:
    """Scales or zero points: a tensor of one dimension, in old files a list."""
    made = builder.build(value, where, 1)
    if isinstance(made, list) and all(type(each) in (int, float) for each in made):
        return np.array(made)
    if not isinstance(made, TensorBase) or made.is_quantized or made._array.ndim != 1:
        builder.refuse(where, f"has {what} {short(made)}")
    return np.array(made._array)


def _size(builder: Builder, call: Call, where: str) -> Any:
    """``torch.Size((1, 2))``."""
    given = _plain_size(_arguments(builder, call, where, 1, 1)[0])
    if not isinstance(given, tuple) or not all(type(each) is int for each in given):
        builder.refuse(where, f"is a torch.Size of {short(given)}")
    return Size(given)


def _device(builder: Builder, call: Call, where: str) -> Any:
    """Everything is on the CPU here, and it is told where the file says otherwise."""
    kind = _arguments(builder, call, where, 1, 2)[0]
    if not isinstance(kind, str):
        builder.refuse(where, f"is a torch.device of {short(kind)}")
    if kind.partition(":")[0] != "cpu":
        builder.notes.append(f"{where} is the device {kind[:40]!r}: it is given as the CPU")
    return dtypes.device("cpu")


def _layout(builder: Builder, call: Call, where: str) -> Any:
    if call.args != ("torch.strided",):
        builder.refuse(where, f"is the layout {short(call.args)}; save a dense tensor instead")
    return dtypes.strided


def _bytes(builder: Builder, call: Call, where: str) -> Any:
    """Bytes, as protocol 2 writes them: a text in Latin-1."""
    given = _arguments(builder, call, where, 2, 2)
    if type(given[0]) is not str or given[1] not in ("latin1", "latin-1"):
        builder.refuse(where, f"calls _codecs.encode{short(call.args)}: only latin1 is read")
    try:
        return given[0].encode("latin1")
    except UnicodeEncodeError as error:
        return builder.refuse(where, f"has bytes that are none: {error}")


def _bytearray(builder: Builder, call: Call, where: str) -> Any:
    given = builder.build(_arguments(builder, call, where, 0, 1)[0] or b"", where, 1)
    if type(given) is not bytes:
        builder.refuse(where, f"is a bytearray of {short(given)}")
    return bytearray(given)


def _complex(builder: Builder, call: Call, where: str) -> Any:
    if len(call.args) != 2 or not all(type(each) is float for each in call.args):
        builder.refuse(where, f"is a complex number of {short(call.args)}")
    return complex(*call.args)


def _members(kind: Callable[[Any], Any]) -> Callable[[Builder, Call, str], Any]:
    """A set or frozenset of plain values."""

    def make(builder: Builder, call: Call, where: str) -> Any:
        given = _arguments(builder, call, where, 0, 1)[0]
        values = builder.build([] if given is None else given, where, 1)
        if not isinstance(values, list | tuple) or not all(
            value is None
            or type(value) in (bool, float, str, bytes)
            or (type(value) is int and value.bit_length() <= 64)
            for value in values
        ):
            builder.refuse(where, f"is a set of {short(values)}")
        return kind(values)

    return make


def _namespace(builder: Builder, call: Call, where: str) -> Any:
    """``argparse.Namespace``: attributes without methods."""
    _arguments(builder, call, where, 0, 0)
    state = {} if call.state is None else builder.build(call.state, where, 1)
    if type(state) is not dict or not all(
        isinstance(name, str) and not name.startswith("__") for name in state
    ):
        builder.refuse(where, f"is an argparse.Namespace of {short(state)}")
    made = argparse.Namespace()
    made.__dict__.update(state)
    return made


def _list(builder: Builder, call: Call, where: str) -> Any:
    """``build_intlist([1, 2])`` and its like of TorchScript."""
    values = builder.build(_arguments(builder, call, where, 1, 2)[0], where, 1)
    tagged = call.name.endswith("restore_type_tag") and isinstance(values, dict)
    if not isinstance(values, list) and not tagged:
        builder.refuse(where, f"is a list of {short(values)}")
    return values


def _script_object(builder: Builder, call: Call, where: str) -> Any:
    """A packed weight in a file of ``torch.save``: its state names the class."""
    state = call.state
    if call.args or not isinstance(state, tuple) or len(state) != 2:
        builder.refuse(where, f"is a torch.ScriptObject with the state {short(state)}")
    if not isinstance(state[1], str):
        builder.refuse(where, f"is a torch.ScriptObject of the class {short(state[1])}")
    return script_object(builder, state[1], state[0], where)


CONSTRUCTORS: dict[str, Callable[[Builder, Call, str], Any]] = {
    "torch._utils._rebuild_tensor": _tensor,
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch.nn.parameter.Parameter": _parameter,
    "torch._utils._rebuild_qtensor": _quantized,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.ScriptObject": _script_object,
    "torch.serialization._get_layout": _layout,
    "torch.jit._pickle.build_boollist": _list,
    "torch.jit._pickle.build_doublelist": _list,
    "torch.jit._pickle.build_intlist": _list,
    "torch.jit._pickle.build_tensorlist": _list,
    "torch.jit._pickle.restore_type_tag": _list,
    "builtins.set": _members(set),
    "builtins.frozenset": _members(frozenset),
    "builtins.bytearray": _bytearray,
    "builtins.complex": _complex,
    "argparse.Namespace": _namespace,
    "_codecs.encode": _bytes,
    "numpy.dtype": numpy_dtype,
    "numpy._core.multiarray.scalar": numpy_scalar,
    "numpy._core.multiarray._reconstruct": numpy_array,
    "numpy._core.numeric._frombuffer": numpy_buffer,
}
