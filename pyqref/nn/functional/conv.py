"""Convolution and transposed convolution in one, two and three dimensions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..._typing import Ints, Tensor
from ...dtypes import bool_
from ...tape import convolution as tape
from ...tensor.arguments import as_integer
from ...tensor.dispatch import apply
from ...tensor.memory import require_memory
from ...tensor.wrong_arguments import explain_errors
from .checks import (
    require,
    require_floating,
    require_same_dtype,
    require_shape,
    require_tensor,
    shape_text,
    tuple_of,
)
from .padding import pad

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "same_padding",
]


def _check(function: str, input: Any, weight: Any, spatial: int) -> None:
    require_tensor(function, "input", input)
    require_tensor(function, "weight", weight)
    if input.is_quantized:
        return
    if input.dtype is bool_:
        require_floating(function, "input", input)
    if input._array.ndim not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {function}, "
            f"but got input of size: {shape_text(input)}"
        )
    if weight._array.ndim != spatial + 2:
        raise RuntimeError(
            f"{function}(): expected weight of {spatial + 2} dimensions, got {shape_text(weight)}"
        )


def same_padding(kernel: tuple[int, ...], dilation: tuple[int, ...]) -> list[tuple[int, int]]:
    """Elements to add before and after each axis so that stride 1 keeps the size."""
    totals = [d * (k - 1) for k, d in zip(kernel, dilation, strict=True)]
    return [(total // 2, total - total // 2) for total in totals]


def _conv(
    function: str,
    spatial: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    _check(function, input, weight, spatial)
    require_tensor(function, "bias", bias, optional=True)
    groups = as_integer(groups, f"{function}(): groups")
    stride = tuple_of(function, "stride", stride, spatial, 1)
    dilation = tuple_of(function, "dilation", dilation, spatial, 1)
    if isinstance(padding, str):
        require(
            padding in ("same", "valid"),
            f"{function}(): padding must be 'same', 'valid' or ints, got {padding!r}",
            ValueError,
        )
        if padding == "same":
            require(
                all(s == 1 for s in stride),
                "padding='same' is not supported for strided convolutions",
            )
            pairs = same_padding(tuple(weight.shape[2:]), dilation)
            padding = tuple(before for before, _ in pairs)
            extra = [after - before for before, after in pairs]
            if any(extra):
                input = pad(input, [n for after in reversed(extra) for n in (0, after)])
        else:
            padding = 0
    padding = tuple_of(function, "padding", padding, spatial)
    if not input.is_quantized:
        shape, filters = input._array.shape, weight._array.shape
        _check_channels(function, input, weight, bias, groups, shape[-spatial - 1])
        padded = _padded(function, shape[-spatial:], filters[2:], padding, dilation)
        require_memory((filters[1], *padded), input._array.itemsize, f"{function}: an input")
    if input._array.ndim == spatial + 1:
        batch = input.unsqueeze(0)
        args = (weight, bias, stride, padding, dilation, groups)
        return apply(tape.Convolution, batch, *args).squeeze(0)
    return apply(tape.Convolution, input, weight, bias, stride, padding, dilation, groups)


@lru_cache(maxsize=1024)
def _padded(
    function: str,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[int, ...]:
    """The size of the input with its padding, into which the kernel must fit."""
    padded = tuple([length + 2 * p for length, p in zip(size, padding, strict=True)])
    if any(n < d * (k - 1) + 1 for n, d, k in zip(padded, dilation, kernel, strict=True)):
        raise RuntimeError(
            f"{function}(): kernel of size {list(kernel)} with dilation {list(dilation)} "
            f"does not fit into input of size {list(size)} with padding {list(padding)}"
        )
    return padded


def _check_channels(
    function: str, input: Any, weight: Any, bias: Any, groups: int, channels: int
) -> None:
    require_same_dtype(function, "input", input, weight=weight, bias=bias)
    if groups <= 0:
        raise RuntimeError(f"{function}(): groups must be positive, got {groups}")
    outputs, inputs = weight._array.shape[:2]
    if outputs % groups or outputs == 0:
        raise RuntimeError(
            f"{function}(): the {outputs} output channels of weight of shape "
            f"{shape_text(weight)} must be divisible by groups={groups}"
        )
    if channels != inputs * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {shape_text(weight)}, expected "
            f"input{shape_text(input)} to have {inputs * groups} channels, "
            f"but got {channels} channels instead"
        )
    require_shape(function, "bias", bias, (outputs,))


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of `(N, C_in, L)` with `(C_out, C_in / groups, K)`; see :func:`conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.conv1d(pyqref.tensor([[[1.0, 2.0, 3.0]]]), pyqref.tensor([[[1.0, 10.0]]])).tolist()
    [[[21.0, 32.0]]]
    """
    return _conv("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution (cross-correlation) over two spatial dimensions.

    Parameters
    ----------
    input
        Shape `(N, C_in, H, W)` or `(C_in, H, W)`.
    weight
        Shape `(C_out, C_in / groups, K_h, K_w)`.
    bias
        Shape `(C_out,)`, or None.
    stride, dilation
        An int or two, at least 1.
    padding
        An int or two, or ``"valid"`` (none) or ``"same"`` (keeps the size, stride 1 only; an
        odd number puts one more after than before).
    groups
        The channels are split into as many independent groups.

    Returns
    -------
    Tensor
        Shape `(N, C_out, H', W')`,
        ``H' = (H + 2 padding - dilation (K_h - 1) - 1) // stride + 1``.

    Notes
    -----
    Tensors may also hold integers, all of one type. Sums are then exact, modulo 2 to the power of
    its bits: convert to ``int32`` or ``int64`` before, so that they fit.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x = pyqref.arange(9.0).reshape(1, 1, 3, 3)
    >>> F.conv2d(x, pyqref.ones(1, 1, 2, 2)).tolist()
    [[[[8.0, 12.0], [20.0, 24.0]]]]
    >>> F.conv2d(x, pyqref.ones(1, 1, 3, 3), padding="same").shape
    pyqref.Size([1, 1, 3, 3])
    """
    return _conv("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of `(N, C_in, D, H, W)`; see :func:`conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.conv3d(pyqref.ones(1, 2, 3, 3, 3), pyqref.ones(4, 2, 3, 3, 3)).flatten().tolist()
    [54.0, 54.0, 54.0, 54.0]
    """
    return _conv("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    function: str,
    spatial: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Any:
    _check(function, input, weight, spatial)
    require_tensor(function, "bias", bias, optional=True)
    groups = as_integer(groups, f"{function}(): groups")
    stride = tuple_of(function, "stride", stride, spatial, 1)
    padding = tuple_of(function, "padding", padding, spatial)
    output_padding = tuple_of(function, "output_padding", output_padding, spatial)
    dilation = tuple_of(function, "dilation", dilation, spatial, 1)
    require(
        all(o < max(s, d) for o, s, d in zip(output_padding, stride, dilation, strict=True)),
        f"output padding must be smaller than either stride or dilation, but got output_padding "
        f"{list(output_padding)}, stride {list(stride)}, dilation {list(dilation)}",
    )
    if not input.is_quantized:
        require_same_dtype(function, "input", input, weight=weight, bias=bias)
        channels = input.shape[-spatial - 1]
        require(
            channels == weight.shape[0] and groups > 0 and channels % groups == 0,
            f"{function}(): given groups={groups} and weight of shape {shape_text(weight)}, "
            f"expected input with {weight.shape[0]} channels, got {shape_text(input)}",
        )
        require_shape(function, "bias", bias, (weight.shape[1] * groups,))
    reach = zip(input.shape[-spatial:], stride, weight.shape[2:], dilation, strict=True)
    spread = [(n - 1) * s + d * (k - 1) + 1 for n, s, k, d in reach]
    require_memory((weight.shape[1], *spread), input._array.itemsize, f"{function}: a result")
    args = (weight, bias, stride, padding, output_padding, groups, dilation)
    if input.ndim == spatial + 1:
        return apply(tape.ConvTranspose, input.unsqueeze(0), *args).squeeze(0)
    return apply(tape.ConvTranspose, input, *args)


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """Transposed convolution of `(N, C_in, L)`; see :func:`conv_transpose2d`.

    Examples
    --------
    >>> import pyqref
    >>> x, weight = pyqref.tensor([[[1.0, 2.0]]]), pyqref.tensor([[[1.0, 10.0, 100.0]]])
    >>> pyqref.nn.functional.conv_transpose1d(x, weight, stride=2).tolist()
    [[[1.0, 10.0, 102.0, 20.0, 200.0]]]
    """
    return _conv_transpose(
        "conv_transpose1d",
        1,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """Transposed convolution: the gradient of :func:`conv2d` by its input, used forward.

    Parameters
    ----------
    input
        Shape `(N, C_in, H, W)` or `(C_in, H, W)`.
    weight
        Shape `(C_in, C_out / groups, K_h, K_w)`.
    bias
        Shape `(C_out,)`, or None.
    stride, padding, dilation, groups
        Those of the convolution.
    output_padding
        Added to the size, less than stride or dilation.

    Returns
    -------
    Tensor
        Shape `(N, C_out, H', W')`,
        ``H' = (H - 1) stride - 2 padding + dilation (K_h - 1) + output_padding + 1``.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.arange(4.0).reshape(1, 1, 2, 2)
    >>> pyqref.nn.functional.conv_transpose2d(pyqref.tensor([[[[2.0]]]]), weight).tolist()
    [[[[0.0, 2.0], [4.0, 6.0]]]]
    """
    return _conv_transpose(
        "conv_transpose2d",
        2,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """Transposed convolution of `(N, C_in, D, H, W)`; see :func:`conv_transpose2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.conv_transpose3d(pyqref.ones(1, 2, 1, 1, 1), pyqref.ones(2, 3, 2, 2, 2)).shape
    pyqref.Size([1, 3, 2, 2, 2])
    """
    return _conv_transpose(
        "conv_transpose3d",
        3,
        input,
        weight,
        bias,
        stride,
        padding,
        output_padding,
        groups,
        dilation,
    )


explain_errors(globals())
