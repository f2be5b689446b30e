"""Dropout layers: in training, zeros in random places; in evaluation, nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._typing import Tensor
from ...tensor.arguments import as_flag
from .. import functional as F
from .arguments import probability
from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _Dropout(Module):
    """Some function that drops with probability ``p``."""

    __constants__ = ["p", "inplace"]
    _function: Callable[..., Any]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        self.p = probability(p, "p")
        self.inplace = as_flag(inplace, "inplace")

    def forward(self, input: Tensor) -> Tensor:
        """The shape stays."""
        return type(self)._function(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The arguments."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Set elements to zero with probability ``p``, divide the others by ``1 - p``.

    Parameters
    ----------
    p
        In [0, 1].
    inplace
        Store the result in the input.

    Notes
    -----
    Which elements are dropped differs from ``torch``, whose choice depends on its build.
    Source: documentation of ``torch.nn.Dropout``; arXiv 1207.0580.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.Dropout(0.2).eval()(pyqref.ones(3)).tolist()
    [1.0, 1.0, 1.0]
    """

    _function = staticmethod(F.dropout)


class Dropout1d(_Dropout):
    """:class:`Dropout` of whole channels of `(N, C, L)` or `(C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Dropout1d(0.5)
    >>> layer.eval()(pyqref.ones(1, 2, 3))
    tensor([[[1., 1., 1.],
             [1., 1., 1.]]])
    """

    _function = staticmethod(F.dropout1d)


class Dropout2d(_Dropout):
    """:class:`Dropout` of whole channels of `(N, C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Dropout2d(0.5)
    >>> layer.eval()(pyqref.ones(1, 1, 4, 4)).shape
    pyqref.Size([1, 1, 4, 4])
    """

    _function = staticmethod(F.dropout2d)


class Dropout3d(_Dropout):
    """:class:`Dropout` of whole channels of `(N, C, D, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Dropout3d(0.5)
    >>> layer.eval()(pyqref.ones(1, 1, 4, 4, 4)).shape
    pyqref.Size([1, 1, 4, 4, 4])
    """

    _function = staticmethod(F.dropout3d)


class AlphaDropout(_Dropout):
    """Dropout to the lowest value of SELU that keeps mean 0 and variance 1.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.AlphaDropout(0.2).eval()
    >>> layer(pyqref.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """

    _function = staticmethod(F.alpha_dropout)


class FeatureAlphaDropout(_Dropout):
    """:class:`AlphaDropout` of whole channels of `(N, C, *)`.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.FeatureAlphaDropout(0.2).eval()
    >>> layer(pyqref.ones(1, 2, 2)).shape
    pyqref.Size([1, 2, 2])
    """

    _function = staticmethod(F.feature_alpha_dropout)
