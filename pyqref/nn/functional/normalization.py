"""Batch, layer, group, instance and root-mean-square normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tape import normalization as tape
from ...tensor.arguments import as_number
from ...tensor.base import TensorBase
from ...tensor.dispatch import apply
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, require_shape, require_tensor, shape_text
from .padding import pad
from .pooling import avg_pool2d, avg_pool3d

__all__ = [
    "batch_norm",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
]


def _several_values(function: str, input: Any, count: int) -> None:
    if count == 1:
        raise ValueError(
            f"{function}(): expected more than 1 value per channel when training, "
            f"got input size {shape_text(input)}"
        )


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Normalize every channel over batch and space.

    ``(input - mean) / sqrt(var + eps) * weight + bias``, with the moments of the batch if
    ``training``, else the running ones.

    Parameters
    ----------
    input
        Shape `(N, C, *)`.
    running_mean, running_var
        Shape `(C,)`; may be None if ``training``, when they are updated in place:
        ``(1 - momentum) * running + momentum * batch``, the variance unbiased.
    weight, bias
        Shape `(C,)`, or None.
    eps
        Added to the variance: positive if ``training``, else at least 0.

    Raises
    ------
    RuntimeError
        A shape does not fit, or a running moment is missing where none is computed.
    ValueError
        ``eps`` is too small, or in training a channel has one value only.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x, mean, var = pyqref.tensor([[1.0], [5.0]]), pyqref.tensor([1.0]), pyqref.tensor([4.0])
    >>> F.batch_norm(x, mean, var, eps=0.0).tolist()
    [[0.0], [2.0]]
    >>> y = F.batch_norm(x, mean, var, training=True, momentum=0.5)
    >>> mean.item(), var.item()  # moved halfway towards those of the batch
    (2.0, 6.0)
    """
    require_floating("batch_norm", "input", input)
    shape = input._array.shape
    if len(shape) < 2:
        raise RuntimeError(
            f"batch_norm(): expected input of shape [N, C, *], got {shape_text(input)}"
        )
    channels = shape[1]
    parameters = {
        "running_mean": running_mean,
        "running_var": running_var,
        "weight": weight,
        "bias": bias,
    }
    expected = (channels,)
    for name, value in parameters.items():
        if value is not None and not (
            isinstance(value, TensorBase) and value._array.shape == expected
        ):
            require_tensor("batch_norm", name, value)
            require_shape("batch_norm", name, value, expected)
    if training:
        _several_values("batch_norm", input, input.numel() // max(channels, 1))
    else:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "batch_norm(): expected running_mean and running_var to be given when "
                "training=False"
            )
    eps, momentum = as_number(eps, "batch_norm: eps"), as_number(momentum, "batch_norm: momentum")
    if eps < 0.0 or (training and eps == 0.0):
        wanted = "positive when training" if training else "at least 0"
        raise ValueError(f"batch_norm(): eps must be {wanted}, got {eps}")
    result = apply(
        tape.BatchNorm,
        input,
        weight,
        bias,
        running_mean,
        running_var,
        bool(training),
        momentum,
        eps,
    )
    if training and running_mean is not None and running_var is not None:
        running_mean._version[0] += 1
        running_var._version[0] += 1
    return result


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> Tensor:
    """Normalize every channel of every sample over space.

    ``input`` is `(N, C, *)`. With ``use_input_stats`` the moments are those of the sample (and
    running ones, if given, are updated with their mean over the batch); else the running
    ones are used, as in :func:`batch_norm`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.instance_norm(pyqref.tensor([[[0.0, 2.0], [10.0, 30.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """
    require_floating("instance_norm", "input", input)
    if input.ndim < 3:
        raise RuntimeError(
            f"instance_norm(): expected input of shape [N, C, *], got {shape_text(input)}"
        )
    channels = input.shape[1]
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError(
                "Expected running_mean and running_var to be defined when use_input_stats=False"
            )
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    for name, value in {"weight": weight, "bias": bias}.items():
        require_shape("instance_norm", name, value, (channels,))
    size = math.prod(input.shape[2:])
    if size == 1:
        raise ValueError(
            "Expected more than 1 spatial element when training, got input size "
            f"{shape_text(input)}"
        )
    refuse_quantized(input, running_mean, running_var, weight, bias)
    eps, momentum = (
        as_number(eps, "instance_norm: eps"),
        as_number(momentum, "instance_norm: momentum"),
    )
    observed = input._array.size > 0
    if observed and running_mean is not None and running_var is not None:
        pixels = input._array.reshape(input.shape[0], channels, -1)
        mean = pixels.mean(axis=2, dtype=np.float64).mean(axis=0)
        variance = pixels.var(axis=2, dtype=np.float64, ddof=1).mean(axis=0)
        for running, current in ((running_mean, mean), (running_var, variance)):
            running._array[...] = (1 - momentum) * running._array + momentum * current
            running._version[0] += 1
    return apply(tape.GroupNorm, input, channels, weight, bias, eps)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Normalize every group of channels of every sample of `(N, C, *)`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[[0.0], [2.0], [10.0], [30.0]]])
    >>> pyqref.nn.functional.group_norm(x, 2, eps=0.0).flatten().tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """
    require_floating("group_norm", "input", input)
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    channels = input.shape[1]
    if not (num_groups > 0 and channels % num_groups == 0):
        raise RuntimeError(
            f"Expected number of channels in input to be divisible by num_groups, but got input of "
            f"shape {shape_text(input)} and num_groups={num_groups}"
        )
    for name, value in {"weight": weight, "bias": bias}.items():
        require_shape("group_norm", name, value, (channels,))
    eps = as_number(eps, "group_norm: eps")
    return apply(tape.GroupNorm, input, num_groups, weight, bias, eps)


def _normalized_axes(
    function: str, input: Any, normalized_shape: Sequence[int], weight: Any, bias: Any
) -> int:
    require_floating(function, "input", input)
    shape, whole = tuple(normalized_shape), input._array.shape
    if not shape:
        raise RuntimeError(
            f"{function}(): expected normalized_shape to be at least 1-dimensional, got []"
        )
    if whole[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape "
            f"[*, {', '.join(map(str, shape))}], but got input of size {shape_text(input)}"
        )
    if weight is not None:
        require_shape(function, "weight", weight, shape)
    if bias is not None:
        require_shape(function, "bias", bias, shape)
    return len(shape)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Normalize over the last dimensions, of shape ``normalized_shape``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.layer_norm(pyqref.tensor([[0.0, 2.0], [10.0, 30.0]]), [2], eps=0.0).tolist()
    [[-1.0, 1.0], [-1.0, 1.0]]
    """
    axes = _normalized_axes("layer_norm", input, normalized_shape, weight, bias)
    eps = as_number(eps, "layer_norm: eps")
    return apply(tape.LayerNorm, input, weight, bias, eps, axes)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide by the root of the mean square over the last dimensions.

    ``input / sqrt(mean(input^2) + eps) * weight``; ``eps`` is that of the dtype by default.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.rms_norm(pyqref.tensor([[1.0, 7.0]]), [2], eps=0.0).tolist()
    [[0.20000000298023224, 1.399999976158142]]
    """
    refuse_quantized(input, weight)
    axes = _normalized_axes("rms_norm", input, normalized_shape, weight, None)
    if eps is None:
        eps = np.finfo(input._array.dtype).eps.item()
    eps = as_number(eps, "rms_norm: eps")
    return apply(tape.RmsNorm, input, weight, None, eps, axes)


def local_response_norm(
    input: Tensor, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> Tensor:
    """Divide by ``(k + alpha * mean of the squares of size neighbouring channels)^beta``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[[3.0], [4.0]]])
    >>> pyqref.nn.functional.local_response_norm(x, 2, alpha=2.0, beta=0.5, k=0.0).tolist()
    [[[1.0], [0.800000011920929]]]
    """
    require_floating("local_response_norm", "input", input)
    if input.ndim < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = (input * input).unsqueeze(1)
    if input.ndim == 3:
        padded = pad(squares, (0, 0, size // 2, (size - 1) // 2))
        mean = avg_pool2d(padded, (size, 1), stride=1).squeeze(1)
    else:
        batch, channels, height = input.shape[:3]
        squares = squares.reshape(batch, 1, channels, height, -1)
        padded = pad(squares, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean = avg_pool3d(padded, (size, 1, 1), stride=1).reshape(input.shape)
    return input / (mean * alpha + k) ** beta


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None
) -> Tensor:
    """``input`` over the larger of its ``p``-norm along ``dim`` and ``eps``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.normalize(pyqref.tensor([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    require_floating("normalize", "input", input)
    result = input / input.norm(p, dim, keepdim=True).clamp_min(eps)
    return result if out is None else out.copy_(result)


explain_errors(globals())
