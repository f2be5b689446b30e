"""Functions that compare elements along a dimension, or mix two tensors: softmax, GLU, PReLU."""

from __future__ import annotations

import warnings
from typing import Any

from ..._typing import Dtype, Tensor
from ...tape import gated
from ...tensor.dispatch import apply
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, require_same_dtype, require_tensor, shape_text

__all__ = ["glu", "gumbel_softmax", "log_softmax", "prelu", "softmax", "softmin"]


def _dimension(function: str, input: Any, dim: int | None) -> int:
    if dim is None:
        warnings.warn(
            f"Implicit dimension choice for {function} has been deprecated. "
            "Change the call to include dim=X as an argument.",
            UserWarning,
            stacklevel=5,
        )
        dim = 0 if input.ndim in (0, 1, 3) else 1
    ndim = input._array.ndim or 1
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"{function}(): dim must be in [{-ndim}, {ndim - 1}] "
            f"for input of shape {shape_text(input)}, got {dim}"
        )
    return dim


def _along(function: str, operation: Any, input: Any, dim: int | None, dtype: Any) -> Any:
    require_tensor(function, "input", input)
    dim = _dimension(function, input, dim)
    if dtype is not None:
        input = input.to(dtype)
    require_floating(function, "input", input)
    if input._array.ndim == 0:
        return apply(operation, input.reshape(1), 0).reshape(())
    return apply(operation, input, dim)


def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``exp(input) / sum(exp(input))`` along ``dim``, first cast to ``dtype`` if given.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.softmax(pyqref.tensor([[1000.0, 1000.0], [0.0, 1000.0]]), -1).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    return _along("softmax", gated.Softmax, input, dim, dtype)


def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``log(softmax(input))`` along ``dim``, computed without overflow.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.log_softmax(pyqref.tensor([0.0, 1000.0]), 0).tolist()
    [-1000.0, 0.0]
    """
    return _along("log_softmax", gated.LogSoftmax, input, dim, dtype)


def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Dtype | None = None
) -> Tensor:
    """``softmax(-input)`` along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.softmin(pyqref.tensor([0.0, 1000.0]), 0).tolist()
    [1.0, 0.0]
    """
    require_tensor("softmin", "input", input)
    return _along("softmin", gated.Softmax, -input, dim, dtype)


def gumbel_softmax(
    logits: Tensor,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
) -> Tensor:
    """Softmax of ``(logits + Gumbel noise) / tau``; with ``hard``, one-hot forward only.

    Examples
    --------
    >>> import pyqref
    >>> y = pyqref.nn.functional.gumbel_softmax(pyqref.zeros(1000, 2), hard=True)
    >>> set(y.sum(-1).tolist()), bool(abs(y[:, 0].mean() - 0.5) < 0.1)
    ({1.0}, True)
    """
    require_floating("gumbel_softmax", "logits", logits)
    refuse_quantized(logits)
    noise = -logits.new_empty(logits.shape).exponential_().log()
    soft = softmax((logits + noise) / tau, dim)
    if not hard:
        return soft
    index = soft.detach().argmax(dim, keepdim=True)
    one_hot = soft.detach() * 0
    one_hot.scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the sigmoid of the second half.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.glu(pyqref.tensor([3.0, 4.0, 0.0, 1000.0])).tolist()
    [1.5, 4.0]
    """
    require_floating("glu", "input", input)
    if input.ndim == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = _dimension("glu", input, dim)
    if input.shape[dim] % 2 != 0:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    return apply(gated.Glu, input, dim)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """``input`` where it is positive, else ``weight * input``.

    ``weight`` has one element, or one for each channel (index of dimension 1).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.prelu(pyqref.tensor([[-4.0, -4.0], [4.0, 4.0]]), pyqref.tensor([0.5, 0.25])).tolist()
    [[-2.0, -1.0], [4.0, 4.0]]
    """
    require_floating("prelu", "input", input)
    require_tensor("prelu", "weight", weight)
    require_same_dtype("prelu", "input", input, weight=weight)
    shape, of_weight = input.shape, weight.shape
    channels = shape[1] if len(shape) > 1 else (shape[0] if shape else 1)
    if of_weight not in ((), (1,), (channels,)):
        raise RuntimeError(
            f"prelu(): weight must have 1 element or {channels}, one for each channel of input, "
            f"got shape {shape_text(weight)}"
        )
    return apply(gated.Prelu, input, weight)


explain_errors(globals(), quiet=False)
