"""Functions that store their result in their first argument, of several neighbouring files."""

from __future__ import annotations

from typing import Any

from ..tape.inverse_error_function import Erfinv
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


def erfinv(input: Any) -> Any:
    """The number whose error function is each element, in [-1, 1]; nan outside.

    ``y`` with ``2 / sqrt(pi)`` times the integral of ``e**(-t**2)`` from 0 to ``y`` the element.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.erfinv(pyqref.tensor([0.0, 0.5, -1.0]))
    tensor([0.0000, 0.4769,   -inf])
    """
    return apply(Erfinv, *to_floating(input))


def _same_elements(function: Any) -> Any:
    """The in-place form of a view: the tensor itself takes the new shape."""

    def changed(input: Any, *args: Any) -> Any:
        result = function(input, *args)
        input._array = result._array
        if input.is_quantized:
            input._quantizer = result._quantizer  # whose axis went with the channels
        if not result.is_leaf:
            input._goes_to = result._goes_to
        return input

    changed.__name__ = changed.__qualname__ = f"{function.__name__}_"
    changed.__doc__ = f"In-place form of :func:`{function.__name__}`."
    return changed


tril_, triu_ = in_place(tril), in_place(triu)
cumsum_, cumprod_ = in_place(cumsum), in_place(cumprod)
erfinv_ = in_place(erfinv)
squeeze_, unsqueeze_ = _same_elements(squeeze), _same_elements(unsqueeze)
transpose_, t_ = _same_elements(transpose), _same_elements(t)
swapaxes_ = swapdims_ = transpose_
