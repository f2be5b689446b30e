"""Base class of the quantized convolutions: geometry, weight, state, conversion."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import Self, Tensor
from pyqref.nn import functional as F
from pyqref.nn.conversion_checks import sizes_of
from pyqref.nn.layer_options import convolution_options
from pyqref.nn.modules.conv_base import PADDING_MODES
from pyqref.nn.utils.fusion import fuse_conv_bn_weights
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_flag, as_integer, described
from pyqref.tensor.creation import zeros
from pyqref.tensor.quantized import make_per_tensor

from .utils import (
    fits,
    is_integers,
    load_output_parameters,
    pop_state,
    require_quantized_input,
    require_weight_tensor,
    save_output_parameters,
    with_range_of,
)
from .weighted import WeightedQuantizedModule

__all__: list[str] = []


class _ConvNd(WeightedQuantizedModule):
    """Base class of the convolutions; ``_dimensions`` tells them apart."""

    _dimensions: ClassVar[int]
    _PADDING_MODES: ClassVar[tuple[str, ...]] = PADDING_MODES
    _SIZE = "kernel_size"
    _fold: ClassVar[Any] = staticmethod(fuse_conv_bn_weights)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
        *,
        output_padding: Any = 0,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        in_channels, out_channels = sizes_of(
            name, in_channels=in_channels, out_channels=out_channels
        )
        groups = as_integer(groups, f"{name}: groups")
        bias = as_flag(bias, f"{name}: bias")
        if not isinstance(padding_mode, str) or padding_mode not in self._PADDING_MODES:
            raise ValueError(
                f"{name}: padding_mode must be {' or '.join(map(repr, self._PADDING_MODES))}, got "
                f"{described(padding_mode)}"
            )
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: groups must divide in_channels and out_channels, "
                f"got groups={groups}, {in_channels} and {out_channels}"
            )
        count = self._dimensions
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = ops.tuple_of(name, "kernel_size", kernel_size, count, 1)
        self.stride = ops.tuple_of(name, "stride", stride, count, 1)
        self.dilation = ops.tuple_of(name, "dilation", dilation, count, 1)
        self.padding = self._numbers_of(padding)
        self.transposed = False
        self.output_padding = ops.tuple_of(name, "output_padding", output_padding, count, 0)
        self.groups = groups
        self.padding_mode = padding_mode
        self.scale = 1.0
        self.zero_point = 0
        taps = math.prod(self.kernel_size)
        sizes_of(name, channels=in_channels * out_channels, kernel_size=taps)
        integers = zeros(*self._weight_shape(), dtype=dtypes.int8)._array
        weight = make_per_tensor(integers, 1.0, 0, dtypes.qint8)
        self.set_weight_bias(weight, zeros(out_channels) if bias else None)

    def _pairs(self, padding: Any) -> tuple[tuple[int, int], ...]:
        """Elements before and after each dimension."""
        geometry = (self.kernel_size, self.stride, self.dilation)
        return ops.padding_pairs(type(self).__name__, padding, *geometry)

    def _numbers_of(self, padding: Any) -> tuple[int, ...] | str:
        """A number for each dimension, or ``"same"`` where the two ends differ."""
        pairs = self._pairs(padding)
        alike = all(before == after for before, after in pairs)
        return tuple(before for before, _ in pairs) if alike else str(padding)

    def _pads_before(self) -> bool:
        """Return True if the padding must be added before the operation, which pads with zeros."""
        return self.padding_mode != "zeros" or isinstance(self.padding, str)

    def _padded(self, input: Any) -> Any:
        """The input as the operation takes it; that refuses one of another number of dimensions."""
        if not self._pads_before() or input.dim() != self._dimensions + 2:
            return input
        mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
        pairs = reversed(self._pairs(self.padding))
        return F.pad(input, [n for pair in pairs for n in pair], mode=mode)

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def _prepack(self, weight: Any, bias: Any) -> Any:
        prepack = (ops.conv1d_prepack, ops.conv2d_prepack, ops.conv3d_prepack)
        padding: Any = 0 if self._pads_before() else self.padding
        return prepack[self._dimensions - 1](
            weight, bias, self.stride, padding, self.dilation, self.groups
        )

    def set_weight_bias(self, w: Any, b: Tensor | None) -> None:
        """Replace weight and bias; the weight is packed again."""
        require_weight_tensor(self, w)
        if tuple(w.shape) != self._weight_shape():
            raise ValueError(
                f"the weight must have shape {self._weight_shape()}, got {tuple(w.shape)}"
            )
        before = self.__dict__.get("_packed_params")
        self._packed_params = with_range_of(before, self._prepack(w, b))

    def _weight_bias(self) -> tuple[Any, Any]:
        weight, bias = self._packed_params.unpack()
        return weight, bias

    def _packed_weight(self) -> Any:
        return self._packed_params

    def weight(self) -> Any:
        """The quantized weight ``(out_channels, in_channels / groups, *kernel_size)``."""
        return self._weight_bias()[0]

    def bias(self) -> Tensor:
        """The float bias ``(out_channels,)``, or None."""
        return self._weight_bias()[1]

    def _get_name(self) -> str:
        return f"QuantizedConv{self._dimensions}d"

    def extra_repr(self) -> str:
        """Channels, geometry and output parameters; defaults are left out."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, scale={self.scale}, zero_point={self.zero_point}"
        )
        count = self._dimensions
        if self.padding != (0,) * count:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * count:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * count:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias() is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def forward(self, input: Tensor) -> Tensor:
        """The quantized output, with this layer's scale and zero point."""
        if self.padding_mode != "zeros" or isinstance(self.padding, str):
            require_quantized_input(self, input)
            input = self._padded(input)
        try:
            return self._operation(input, self._packed_params, self.scale, self.zero_point)
        except (TypeError, RuntimeError):
            require_quantized_input(self, input)  # says it of this layer, whose path it knows
            raise

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight_bias()
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
        weight = pop_state(state_dict, prefix + "weight", missing_keys)
        bias = pop_state(state_dict, prefix + "bias", missing_keys)
        load_output_parameters(self, state_dict, prefix, missing_keys, dtypes.quint8)
        ours = self._weight_bias()
        key = prefix + "weight"
        if (
            weight is not None
            and fits((weight, bias), ours, key, error_msgs)
            and is_integers(weight, key, error_msgs)
        ):
            self.set_weight_bias(weight, bias)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    @classmethod
    def _like(cls, mod: Any, layer: Any, bias: bool) -> Any:
        return cls(**convolution_options(layer) | {"bias": bias})

    @classmethod
    def from_reference(cls, ref_qconv: object, output_scale: float, output_zero_point: int) -> Self:
        """The quantized layer of a reference layer (:mod:`pyqref.nn.quantized.reference`).

        Parameters
        ----------
        ref_qconv
            Has ``get_quantized_weight``, ``bias`` and the geometry of a convolution; or a
            group with one in front.
        output_scale, output_zero_point
            Parameters of the output.
        """
        return cls._of_reference(ref_qconv, output_scale, output_zero_point)
