"""Places of the elements that are not zero."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np

from .._typing import Tensor
from .aliases import alias
from .base import wrap
from .refusal import refuse_quantized
from .wrong_arguments import explain_errors

__all__ = ["argwhere", "nonzero"]


@overload
def nonzero(input: Tensor, *, as_tuple: Literal[False] = False) -> Tensor: ...


@overload
def nonzero(input: Tensor, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]: ...


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Tensor | tuple[Tensor, ...]:
    """Indices of the non-zero elements: a row each, or one tensor an axis.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nonzero(pyqref.tensor([[0, 5], [7, 0]])).tolist()
    [[0, 1], [1, 0]]
    """
    refuse_quantized(input)
    if as_tuple:
        return tuple(wrap(each) for each in np.nonzero(np.atleast_1d(input._array)))
    if input.ndim == 0:
        return wrap(np.zeros((int(bool(input._array)), 0), dtype=np.int64))
    return wrap(np.stack(np.nonzero(input._array), axis=1))


explain_errors(globals())
argwhere = alias(nonzero, "argwhere")
