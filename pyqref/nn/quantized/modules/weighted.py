"""Make a layer with a quantized weight of a float layer, or of a reference layer."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import AnyModule
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.intrinsic.modules.fused import _FloatGroup
from pyqref.nn.modules import Module, Sequential
from pyqref.nn.quantized.integer_range import keeps_range, range_of

from .utils import quantize_weight, require_output_observer, require_type, weight_observer_of

__all__ = ["WeightedQuantizedModule"]


class WeightedQuantizedModule(Module):
    """Base of the layers with a quantized weight.

    Attributes
    ----------
    scale : float
        Of the output.
    zero_point : int
        Of the output.
    """

    #: The float layers, and groups of layers, that it can be made of.
    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]]
    #: An attribute that tells the size of such a layer.
    _SIZE: ClassVar[str]
    #: Runs the layer: input, packed weight and bias, scale and zero point of the output.
    _operation: ClassVar[Any]
    #: Whether it clamps its output to a range of integers that it is given.
    _KEEPS_RANGE: ClassVar[bool] = True
    #: Folds a batch norm into weight and bias.
    _fold: ClassVar[Any]

    scale: float
    zero_point: int
    set_weight_bias: Any

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def set_output_parameters(self, activation_post_process: AnyModule) -> None:
        """Take scale and zero point from what observed the output of the float layer."""
        scale, zero_point = activation_post_process.calculate_qparams()
        self.scale, self.zero_point = float(scale), int(zero_point)
        chosen = range_of(activation_post_process)
        if chosen is not None and self._KEEPS_RANGE and keeps_range(activation_post_process):
            self.keep_range(*chosen)

    def keep_range(self, quant_min: int, quant_max: int) -> None:
        """Clamp the integers of the output to a range, where they are requantized.

        A state dict does not hold the range.
        """
        self._packed_weight().output_range = (quant_min, quant_max)

    def _packed_weight(self) -> Any:
        raise TypeError(f"{type(self).__name__} does not say where its packed weight is")

    @classmethod
    def _like(cls, mod: Any, layer: Any, bias: bool) -> Any:
        """A new layer of the sizes of ``layer``, which may stand in a group ``mod``."""
        raise TypeError(f"{cls.__name__} does not say how it is made")

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized layer of a prepared and calibrated, or trained, float layer.

        A batch norm that was trained with the layer is folded into it.

        Parameters
        ----------
        mod
            A layer of ``_FLOAT_MODULE`` with an ``activation_post_process``.
        use_precomputed_fake_quant
            Do not run ``weight_fake_quant`` once more on the final weight.
        """
        require_type(cls, mod, cls._FLOAT_MODULE)
        activation_post_process = require_output_observer(cls, mod)
        layer: Any = mod[0] if isinstance(mod, _FloatGroup) else mod
        weight, bias = layer.weight.detach(), layer.bias
        bias = None if bias is None else bias.detach()
        bn = getattr(mod, "bn", None)
        if bn is not None:
            statistics = (bn.running_mean, bn.running_var, bn.eps)
            weight, bias = cls._fold(weight, bias, *statistics, bn.weight, bn.bias)
            weight, bias = weight.detach(), bias.detach()
        source = mod if getattr(mod, "qconfig", None) is not None else layer
        observer = weight_observer_of(cls, source, weight, use_precomputed_fake_quant)
        made = cls._like(mod, layer, bias is not None)
        made.set_weight_bias(
            quantize_weight(weight, observer), None if bias is None else bias.float()
        )
        made.set_output_parameters(activation_post_process)
        return made

    @classmethod
    def _of_reference(cls, ref_mod: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Convert a reference layer, as ``from_reference`` of the layers does."""
        layer: Any = ref_mod[0] if isinstance(ref_mod, Sequential) else ref_mod
        require_members(cls, "from_reference", layer, "get_quantized_weight", cls._SIZE, "bias")
        bias = None if layer.bias is None else layer.bias.detach()
        made = cls._like(ref_mod, layer, bias is not None)
        made.set_weight_bias(layer.get_quantized_weight(), bias)
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made
