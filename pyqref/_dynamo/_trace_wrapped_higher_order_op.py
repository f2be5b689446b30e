"""Name that compiled code imports for indexing; here a tensor indexes a tensor as it is."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(nullcontext[None]):
    """Leave everything as it is: ``x[i]`` takes a tensor ``i`` anyway.

    Examples
    --------
    >>> import pyqref
    >>> with TransformGetItemToIndex():
    ...     pyqref.arange(3)[pyqref.tensor(1)].item()
    1
    """
