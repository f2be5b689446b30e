"""Base class of the reference layers: weights that carry their grid."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Dtype, Tensor
from pyqref.backends import quantized as settings
from pyqref.nn.loaded_grid import integers_of, require_loaded_grid
from pyqref.nn.modules import Module
from pyqref.nn.quantized.integer_range import clamp_integers
from pyqref.tensor.arguments import as_flag, as_integer, described
from pyqref.tensor.base import TensorBase
from pyqref.tensor.creation import tensor
from pyqref.tensor.quantized import quantize_per_channel, quantize_per_tensor

__all__ = ["DEFAULT_WEIGHT_QPARAMS", "ReferenceQuantizedModule", "on_grid"]

#: The grid of a weight that was given without one, as in torch.
DEFAULT_WEIGHT_QPARAMS: dict[str, Any] = {
    "qscheme": dtypes.per_tensor_affine,
    "dtype": dtypes.quint8,
    "scale": 1.0,
    "zero_point": 0,
}

_RANGE = ("quant_min", "quant_max")

_SCHEMES = {
    None: None,
    dtypes.per_tensor_affine: dtypes.per_tensor_affine,
    dtypes.per_tensor_symmetric: dtypes.per_tensor_affine,
    dtypes.per_channel_affine: dtypes.per_channel_affine,
    dtypes.per_channel_symmetric: dtypes.per_channel_affine,
    dtypes.per_channel_affine_float_qparams: dtypes.per_channel_affine_float_qparams,
}


class ReferenceQuantizedModule(Module):
    """Base of the reference layers; it stands before the float layer among the bases.

    For each weight ``w`` in :meth:`_weights` there are the attributes ``w_qscheme`` and
    ``w_dtype`` and, if the scheme is not None, the buffers ``w_scale``, ``w_zero_point``
    and ``w_axis``. The range of its integers, where one was given, is in ``w_quant_min``
    and ``w_quant_max``; torch's layers do not keep it, and neither do state dicts.
    """

    _IS_REFERENCE: ClassVar[bool] = True
    #: Whether scheme and dtype are in the state dict, as they are for a single weight.
    _saves_scheme: ClassVar[bool] = True

    def _weights(self) -> tuple[str, ...]:
        """Names of the weights that have a grid."""
        return ("weight",)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}(Reference)"

    def _init_weight_qparams(self, name: str, given: Mapping[str, Any] | None) -> None:
        """Take over the grid of one weight.

        Parameters
        ----------
        name
            Of the weight.
        given
            ``{"qscheme", "dtype", "scale", "zero_point", "axis"}``; the last for schemes
            per channel only, and the last three not at all if the scheme is None. With
            ``quant_min`` and ``quant_max`` the integers stay within that range, except under
            the conventions of torch, which does not look at them.
        """
        qparams = DEFAULT_WEIGHT_QPARAMS if given is None else given
        where = f"{self._get_name()}: weight_qparams: the parameters of {name}"
        if not isinstance(qparams, Mapping) or not {"qscheme", "dtype"} <= set(qparams):
            raise ValueError(
                f"{where} must be a dictionary with qscheme, dtype, scale, zero_point (and axis), "
                f"got {described(qparams)}"
            )
        _refuse_decomposed(where, qparams)
        scheme, dtype = qparams["qscheme"], qparams["dtype"]
        if not isinstance(scheme, dtypes.qscheme | None) or scheme not in _SCHEMES:
            raise ValueError(f"{where}: qscheme {described(scheme)} is not supported")
        if not isinstance(dtype, dtypes.dtype):
            raise TypeError(f"{where}: dtype must be a dtype, got {described(dtype)}")
        scheme = _SCHEMES[scheme]
        setattr(self, f"{name}_qscheme", scheme)
        setattr(self, f"{name}_dtype", dtype)
        for end, value in _integer_range(where, qparams, scheme).items():
            setattr(self, f"{name}_{end}", value)
        if scheme is None:
            return
        wanted = {"scale", "zero_point"} | ({"axis"} if scheme.is_per_channel else set())
        if missing := wanted - set(qparams):
            raise ValueError(f"{where} lack {', '.join(sorted(missing))}")
        floats = scheme is dtypes.per_channel_affine_float_qparams
        zero_point_dtype = dtypes.float32 if floats else dtypes.int32
        wanted_dtypes = {"scale": dtypes.float32, "zero_point": zero_point_dtype}
        for part, part_dtype in (wanted_dtypes | {"axis": dtypes.int32}).items():
            given_part = qparams.get(part, 0)
            if part == "axis":
                given_part = as_integer(given_part, f"{where}: axis")
            value = _as_buffer(given_part, part_dtype, f"{where}: {part}")
            if value.numel() != 1 and (part == "axis" or not scheme.is_per_channel):
                raise ValueError(f"{where}: {part} must be one number, got {described(value)}")
            self.register_buffer(f"{name}_{part}", value)

    def _init_each_weight(self, given: Mapping[str, Any] | None) -> None:
        """Keep the grids of several weights: None, or one for each by the weight's name."""
        where = f"{self._get_name()}: weight_qparams_dict"
        if given is not None:
            if not isinstance(given, Mapping):
                raise TypeError(f"{where} must be a dictionary, got {described(given)}")
            _refuse_decomposed(where, given)
            if missing := [name for name in self._weights() if name not in given]:
                raise ValueError(f"{where} must have {missing[0]!r}")
        for name in self._weights():
            self._init_weight_qparams(name, None if given is None else given[name])

    def _quantized(self, name: str) -> Any:
        """One weight on its grid."""
        scheme = getattr(self, f"{name}_qscheme")
        dtype = getattr(self, f"{name}_dtype")
        weight = getattr(self, name)
        if scheme is None:
            return on_grid(weight, None, dtype)
        parts = [getattr(self, f"{name}_{part}") for part in ("scale", "zero_point", "axis")]
        quantized = on_grid(weight, scheme, dtype, *parts)
        chosen = self._chosen_range(name)
        return clamp_integers(quantized, *chosen.values()) if chosen else quantized

    def _chosen_range(self, name: str) -> dict[str, int]:
        """The range of the integers of one weight; empty if none was chosen."""
        ends = {end: vars(self).get(f"{name}_{end}") for end in _RANGE}
        return {end: value for end, value in ends.items() if value is not None}

    def _rounded(self, name: str) -> Any:
        """One weight, rounded to its grid, in float."""
        quantized = self._quantized(name)
        return quantized.dequantize() if quantized.is_quantized else quantized.float()

    def _float_twin(self) -> Any:
        """The layer with rounded weights in the place of its own, for one computation."""
        twin = copy.copy(self)
        rounded = {name: self._rounded(name) for name in self._weights()}
        twin.__dict__["_parameters"] = {**self._parameters, **rounded}
        return twin

    def _copy_parameters(self, source: Any) -> Any:
        """Share the parameters of a float layer; returns this layer."""
        for name, parameter in source._parameters.items():
            self._parameters[name] = parameter
        return self.train(source.training)

    def get_weight(self) -> Tensor:
        """The weight rounded to its grid, in float: what the layer computes with."""
        return self._rounded("weight")

    def get_quantized_weight(self) -> Tensor:
        """The weight as a quantized tensor."""
        return self._quantized("weight")

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        if self._saves_scheme:
            for name in self._weights():
                destination[f"{prefix}{name}_qscheme"] = getattr(self, f"{name}_qscheme")
                destination[f"{prefix}{name}_dtype"] = getattr(self, f"{name}_dtype")

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
        for name in self._weights():
            self._load_grid(state_dict, prefix, name)
            scheme, dtype = getattr(self, f"{name}_qscheme"), getattr(self, f"{name}_dtype")
            floats = scheme is dtypes.per_channel_affine_float_qparams
            keys = f"{prefix}{name}_scale", f"{prefix}{name}_zero_point"
            require_loaded_grid(state_dict, *keys, None if floats else integers_of(dtype))
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def _load_grid(self, state_dict: Any, prefix: str, name: str) -> None:
        """Take scheme and dtype, and make room for a grid of another form."""
        if not self._saves_scheme or f"{prefix}{name}_qscheme" not in state_dict:
            return
        scheme = state_dict.pop(f"{prefix}{name}_qscheme")
        dtype = state_dict.pop(f"{prefix}{name}_dtype", getattr(self, f"{name}_dtype"))
        parts = ("scale", "zero_point", "axis")
        given = {
            part: state_dict[f"{prefix}{name}_{part}"]
            for part in parts
            if f"{prefix}{name}_{part}" in state_dict
        }
        if dtype is getattr(self, f"{name}_dtype"):
            given.update(self._chosen_range(name))
        for part in parts:
            self._buffers.pop(f"{name}_{part}", None)
        self._init_weight_qparams(name, {"qscheme": scheme, "dtype": dtype, **given})


def _integer_range(where: str, qparams: Mapping[str, Any], scheme: Any) -> dict[str, int | None]:
    """``quant_min`` and ``quant_max`` as given; None if not given, or not looked at."""
    if scheme is None or settings.conventions == "torch":
        return dict.fromkeys(_RANGE)
    given = {end: qparams.get(end) for end in _RANGE}
    if list(given.values()).count(None) == 1:
        raise ValueError(f"{where}: give quant_min and quant_max both or neither, got {given}")
    return {
        end: None if value is None else as_integer(value, f"{where}: {end}")
        for end, value in given.items()
    }


def _refuse_decomposed(where: str, qparams: Mapping[str, Any]) -> None:
    """Raise if a grid asks for ``is_decomposed``: operations on plain integers.

    Raises
    ------
    TypeError
        It is no flag.
    NotImplementedError
        It is True.
    """
    if as_flag(qparams.get("is_decomposed", False), f"{where}: is_decomposed"):
        raise NotImplementedError(
            f"{where}: is_decomposed must be False, got True: reference layers compute with "
            "quantized tensors, not with decomposed operations on integers"
        )


def _as_buffer(value: Any, dtype: dtypes.dtype, name: str) -> Any:
    try:
        made: Any = value if isinstance(value, TensorBase) else tensor(value)
    except (TypeError, ValueError, RuntimeError):
        made = None
    if made is None or made.is_quantized:
        raise TypeError(f"{name} must be a number or a tensor of numbers, got {described(value)}")
    return made.detach().clone().to(dtype)


def on_grid(
    weight: Tensor,
    scheme: object,
    dtype: Dtype,
    scale: Any = None,
    zero_point: Any = None,
    axis: Any = None,
) -> Tensor:
    """A float weight on a grid: quantized, or float16, or as it is for any other dtype.

    Parameters
    ----------
    weight
        float32.
    scheme
        None, ``per_tensor_affine``, ``per_channel_affine`` or
        ``per_channel_affine_float_qparams``.
    dtype
        quint8, qint8 or qint32 for a scheme; with None, float16 or any other.
    scale, zero_point, axis
        The grid.
    """
    weight = weight.detach()
    if scheme is None:
        return weight.to(dtypes.float16) if dtype is dtypes.float16 else weight
    if not dtype.is_quantized:
        raise ValueError(f"a weight with scheme {scheme} must have a quantized dtype, got {dtype}")
    if scheme is dtypes.per_tensor_affine:
        return quantize_per_tensor(weight, float(scale), int(zero_point), dtype)
    if scheme is dtypes.per_channel_affine:
        return quantize_per_channel(
            weight, scale.to(dtypes.float64), zero_point.to(dtypes.int64), int(axis), dtype
        )
    return quantize_per_channel(
        weight, scale.to(dtypes.float32), zero_point.to(dtypes.float32), int(axis), dtype
    )
