"""The activation with slopes of its own, on a grid of its own."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import Self, Tensor
from pyqref.nn.conversion_checks import require_members, sizes_of
from pyqref.nn.diagnostics import NoEffectWarning, warn
from pyqref.nn.modules import Module
from pyqref.nn.quantized.integer_range import in_range_of
from pyqref.ops import quantized as ops
from pyqref.tensor.quantized import quantize_per_tensor
from pyqref.tensor.random import randn

from .output_grid import observed_grid, plain_grid
from .utils import require_quantized_input

__all__ = ["PReLU"]


class PReLU(Module):
    r"""ReLU with quantized slopes below zero (equation ``eq-quantized-prelu``).

    Parameters
    ----------
    output_scale : float
        Of the output; positive.
    output_zero_point : int
        Of the output.
    num_parameters : int
        Number of slopes: 1, or as many as channels. They start at random, as in torch.

    Attributes
    ----------
    weight
        The slopes, a quint8 tensor ``(num_parameters,)``; not part of the state dict, as
        in torch.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.
    ValueError
        A scale is not positive.
    TypeError
        A zero point is no integer.

    Notes
    -----
    Shapes: any, channels on axis 1. Dtype: quint8. torch 2.13 also multiplies positive
    elements by a number from the grid of the slopes: see the errata.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.PReLU(0.1, 128)
    >>> slope = pyqref.quantize_per_tensor(pyqref.tensor([0.25]), 0.01, 0, pyqref.quint8)
    >>> m.set_weight(slope)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-2.0, 2.0]), 0.1, 128, pyqref.quint8)
    >>> m(x).dequantize()
    tensor([-0.5000,  2.0000])
    """

    def __init__(
        self, output_scale: float, output_zero_point: int, num_parameters: int = 1
    ) -> None:
        super().__init__()
        (self.num_parameters,) = sizes_of("PReLU", num_parameters=num_parameters)
        self.scale, self.zero_point = plain_grid(self, output_scale, output_zero_point)
        slopes = randn(self.num_parameters)
        self.set_weight(quantize_per_tensor(slopes, 1.0, 0, dtypes.quint8))

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    def set_weight(self, w: Tensor) -> None:
        """Replace the slopes: quint8 ``(num_parameters,)``."""
        ops.require_per_tensor("PReLU.set_weight", w, (dtypes.quint8,))
        self.weight = w

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input)
        return ops.prelu(input, self.weight, self.scale, self.zero_point)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.PReLU``; its qconfig observes the slopes."""
        require_members(cls, "from_float", mod, "weight", "num_parameters")
        return cls._made(mod, *observed_grid(cls, mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        require_members(cls, "from_reference", mod, "weight", "num_parameters")
        return cls._made(mod, float(scale), int(zero_point))

    @classmethod
    def _made(cls, mod: Any, scale: float, zero_point: int) -> Any:
        qconfig = getattr(mod, "qconfig", None)
        if qconfig is None:
            raise ValueError(
                f"{cls.__name__}.from_float: the float module has no qconfig; set mod.qconfig"
            )
        slopes = mod.weight.detach().float()
        observer = qconfig.weight()
        observer(slopes)
        if observer.calculate_qparams()[0].numel() > 1:
            raise ValueError(
                f"{cls.__name__}: {type(observer).__name__} gives each of the {slopes.numel()} "
                "slopes a scale of its own, but they are quantized per tensor; set the qconfig of "
                "this layer to default_quint8_weight_qconfig"
            )
        if observer.dtype is not dtypes.quint8:
            warn(
                "PReLU's weight observer should have dtype quint8 but got "
                f"{observer.dtype}; its zero point is used for quint8 all the same",
                NoEffectWarning,
            )
        weight_scale, weight_zero_point = observer.calculate_qparams()
        layer = cls(scale, zero_point, mod.num_parameters)
        quantized = quantize_per_tensor(
            slopes, float(weight_scale), int(weight_zero_point), dtypes.quint8
        )
        is_its_grid = observer.dtype is dtypes.quint8
        layer.set_weight(in_range_of(observer, quantized) if is_its_grid else quantized)
        return layer
