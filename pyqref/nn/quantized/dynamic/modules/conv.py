"""Convolutions that quantize their float input while running."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

from pyqref._typing import AnyModule, Ints, Tensor
from pyqref.nn.modules import Conv1d as FloatConv1d
from pyqref.nn.modules import Conv2d as FloatConv2d
from pyqref.nn.modules import Conv3d as FloatConv3d
from pyqref.nn.modules import ConvTranspose1d as FloatConvTranspose1d
from pyqref.nn.modules import ConvTranspose2d as FloatConvTranspose2d
from pyqref.nn.modules import ConvTranspose3d as FloatConvTranspose3d
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules import conv as static
from pyqref.nn.quantized.modules import conv_transpose as static_transpose
from pyqref.nn.quantized.modules.utils import require_float_input, require_type
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_flag

from .utils import dynamic_weight, weight_observer_method

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]


class _Dynamic(Module):
    """Mixin that makes a quantized convolution a dynamic one; it is the first base."""

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]]
    _operation: ClassVar[Any]
    _packed_params: Any
    _padded: Any
    _like: ClassVar[Any]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        *args: Any,
        reduce_range: bool = True,
        **kwargs: Any,
    ) -> None:
        warnings.warn(
            f"{self._get_name()} puts its output on the grid of its input, so that results "
            "beyond that grid saturate; prefer a static convolution",
            stacklevel=2,
        )
        as_flag(reduce_range, f"{type(self).__name__}: reduce_range")
        super().__init__(in_channels, out_channels, kernel_size, *args, **kwargs)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def forward(self, input: Tensor, reduce_range: bool = True) -> Tensor:
        """The float output; ``reduce_range`` quantizes the input to 7 bits."""
        require_float_input(self, input)
        return self._operation(self._padded(input), self._packed_params, reduce_range)

    @classmethod
    def from_float(cls: Any, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Any:
        """The dynamic layer of a float layer with a ``qconfig`` (None: the default one).

        Parameters
        ----------
        mod
            A layer of ``_FLOAT_MODULE``.
        use_precomputed_fake_quant
            No effect: the weight is observed anew.
        """
        require_type(cls, mod, cls._FLOAT_MODULE)
        weight = dynamic_weight(mod.weight, weight_observer_method(cls, mod))
        if not weight.is_quantized:
            raise ValueError(f"{cls.__name__}.from_float: the weight's dtype must be qint8")
        layer = cls._like(mod, mod, mod.bias is not None)
        layer.set_weight_bias(weight, None if mod.bias is None else mod.bias.detach().float())
        return layer


class Conv1d(_Dynamic, static.Conv1d):
    """1-D convolution, float ``(N, C_in, L)`` in and out: see :class:`Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.Conv1d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv1d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv1d_dynamic)


class Conv2d(_Dynamic, static.Conv2d):
    r"""2-D convolution with a quantized weight, float in and out.

    Equation ``eq-conv-dynamic``: the input is quantized over the range that it has, and
    the output lies **on the grid of the input**: what is beyond it saturates.

    Parameters
    ----------
    in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias
        As of :class:`pyqref.nn.Conv2d`.
    padding_mode
        As of :class:`pyqref.nn.Conv2d`.
    device, dtype, reduce_range
        Accepted as in torch, without effect; ``forward`` takes ``reduce_range``.

    Raises
    ------
    RuntimeError
        The input is not float32, or has another number of dimensions or channels.

    Warns
    -----
    UserWarning
        Always: torch, too, warns of the poor accuracy of these layers.

    Notes
    -----
    Shapes: ``(N, C_in, H, W) -> (N, C_out, H_out, W_out)``. ``quantize_dynamic`` swaps it
    in only if asked to by a mapping.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.Conv2d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8, 8)).shape
    pyqref.Size([2, 6, 6, 6])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv2d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv2d_dynamic)


class Conv3d(_Dynamic, static.Conv3d):
    """3-D convolution, float ``(N, C_in, D, H, W)`` in and out: see :class:`Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.Conv3d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 4, 6, 6)).shape
    pyqref.Size([2, 6, 2, 4, 4])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConv3d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv3d_dynamic)


class ConvTranspose1d(_Dynamic, static_transpose.ConvTranspose1d):
    """1-D transposed convolution, float ``(N, C_in, L)`` in and out: see :class:`Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.ConvTranspose1d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8)).shape
    pyqref.Size([2, 6, 10])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose1d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose1d_dynamic)


class ConvTranspose2d(_Dynamic, static_transpose.ConvTranspose2d):
    """2-D transposed convolution, float ``(N, C_in, H, W)`` in and out: see :class:`Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.ConvTranspose2d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 8, 8)).shape
    pyqref.Size([2, 6, 10, 10])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose2d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose2d_dynamic)


class ConvTranspose3d(_Dynamic, static_transpose.ConvTranspose3d):
    """3-D transposed convolution, float ``(N, C_in, D, H, W)`` in and out: see :class:`Conv2d`.

    Raises
    ------
    RuntimeError
        As of :class:`Conv2d`.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that a static convolution is better
    ...     m = pyqref.nn.quantized.dynamic.ConvTranspose3d(4, 6, 3)
    >>> m(pyqref.randn(2, 4, 4, 6, 6)).shape
    pyqref.Size([2, 6, 6, 8, 8])
    """

    _FLOAT_MODULE: ClassVar[tuple[type[Module], ...]] = (FloatConvTranspose3d,)
    _operation: ClassVar[Any] = staticmethod(ops.conv_transpose3d_dynamic)
