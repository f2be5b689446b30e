"""Functions that store their result in their first argument, of several neighbouring files."""

from __future__ import annotations

from .._typing import Tensor
from ..tape.inverse_error_function import Erfinv
from .aliases import same_elements
from .diagonals import tril, triu
from .dispatch import apply
from .inplace import in_place
from .promotion import to_floating
from .reduction import cumprod, cumsum
from .shape import squeeze, t, transpose, unsqueeze

__all__ = [
    "cumprod_",
    "cumsum_",
    "erfinv",
    "erfinv_",
    "squeeze_",
    "swapaxes_",
    "swapdims_",
    "t_",
    "transpose_",
    "tril_",
    "triu_",
    "unsqueeze_",
]


def erfinv(input: Tensor) -> Tensor:
    """The number whose error function is each element, in [-1, 1]; nan outside.

    ``y`` with ``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to ``y`` the element.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.erfinv(pyqref.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.4769,   -inf])
    """
    return apply(Erfinv, *to_floating(input))


tril_, triu_ = in_place(tril), in_place(triu)
cumsum_, cumprod_ = in_place(cumsum), in_place(cumprod)
erfinv_ = in_place(erfinv)
squeeze_, unsqueeze_ = same_elements(squeeze), same_elements(unsqueeze)
transpose_, t_ = same_elements(transpose), same_elements(t)
swapaxes_ = swapdims_ = transpose_
