"""The two packed weights of a recurrent cell, and the checks of what replaces them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref import dtypes
from pyqref._typing import Dtype, PackedLinear, Tensor
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.utils import fits, pop_state
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import described
from pyqref.tensor.creation import zeros
from pyqref.tensor.dispatch import require_tensor
from pyqref.tensor.quantized import make_per_tensor

from .....ops.quantized.linear_dynamic import PackedLinearFloat16

__all__ = [
    "PackedParameter",
    "PackedProjections",
    "empty_weight",
    "part_of",
    "prepack",
    "require_state",
    "weight_dtype",
]


def weight_dtype(dtype: Dtype | None) -> dtypes.dtype:
    """The dtype of a dynamic layer's weights.

    Raises
    ------
    ValueError
        It is neither qint8 nor float16.
    """
    if dtype is not dtypes.qint8 and dtype is not dtypes.float16:
        raise ValueError(f"the weight's dtype must be qint8 or float16, got {described(dtype)}")
    return dtype


def part_of(name: str, given: object, key: str, shape: tuple[int, ...] | None) -> Tensor:
    """An entry of what ``set_weight_bias`` takes: a tensor of this shape; a bias may be None.

    Without a shape the entry is a dictionary.

    Raises
    ------
    TypeError
        ``given`` is no dictionary, or the entry no tensor.
    ValueError
        The entry is missing or has another shape.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"{name}: weight_bias_dict must be a dictionary, got {described(given)}")
    if key not in given:
        raise ValueError(f"{name}: weight_bias_dict must have {key!r}, got {list(given)!r:.60}")
    value = given[key]
    if shape is None or (value is None and len(shape) == 1):
        return value
    require_tensor(name, key, value)
    if tuple(value.shape) != shape:
        raise ValueError(f"{name}: {key} must have shape {shape}, got {tuple(value.shape)}")
    bias = len(shape) == 1
    allowed = (dtypes.float32,) if bias else (dtypes.qint8, dtypes.float32, dtypes.float16)
    if value.dtype not in allowed:
        wanted = " or ".join(str(each) for each in allowed)
        raise ValueError(f"{name}: {key} must have dtype {wanted}, got {value.dtype}")
    if value.is_quantized and value.qscheme().is_per_channel and value.q_per_channel_axis():
        raise ValueError(
            f"{name}: {key} must be quantized along axis 0, got {value.q_per_channel_axis()}"
        )
    return value


def require_state(name: str, argument: str, state: Tensor) -> None:
    """Raise unless an initial state is a float32 tensor."""
    require_tensor(name, argument, state)
    if state.dtype is not dtypes.float32:
        raise RuntimeError(f"{name}: {argument} must be a float32 tensor, got {state.dtype}")


def prepack(weight: Tensor, bias: Tensor | None) -> PackedLinear | PackedLinearFloat16:
    """Pack a qint8 weight, or a float32 or float16 one to be kept as float16."""
    if weight.is_quantized:
        return ops.linear_prepack(weight, bias)
    return ops.linear_prepack_fp16(weight.float(), bias)


def empty_weight(rows: int, columns: int, dtype: Dtype | None) -> Tensor:
    """A zero weight of a new layer."""
    if dtype is dtypes.float16:
        return zeros(rows, columns)
    integers = zeros(rows, columns, dtype=dtypes.int8)._array
    return make_per_tensor(integers, 1.0, 0, dtypes.qint8)


class PackedProjections:
    """The packed weights of one layer in one direction: of the input, of the hidden state."""

    def __init__(
        self, weight_ih: Tensor, bias_ih: Tensor | None, weight_hh: Tensor, bias_hh: Tensor | None
    ) -> None:
        self.of_input = prepack(weight_ih, bias_ih)
        self.of_hidden = prepack(weight_hh, bias_hh)

    def unpack(self) -> tuple[Any, Any, Any, Any]:
        """``weight_ih, bias_ih, weight_hh, bias_hh``."""
        return (*self.of_input.unpack(), *self.of_hidden.unpack())


class PackedParameter(Module):
    """The packed weights of one layer in one direction.

    In a state dict: ``param``, the tuple (weight_ih, bias_ih, weight_hh, bias_hh).
    """

    def __init__(self, param: PackedProjections) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.param.unpack()

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = prefix + "param"
        given = pop_state(state_dict, key, missing_keys)
        if given is not None and fits(given, self.param.unpack(), key, error_msgs):
            self.param = PackedProjections(*given)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
