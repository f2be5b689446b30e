"""Helpers of the quantized layers: weights from observers, checks, state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyqref import dtypes
from pyqref._typing import AnyModule, Dtype, Tensor
from pyqref.nn.module_path import module_path
from pyqref.nn.modules import Module
from pyqref.nn.quantized.integer_range import in_range_of
from pyqref.tensor.arguments import as_integer, as_number, described
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor
from pyqref.tensor.foreign import kind_of
from pyqref.tensor.quantized import quantize_per_channel, quantize_per_tensor
from pyqref.tensor.quantized.validation import check_scale, check_zero_point
from pyqref.tensor.refusal import DEQUANTIZE

__all__ = [
    "fits",
    "is_integers",
    "load_output_parameters",
    "pop_dtype",
    "pop_state",
    "quantize_weight",
    "require_float_input",
    "require_output_observer",
    "require_quantized_input",
    "require_type",
    "require_weight_tensor",
    "save_output_parameters",
    "weight_observer_of",
    "with_range_of",
]


def quantize_weight(weight: Tensor, observer: AnyModule) -> Tensor:
    """The float ``weight`` as qint8, with the parameters that ``observer`` chooses.

    The integers stay in the observer's range as they do in training.

    Raises
    ------
    ValueError
        The observer chooses parameters for another dtype.
    """
    if observer.dtype is not dtypes.qint8:
        raise ValueError(
            f"the observer of a weight must have dtype qint8, got {observer.dtype}; "
            "use default_weight_observer or default_per_channel_weight_observer in the qconfig"
        )
    weight = weight.detach().float()
    scale, zero_point = observer.calculate_qparams()
    if observer.qscheme.is_per_channel:
        quantized = quantize_per_channel(
            weight,
            scale.to(dtypes.float64),
            zero_point.to(dtypes.int64),
            int(observer.ch_axis),
            dtypes.qint8,
        )
    else:
        quantized = quantize_per_tensor(weight, float(scale), int(zero_point), dtypes.qint8)
    return in_range_of(observer, quantized)


def with_range_of(before: object, packed: Any) -> Any:
    """A new packed weight, whose layer goes on clamping to the range of the one before."""
    kept = getattr(before, "output_range", None)
    if kept is not None:
        packed.output_range = kept
    return packed


def weight_observer_of(
    cls: type, mod: AnyModule, weight: Tensor, use_precomputed_fake_quant: bool = False
) -> Module:
    """The observer of a layer's weight, after it has seen the weight.

    Parameters
    ----------
    cls
        The quantized layer that is made, for messages.
    mod
        The layer that is converted: its ``weight_fake_quant`` after
        quantization-aware training, else a new observer from its ``qconfig``.
    weight
        What it observes.
    use_precomputed_fake_quant
        Trust what ``weight_fake_quant`` has seen before.

    Raises
    ------
    ValueError
        The layer has neither.
    """
    observer = getattr(mod, "weight_fake_quant", None)
    if observer is not None:
        if not use_precomputed_fake_quant:
            observer(weight)
        return observer
    qconfig = getattr(mod, "qconfig", None)
    if qconfig is None:
        raise ValueError(
            f"{cls.__name__}.from_float: {type(mod).__name__} has no qconfig; "
            "set mod.qconfig and call quantization.prepare first"
        )
    observer = qconfig.weight()
    observer(weight)
    return observer


def require_output_observer(cls: type, mod: AnyModule) -> AnyModule:
    """Return the observer of the output of ``mod``, or raise an error.

    Raises
    ------
    ValueError
        Nothing did: the model was not prepared.
    """
    observer = getattr(mod, "activation_post_process", None)
    if observer is None:
        raise ValueError(
            f"{cls.__name__}.from_float: {type(mod).__name__} has no activation_post_process; "
            "call quantization.prepare and calibrate first"
        )
    return observer


def require_type(cls: type, mod: AnyModule, accepted: Sequence[type]) -> None:
    """Raise TypeError unless ``mod`` is of one of these very types."""
    if type(mod) not in accepted:
        wanted = ", ".join(f"{each.__module__}.{each.__name__}" for each in accepted)
        raise TypeError(
            f"{cls.__module__}.{cls.__name__}.from_float takes one of {wanted}; "
            f"got {type(mod).__module__}.{type(mod).__name__}"
        )


def require_quantized_input(
    layer: Module, input: object, allowed: Sequence[dtypes.dtype] = (dtypes.quint8,)
) -> None:
    """Raise unless ``input`` is a quantized tensor of an allowed dtype; names the layer's path.

    Layers may call it when their operation has refused the input, to say it better.
    """
    if not isinstance(input, TensorBase):
        raise TypeError(
            f"{_name(layer)} takes a quantized tensor, got a {kind_of(input)}"
        ) from None
    if not input.is_quantized:
        raise RuntimeError(
            f"{_name(layer)} takes a quantized tensor, got one of "
            f"{input.dtype}: a QuantStub is missing before it; add self.quant = QuantStub() to "
            "the float model and call it on the input, or wrap the model in QuantWrapper"
        ) from None
    if input.dtype not in allowed:
        wanted = " or ".join(str(each) for each in allowed)
        raise RuntimeError(
            f"{_name(layer)} takes a tensor of {wanted}, got one of {input.dtype}"
        ) from None


def require_weight_tensor(layer: Module, w: Tensor) -> None:
    """Raise unless ``w``, a new weight of a layer, is a tensor."""
    if not isinstance(w, TensorBase):
        raise TypeError(f"{_name(layer)}.set_weight_bias: w must be a tensor, got a {kind_of(w)}")


def require_float_input(layer: Module, input: Tensor) -> None:
    """Raise unless ``input`` is a float32 tensor; names the layer's path."""
    if not isinstance(input, TensorBase):
        raise TypeError(f"{_name(layer)} takes a float32 tensor, got a {kind_of(input)}")
    if input.dtype is not dtypes.float32:
        remedy = DEQUANTIZE if input.is_quantized else "call .float()"
        raise RuntimeError(
            f"{_name(layer)} takes a float32 tensor, got one of {input.dtype}: {remedy}"
        )


def _name(layer: Module) -> str:
    """Such as ``features.0 (QuantizedConv2d)``."""
    path = module_path(layer)
    return f"{path} ({layer._get_name()})" if path else layer._get_name()


def save_output_parameters(layer: AnyModule, destination: dict[str, Any], prefix: str) -> None:
    """Write ``scale`` (float32) and ``zero_point`` (int64) as torch does."""
    destination[prefix + "scale"] = tensor(layer.scale)
    destination[prefix + "zero_point"] = tensor(layer.zero_point)


def load_output_parameters(
    layer: AnyModule,
    state_dict: Mapping[str, Any],
    prefix: str,
    missing_keys: list[str],
    dtype: dtypes.dtype,
) -> None:
    """Read what :func:`save_output_parameters` wrote, parameters of an output of ``dtype``.

    Raises
    ------
    TypeError, ValueError
        They are no numbers, or no tensor of ``dtype`` can have them.
    """
    scale = pop_state(state_dict, prefix + "scale", missing_keys)
    zero_point = pop_state(state_dict, prefix + "zero_point", missing_keys)
    if scale is not None:
        number = as_number(scale, prefix + "scale")
        check_scale(number, prefix + "scale")
        layer.scale = number
    if zero_point is not None:
        check_zero_point(zero_point, dtype, prefix + "zero_point")
        layer.zero_point = as_integer(zero_point, prefix + "zero_point")


def pop_state(state_dict: Any, key: str, missing_keys: list[str]) -> Any:
    """Take an entry out of a state dict; None, and ``key`` is noted, if it is not there."""
    if key not in state_dict:
        missing_keys.append(key)
        return None
    return state_dict.pop(key)


def pop_dtype(
    state_dict: Mapping[str, Any],
    key: str,
    allowed: Sequence[dtypes.dtype],
    missing_keys: list[str],
    error_msgs: list[str],
) -> Dtype | None:
    """Pop the dtype of a weight from a state; return None and record why if it is not allowed."""
    dtype = pop_state(state_dict, key, missing_keys)
    if dtype is None or any(dtype is each for each in allowed):
        return dtype
    wanted = " or ".join(str(each).removeprefix("pyqref.") for each in allowed)
    error_msgs.append(f"{key} must be {wanted}, got {described(dtype)}")
    return None


def is_integers(weight: Tensor, key: str, error_msgs: list[str]) -> bool:
    """Return True if a loaded weight is a quantized tensor; otherwise record why not."""
    if isinstance(weight, TensorBase) and weight.is_quantized:
        return True
    error_msgs.append(
        f"{key} must be a quantized tensor, got {described(weight)}: it is the weight of a "
        "float layer"
    )
    return False


def fits(given: object, ours: Sequence[Any], key: str, error_msgs: list[str]) -> bool:
    """Return True if a loaded tuple can replace ``ours``; otherwise record why not.

    Weights stand at the even places and must have the same shapes; a bias may be None.
    """
    if not (
        isinstance(given, list | tuple)
        and len(given) == len(ours)
        and all(isinstance(each, TensorBase) for each in given[::2])
        and all(each is None or isinstance(each, TensorBase) for each in given[1::2])
    ):
        error_msgs.append(f"{key} must be a tuple of {len(ours)} tensors, got {given!r:.60}")
        return False
    theirs = [tuple(each.shape) for each in given[::2]]
    expected = [tuple(each.shape) for each in ours[::2]]
    if theirs != expected:
        error_msgs.append(
            f"size mismatch for {key}: shapes {theirs} in the state dict, {expected} in the model"
        )
        return False
    return True
