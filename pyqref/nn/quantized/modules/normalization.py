"""Layer, group and instance norm on integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyqref._typing import AnyModule, Device, Dtype, Module, Self, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.diagnostics import NoEffectWarning, warn
from pyqref.ops import quantized as ops

from .output_grid import EVERY_DTYPE, LoadsGrid, as_parameter, observed_grid, register_grid
from .utils import require_quantized_input

__all__ = ["GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm"]


class LayerNorm(LoadsGrid, nn.LayerNorm):
    r"""Layer norm on integers (equation ``eq-quantized-layer-norm``).

    Parameters
    ----------
    normalized_shape : int or sequence of int
        Lengths of the last axes.
    weight, bias : Parameter or None
        Of this shape; None stands for one and zero.
    scale : float
        Of the output; positive.
    zero_point : int
        Of the output.
    eps : float
        Added to the variance.
    elementwise_affine : bool
        As of :class:`pyqref.nn.LayerNorm`.

    Attributes
    ----------
    scale, zero_point : Tensor
        Buffers.

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
    Shapes: ``(*, *normalized_shape)``. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.ones(3), pyqref.zeros(3)
    >>> m = pyqref.nn.quantized.LayerNorm((3,), weight, bias, scale=0.1, zero_point=20)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0, 3.0]]), 0.1, 0, pyqref.quint8)
    >>> m(x).dequantize()
    tensor([[-1.2000,  0.0000,  1.2000]])
    """

    scale: Any
    zero_point: Any

    def __init__(
        self,
        normalized_shape: Sequence[int],
        weight: Tensor,
        bias: Tensor,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(normalized_shape, eps, elementwise_affine, device=device, dtype=dtype)
        self.weight, self.bias = as_parameter(weight), as_parameter(bias)
        register_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedLayerNorm"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        grid = float(self.scale), int(self.zero_point)
        shape = self.normalized_shape
        return ops.layer_norm(input, shape, self.weight, self.bias, self.eps, *grid)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.LayerNorm``."""
        return cls.from_reference(mod, *observed_grid(cls, mod))

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        require_members(cls, "from_reference", mod, "normalized_shape", "weight", "bias")
        return cls(
            mod.normalized_shape,
            mod.weight,
            mod.bias,
            float(scale),
            int(zero_point),
            mod.eps,
            mod.elementwise_affine,
        )


class GroupNorm(LoadsGrid, nn.GroupNorm):
    r"""Group norm on integers (equation ``eq-quantized-group-norm``).

    Parameters
    ----------
    num_groups, num_channels : int
        The former divides the latter.
    weight, bias : Parameter or None
        ``(num_channels,)``; None stands for one and zero.
    scale, zero_point, eps
        As of :class:`LayerNorm`.
    affine : bool
        As of :class:`pyqref.nn.GroupNorm`.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.
    ValueError
        ``num_groups`` does not divide ``num_channels``, or a scale is not positive.
    TypeError
        A zero point is no integer.

    Notes
    -----
    Shapes: ``(N, num_channels, *)``. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.ones(4), pyqref.zeros(4)
    >>> m = pyqref.nn.quantized.GroupNorm(2, 4, weight, bias, scale=0.1, zero_point=20)
    >>> x = pyqref.tensor([0.0, 1.0, 4.0, 8.0]).reshape(1, 4, 1)
    >>> q = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    >>> m(q).dequantize().flatten()
    tensor([-1.,  1., -1.,  1.])
    """

    scale: Any
    zero_point: Any

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        weight: Tensor,
        bias: Tensor,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(num_groups, num_channels, eps, affine, device=device, dtype=dtype)
        self.weight, self.bias = as_parameter(weight), as_parameter(bias)
        register_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedGroupNorm"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        grid = float(self.scale), int(self.zero_point)
        return ops.group_norm(input, self.num_groups, self.weight, self.bias, self.eps, *grid)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.GroupNorm``."""
        require_members(cls, "from_float", mod, "num_groups", "num_channels", "weight", "bias")
        return cls(
            mod.num_groups,
            mod.num_channels,
            mod.weight,
            mod.bias,
            *observed_grid(cls, mod),
            mod.eps,
            mod.affine,
        )


class _InstanceNorm(LoadsGrid, nn.InstanceNorm2d):
    """Instance norm whatever the number of spatial dimensions."""

    scale: Any
    zero_point: Any

    def __init__(
        self,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: float,
        zero_point: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype
        )
        self.weight, self.bias = as_parameter(weight), as_parameter(bias)
        register_grid(self, scale, zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        grid = float(self.scale), int(self.zero_point)
        return ops.instance_norm(input, self.weight, self.bias, self.eps, *grid)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed float instance norm."""
        return cls.from_reference(mod, *observed_grid(cls, mod))

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters.

        Warns
        -----
        NoEffectWarning
            The float layer normalizes with running statistics; the quantized one takes
            them from its input, as in torch.
        """
        require_members(
            cls, "from_reference", mod, "num_features", "track_running_stats", "weight", "bias"
        )
        if mod.track_running_stats:
            warn(
                f"{cls.__name__}: a quantized instance norm takes its statistics from its input; "
                "the running ones are not used: set track_running_stats=False",
                NoEffectWarning,
            )
        return cls(
            mod.num_features,
            mod.weight,
            mod.bias,
            float(scale),
            int(zero_point),
            mod.eps,
            mod.momentum,
            mod.affine,
        )


class InstanceNorm1d(_InstanceNorm):
    """One-dimensional form of :class:`InstanceNorm2d`, for ``(N, C, L)``.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.
    ValueError
        A scale is not positive.
    TypeError
        A zero point is no integer.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.ones(2), pyqref.zeros(2)
    >>> m = pyqref.nn.quantized.InstanceNorm1d(2, weight, bias, scale=0.1, zero_point=20)
    >>> x = pyqref.tensor([[[0.0, 1.0], [4.0, 8.0]]])
    >>> q = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    >>> m(q).dequantize()
    tensor([[[-1.,  1.],
             [-1.,  1.]]])
    """

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm1d"


class InstanceNorm2d(_InstanceNorm):
    r"""Instance norm on integers (equation ``eq-quantized-instance-norm``).

    Parameters
    ----------
    num_features : int
        Number of channels C.
    weight, bias : Parameter or None
        ``(C,)``; None stands for one and zero.
    scale, zero_point, eps
        As of :class:`LayerNorm`.
    momentum, affine, track_running_stats
        As of :class:`pyqref.nn.InstanceNorm2d`; without effect here.

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
    Shapes: ``(N, C, H, W)``. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.ones(1), pyqref.zeros(1)
    >>> m = pyqref.nn.quantized.InstanceNorm2d(1, weight, bias, scale=0.1, zero_point=20)
    >>> q = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 4, 4), 1 / 255, 0, pyqref.quint8)
    >>> m(q).shape
    pyqref.Size([2, 1, 4, 4])
    """

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm2d"


class InstanceNorm3d(_InstanceNorm):
    """Three-dimensional form of :class:`InstanceNorm2d`, for ``(N, C, D, H, W)``.

    Raises
    ------
    RuntimeError
        The input is not quantized. The message names the layer's path in the model.
    ValueError
        A scale is not positive.
    TypeError
        A zero point is no integer.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.ones(1), pyqref.zeros(1)
    >>> m = pyqref.nn.quantized.InstanceNorm3d(1, weight, bias, scale=0.1, zero_point=20)
    >>> q = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 2, 4, 4), 1 / 255, 0, pyqref.quint8)
    >>> m(q).shape
    pyqref.Size([2, 1, 2, 4, 4])
    """

    def _get_name(self) -> str:
        return "QuantizedInstanceNorm3d"
