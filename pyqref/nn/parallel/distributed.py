"""``DistributedDataParallel``: scripts look whether a model is one; none can be made."""

from __future__ import annotations

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Refused: pyqref trains in one process. ``isinstance`` may be asked.

    Raises
    ------
    RuntimeError
        Always.

    Examples
    --------
    >>> from pyqref import nn
    >>> isinstance(nn.Linear(2, 1), nn.parallel.DistributedDataParallel)
    False
    """

    def __init__(self, module: Module, *args: object, **kwargs: object) -> None:
        raise RuntimeError(
            "DistributedDataParallel: pyqref trains in one process; train the module itself, as a "
            "script does where torch.distributed.is_available() is False"
        )
