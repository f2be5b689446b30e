"""Change a buffer in place, so that every holder sees its new value."""

from __future__ import annotations

from pyqref._typing import Tensor
from pyqref.tape import Array

__all__ = ["assign"]


def assign(tensor: Tensor, values: Array) -> None:
    """Put ``values`` into the memory of a tensor; where their number is another, resize it.

    Nothing is recorded: for buffers, which get no gradients. The dtype of the tensor stays.

    Examples
    --------
    >>> import numpy as np, pyqref
    >>> buffer = pyqref.zeros(2)
    >>> alias, view = buffer, buffer[:1]
    >>> assign(buffer, np.array([1.0, 2.0]))
    >>> alias.tolist(), view.tolist()
    ([1.0, 2.0], [1.0])
    >>> assign(buffer, np.array([1.0, 2.0, 3.0]))
    >>> alias.tolist()
    [1.0, 2.0, 3.0]
    """
    own = tensor._array
    if own.size == values.size:
        try:
            own[()] = values
        except ValueError:  # of another shape, or read only
            if not own.flags.writeable:
                tensor._array = own = own.copy()
            own[()] = values.reshape(own.shape)
    else:
        tensor._array = values.astype(own.dtype)
    if tensor._changes is not None:
        tensor._changes[0] += 1
