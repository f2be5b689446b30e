"""Modules that compute nothing: pass on, flatten, unflatten."""

from __future__ import annotations

from collections.abc import Sequence

from ..._typing import Tensor
from .module import Module

__all__ = ["Flatten", "Identity", "Unflatten"]


class Identity(Module):
    """Returns its input. Arguments are accepted and mean nothing, as a placeholder's may.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.Identity(54, unused="yes")
    Identity()
    """

    def __init__(self, *args: int, **kwargs: object) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Flatten(Module):
    """Makes one dimension of several.

    Parameters
    ----------
    start_dim, end_dim
        The first and the last of these dimensions.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> nn.Flatten()(pyqref.zeros(2, 3, 4)).shape
    pyqref.Size([2, 12])
    """

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """Shape `(*before, start, ..., end, *after)` to `(*before, product, *after)`."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        """The two dimensions."""
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Makes several dimensions of one.

    Parameters
    ----------
    dim
        The dimension, an int.
    unflattened_size
        The lengths that it becomes; one may be -1.

    Raises
    ------
    TypeError
        ``dim`` is no int, or ``unflattened_size`` no tuple or list of ints.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.Unflatten(1, (2, 3))
    >>> layer(pyqref.zeros(4, 6)).shape
    pyqref.Size([4, 2, 3])
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(f"dim must be an int, got {type(dim).__name__}")
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                "unflattened_size must be tuple of ints, but found type "
                f"{type(unflattened_size).__name__}"
            )
        for position, length in enumerate(unflattened_size):
            if not isinstance(length, int):
                raise TypeError(
                    "unflattened_size must be tuple of ints, but found element of type "
                    f"{type(length).__name__} at pos {position}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """``input.unflatten(dim, unflattened_size)``."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        """The dimension and its new lengths."""
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
