"""Dropout of elements or of whole channels."""

from __future__ import annotations

import warnings
from typing import Any

from ..._typing import Tensor
from ...tape import dropout as tape
from ...tensor.dispatch import apply
from ...tensor.inplace import apply_
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_probability, require_tensor, shape_text

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _drop(input: Any, p: float, shape: tuple[int, ...], inplace: bool) -> Any:
    refuse_quantized(input)
    keep = input.new_empty(shape).bernoulli_(1 - p)
    return (apply_ if inplace else apply)(tape.Dropout, input, keep, p)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set elements to zero with probability ``p``, divide the others by ``1 - p``.

    Without ``training`` the input itself is returned.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> y = F.dropout(pyqref.ones(1000), 0.75)
    >>> sorted(set(y.tolist()))
    [0.0, 4.0]
    >>> F.dropout(pyqref.ones(2), 0.75, training=False).tolist()
    [1.0, 1.0]
    """
    require_tensor("dropout", "input", input)
    require_probability("dropout", p)
    if not training or p == 0:
        return input
    return _drop(input, p, tuple(input.shape), inplace)


def _dropout_channels(spatial: int, input: Any, p: float, training: bool, inplace: bool) -> Any:
    function = f"dropout{spatial}d"
    require_tensor(function, "input", input)
    require_probability("dropout", p)
    if input.ndim not in (spatial + 1, spatial + 2):
        if spatial == 1:
            raise RuntimeError(
                f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input of shape "
                f"{shape_text(input)}"
            )
        warnings.warn(
            f"{function}: Received a {input.ndim}-D input to {function}, which is deprecated and "
            f"will result in an error in a future release; expected {spatial + 1} or "
            f"{spatial + 2} dimensions",
            UserWarning,
            stacklevel=4,
        )
    if not training or p == 0:
        return input
    batched = spatial != 1 or input.ndim == spatial + 2
    leading = 2 if batched else 1
    shape = (*input.shape[:leading], *(1,) * (input.ndim - leading))
    return _drop(input, p, shape, inplace)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels of `(N, C, L)` or `(C, L)`."""
    return _dropout_channels(1, input, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels of `(N, C, H, W)`."""
    return _dropout_channels(2, input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """:func:`dropout` of whole channels of `(N, C, D, H, W)`."""
    return _dropout_channels(3, input, p, training, inplace)


#: What SELU tends to for large negative inputs: minus its scale times its alpha.
SELU_LOWEST = -1.7580993408473766


def _alpha_drop(input: Any, p: float, shape: tuple[int, ...], inplace: bool) -> Any:
    refuse_quantized(input)
    if p == 1:
        result = input * 0
    else:
        a = ((1 - p) * (1 + p * SELU_LOWEST**2)) ** -0.5
        keep = input.new_empty(shape).bernoulli_(1 - p)
        result = input * (keep * a) + ((1 - keep) * (a * SELU_LOWEST) - a * SELU_LOWEST * p)
    return input.copy_(result) if inplace else result


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean 0 and variance 1, for SELU: elements become its lowest value.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.randn(100000)
    >>> y = pyqref.nn.functional.alpha_dropout(x, 0.2, training=True)
    >>> abs(y.mean().item()) < 0.02, abs(y.std().item() - 1) < 0.02
    (True, True)
    """
    require_tensor("alpha_dropout", "input", input)
    require_probability("dropout", p)
    if not training or p == 0:
        return input
    return _alpha_drop(input, p, tuple(input.shape), inplace)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """:func:`alpha_dropout` of whole channels of `(N, C, *)`.

    Examples
    --------
    >>> import pyqref
    >>> y = pyqref.nn.functional.feature_alpha_dropout(pyqref.ones(1, 8, 5), 0.5, training=True)
    >>> bool((y.std(-1) == 0).all())
    True
    """
    require_tensor("feature_alpha_dropout", "input", input)
    require_probability("dropout", p)
    if not training or p == 0:
        return input
    shape = (*input.shape[:2], *(1,) * (input.ndim - 2))
    return _alpha_drop(input, p, shape, inplace)


explain_errors(globals())
