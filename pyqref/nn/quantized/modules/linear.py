"""The quantized linear layer."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Dtype, Tensor
from pyqref.nn.conversion_checks import sizes_of
from pyqref.nn.intrinsic.qat.modules.linear_bn import LinearBn1d as QATLinearBn1d
from pyqref.nn.modules import Linear as FloatLinear
from pyqref.nn.modules import Module
from pyqref.nn.modules.linear import NonDynamicallyQuantizableLinear
from pyqref.nn.qat.modules.linear import Linear as QATLinear
from pyqref.nn.utils.fusion import fuse_linear_bn_weights
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.creation import zeros
from pyqref.tensor.quantized import make_per_tensor

from .utils import (
    fits,
    is_integers,
    load_output_parameters,
    pop_dtype,
    pop_state,
    require_quantized_input,
    require_weight_tensor,
    save_output_parameters,
    with_range_of,
)
from .weighted import WeightedQuantizedModule

__all__ = ["Linear", "LinearPackedParams"]


class LinearPackedParams(Module):
    """The weight and the bias of a linear layer, packed for the engine.

    Parameters
    ----------
    dtype
        Of the weight: qint8 or float16 (the latter for dynamic layers only).

    Notes
    -----
    In a state dict: ``dtype``, and ``_packed_params``, the pair (weight, bias).

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> weight, bias = layer._packed_params._weight_bias()
    >>> weight.dtype, weight.shape, bias.shape
    (pyqref.qint8, pyqref.Size([1, 2]), pyqref.Size([1]))
    """

    _version = 3

    def __init__(self, dtype: Dtype = dtypes.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype is dtypes.qint8:
            weight: Any = make_per_tensor(zeros(1, 1, dtype=dtypes.int8)._array, 1.0, 0, dtype)
        elif dtype is dtypes.float16:
            weight = zeros(1, 1)
        else:
            raise ValueError(f"the weight's dtype must be qint8 or float16, got {dtype}")
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight: Tensor, bias: Tensor | None) -> None:
        """Pack a weight ``(N, K)`` and a bias ``(N,)`` or None."""
        pack = ops.linear_prepack if self.dtype is dtypes.qint8 else ops.linear_prepack_fp16
        before = self.__dict__.get("_packed_params")
        self._packed_params: Any = with_range_of(before, pack(weight, bias))

    def _weight_bias(self) -> tuple[Any, Any]:
        weight, bias = self._packed_params.unpack()
        return weight, bias

    def forward(self, x: Tensor) -> Tensor:
        """The input itself."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

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
        _as_version_3(state_dict, prefix, error_msgs)
        allowed = (dtypes.qint8, dtypes.float16)
        dtype = pop_dtype(state_dict, prefix + "dtype", allowed, missing_keys, error_msgs)
        key = prefix + "_packed_params"
        packed = pop_state(state_dict, key, missing_keys)
        if packed is not None and fits(packed, self._weight_bias(), key, error_msgs):
            self.dtype = self.dtype if dtype is None else dtype
            self.set_weight_bias(*packed)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def __repr__(self) -> str:
        return repr(self._weight_bias())


def _as_version_3(state_dict: Any, prefix: str, error_msgs: list[str]) -> None:
    """Bring the states that torch wrote before 1.5 into the form of today, in place.

    Version 1 has ``weight`` and ``bias`` beside ``scale``, version 2 under
    ``_packed_params``, with a ``dtype``.
    """
    if prefix + "_packed_params" in state_dict:
        return
    for where in (prefix, prefix.removesuffix("_packed_params.")):
        if where + "weight" in state_dict:
            pair = state_dict.pop(where + "weight"), state_dict.pop(where + "bias", None)
            dtype = state_dict.setdefault(prefix + "dtype", dtypes.qint8)
            if dtype is dtypes.qint8 and not is_integers(pair[0], where + "weight", error_msgs):
                return
            state_dict[prefix + "_packed_params"] = pair
            return


class Linear(WeightedQuantizedModule):
    r"""Linear layer on integers: quint8 in and out, qint8 weight, float bias.

    Equations ``eq-linear-accumulator`` and ``eq-requantize``:

    .. math:: q_y = \mathrm{sat}\Big(\mathrm{rne}\big(
              M \sum_k (q_{x,k} - z_x)(q_{w,k} - z_w) + b / s_y\big) + z_y\Big),
              \qquad M = s_x s_w / s_y

    The engine decides in which order bias and multiplier are applied.

    Parameters
    ----------
    in_features, out_features : int
    bias_ : bool
        Whether there is a bias; it is float32 and starts at zero.
    dtype
        Of the weight: qint8.

    Attributes
    ----------
    scale : float
        Of the output; 1.0 until set.
    zero_point : int
        Of the output, in [0, 255]; 0 until set.

    Raises
    ------
    RuntimeError
        The input is not quantized, is not quint8, has one dimension, or has another
        number of features. The message names the layer's path in the model.

    Notes
    -----
    Shapes: ``(*, in_features) -> (*, out_features)``, at least two dimensions, of any
    length, zero included. A new layer has a zero weight (torch leaves memory as it
    finds it); ``set_weight_bias``, ``load_state_dict`` or ``from_float`` fill it.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Linear(20, 30)
    >>> input = pyqref.randn(128, 20)
    >>> input = pyqref.quantize_per_tensor(input, 1.0, 0, pyqref.quint8)
    >>> tuple(m(input).size())
    (128, 30)
    >>> m
    QuantizedLinear(in_features=20, out_features=30, scale=1.0, zero_point=0, qscheme=pyqref.per_tensor_affine)
    """  # noqa: E501

    _version = 3
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (
        FloatLinear,
        NonDynamicallyQuantizableLinear,
        QATLinear,
        QATLinearBn1d,
    )
    _SIZE = "in_features"
    _operation: ClassVar[Any] = staticmethod(ops.linear)
    _fold: ClassVar[Any] = staticmethod(fuse_linear_bn_weights)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias_: bool = True,
        dtype: Dtype = dtypes.qint8,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        features = sizes_of(name, in_features=in_features, out_features=out_features)
        self.in_features, self.out_features = in_features, out_features = features
        bias_ = as_flag(bias_, f"{name}: bias")
        self.scale = 1.0
        self.zero_point = 0
        self._packed_params = LinearPackedParams(dtype)
        if dtype is dtypes.qint8:
            integers = zeros(out_features, in_features, dtype=dtypes.int8)._array
            weight: Any = make_per_tensor(integers, 1.0, 0, dtypes.qint8)
        else:
            weight = zeros(out_features, in_features)
        self.set_weight_bias(weight, zeros(out_features) if bias_ else None)

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        """Features, output parameters and scheme of the weight."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"scale={self.scale}, zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def forward(self, x: Tensor) -> Tensor:
        """The quantized output, with this layer's scale and zero point."""
        packed = self._modules["_packed_params"]._packed_params
        try:
            return self._operation(x, packed, self.scale, self.zero_point)
        except (TypeError, RuntimeError):
            require_quantized_input(self, x)  # says it of this layer, whose path it knows
            raise

    def _weight_bias(self) -> tuple[Any, Any]:
        return self._packed_params._weight_bias()

    def _packed_weight(self) -> Any:
        return self._packed_params._packed_params

    def weight(self) -> Tensor:
        """The quantized weight ``(out_features, in_features)``."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor:
        """The float bias ``(out_features,)``, or None."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Replace weight and bias; the weight is packed again."""
        require_weight_tensor(self, w)
        if tuple(w.shape) != (self.out_features, self.in_features):
            raise ValueError(
                f"the weight must have shape {(self.out_features, self.in_features)}, "
                f"got {tuple(w.shape)}"
            )
        self._packed_params.set_weight_bias(w, b)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        save_output_parameters(self, destination, prefix)

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
        _as_version_3(state_dict, prefix + "_packed_params.", error_msgs)
        load_output_parameters(self, state_dict, prefix, missing_keys, dtypes.quint8)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @classmethod
    def _like(cls, mod: Any, layer: Any, bias: bool) -> Any:
        return cls(layer.in_features, layer.out_features, bias)

    @classmethod
    def from_reference(
        cls, ref_qlinear: Module, output_scale: float, output_zero_point: int
    ) -> Module:
        """The quantized layer of a reference layer (:mod:`pyqref.nn.quantized.reference`).

        Parameters
        ----------
        ref_qlinear
            Has ``get_quantized_weight`` and ``bias``; or a group with one in front.
        output_scale, output_zero_point
            Parameters of the output.
        """
        return cls._of_reference(ref_qlinear, output_scale, output_zero_point)
