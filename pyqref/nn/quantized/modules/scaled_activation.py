"""Activations whose results lie on a grid of their own."""

from __future__ import annotations

import warnings
from typing import Any

from pyqref._typing import AnyModule, Device, Dtype, Module, Self, Tensor
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.ops import quantized as ops

from .output_grid import EVERY_DTYPE, LoadsGrid, observed_grid, plain_grid, register_grid
from .utils import require_quantized_input

__all__ = ["ELU", "Hardswish", "LeakyReLU", "Sigmoid", "Softmax"]


class Hardswish(LoadsGrid, nn.Hardswish):
    r"""Hardswish on integers (equations ``eq-hardswish``, ``eq-quantized-pointwise``).

    .. math:: y = x \cdot \min(\max(x + 3, 0), 6) / 6

    Parameters
    ----------
    scale : float
        Of the output; positive.
    zero_point : int
        Of the output.

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
    Shapes: any. Dtypes: quint8, qint8, qint32, and the output's is the input's.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Hardswish(0.1, 10)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-4.0, 1.5, 4.0]), 0.5, 10, pyqref.quint8)
    >>> m(x).int_repr().tolist()
    [10, 21, 50]
    """

    scale: Any
    zero_point: Any

    def __init__(
        self, scale: float, zero_point: int, device: Device = None, dtype: Dtype | None = None
    ) -> None:
        super().__init__()
        register_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        return ops.hardswish(input, float(self.scale), int(self.zero_point))

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized layer of an observed ``nn.Hardswish``."""
        return cls(*observed_grid(cls, mod))

    @classmethod
    def from_reference(cls, mod: Module, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        return cls(float(scale), int(zero_point))


class ELU(nn.ELU):
    r"""Exponential linear unit on integers (equations ``eq-elu``, ``eq-quantized-pointwise``).

    Parameters
    ----------
    scale : float
        Of the output; positive.
    zero_point : int
        Of the output.
    alpha : float
        Minus the limit to the left.

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
    Shapes: any. Dtypes: quint8, qint8, qint32. As in torch, scale and zero point are not
    part of the state dict.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.ELU(scale=0.01, zero_point=100)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 0.0, 1.0]), 0.1, 10, pyqref.quint8)
    >>> m(x).dequantize()
    tensor([-0.6300,  0.0000,  1.0000])
    """

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale, self.zero_point = plain_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedELU"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        return ops.elu(input, self.scale, self.zero_point, self.alpha)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.ELU``."""
        require_members(cls, "from_float", mod, "alpha")
        return cls(*observed_grid(cls, mod), mod.alpha)

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        require_members(cls, "from_reference", mod, "alpha")
        return cls(float(scale), int(zero_point), mod.alpha)


class LeakyReLU(LoadsGrid, nn.LeakyReLU):
    r"""Leaky ReLU on integers (equations ``eq-leaky-relu``, ``eq-quantized-pointwise``).

    Parameters
    ----------
    scale : float
        Of the output; positive.
    zero_point : int
        Of the output.
    negative_slope : float
        Slope below zero.
    inplace : bool
        Without effect, as in torch: the result lies on another grid.

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
    Shapes: any. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.LeakyReLU(scale=0.1, zero_point=10, negative_slope=0.1)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-1.0, 2.0]), 0.1, 10, pyqref.quint8)
    >>> m(x).dequantize()
    tensor([-0.1000,  2.0000])
    """

    scale: Any
    zero_point: Any

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        register_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        grid = float(self.scale), int(self.zero_point)
        return ops.leaky_relu(input, self.negative_slope, False, *grid)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.LeakyReLU``."""
        require_members(cls, "from_float", mod, "negative_slope", "inplace")
        return cls(*observed_grid(cls, mod), mod.negative_slope, mod.inplace)

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        require_members(cls, "from_reference", mod, "negative_slope", "inplace")
        return cls(float(scale), int(zero_point), mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    r"""Logistic function on integers (equations ``eq-logistic``, ``eq-quantized-pointwise``).

    Parameters
    ----------
    output_scale : float
        Of the output; positive.
    output_zero_point : int
        Of the output.

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
    Shapes: any. Dtypes: quint8, qint8, qint32. ``nn.Sigmoid`` itself takes quantized
    tensors as well, and gives results of scale 1/256.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Sigmoid(1 / 256, 0)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([-9.0, 0.0, 9.0]), 0.1, 128, pyqref.quint8)
    >>> m(x).int_repr().tolist()
    [0, 128, 255]
    """

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale, self.output_zero_point = plain_grid(
            self, output_scale, output_zero_point
        )

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        return ops.sigmoid(input, self.output_scale, self.output_zero_point)

    @classmethod
    def from_float(cls, mod: Module, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.Sigmoid``."""
        return cls(*observed_grid(cls, mod))


class Softmax(nn.Softmax):
    r"""Softmax on integers (equation ``eq-float-softmax``).

    Parameters
    ----------
    dim : int, optional
        The axis along which the results sum to about one; chosen by the number of
        dimensions, with a warning, if None.
    scale : float
        Of the output; positive.
    zero_point : int
        Of the output.

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
    Shapes: any. Dtypes: quint8, qint8, qint32.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Softmax(dim=-1, scale=1 / 256, zero_point=0)
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[0.0, 0.0]]), 0.1, 0, pyqref.quint8)
    >>> m(x).dequantize()
    tensor([[0.5000, 0.5000]])
    """

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__(dim)
        self.scale, self.zero_point = plain_grid(self, scale, zero_point)

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    def forward(self, input: Tensor) -> Tensor:
        """The result, with this layer's scale and zero point."""
        require_quantized_input(self, input, EVERY_DTYPE)
        dim = self.dim
        if dim is None:
            dim = 0 if input.dim() in (0, 1, 3) else 1
            warnings.warn(
                f"Softmax: implicit dimension choice {dim} is deprecated; pass dim=", stacklevel=2
            )
        return ops.softmax(input, dim, self.scale, self.zero_point)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an observed ``nn.Softmax``."""
        require_members(cls, "from_float", mod, "dim")
        return cls(mod.dim, *observed_grid(cls, mod))

    @classmethod
    def from_reference(cls, mod: AnyModule, scale: float, zero_point: int) -> Self:
        """The quantized layer of a float one, with these output parameters."""
        require_members(cls, "from_reference", mod, "dim")
        return cls(mod.dim, float(scale), int(zero_point))
