"""Places for the tensors of a file; there is one place."""

from __future__ import annotations

from .._typing import Tensor
from ..devices import require_cpu

__all__ = ["default_restore_location"]


def default_restore_location(storage: Tensor, location: str) -> Tensor:
    """Return what a file holds as it is, for ``map_location=`` functions that call this.

    Parameters
    ----------
    storage
        What was read.
    location
        ``"cpu"``.

    Raises
    ------
    RuntimeError
        ``location`` is another device.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(2)
    >>> pyqref.serialization.default_restore_location(x, "cpu") is x
    True
    """
    require_cpu(location, "default_restore_location: ", "use map_location='cpu'")
    return storage
