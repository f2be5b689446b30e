"""Settings by which scripts tell the tape about memory."""

from __future__ import annotations

from contextlib import nullcontext

__all__ = ["save_on_cpu"]


class save_on_cpu(nullcontext[None]):
    """Have no effect: tensors for the gradient are in the memory of the CPU anyway.

    Parameters
    ----------
    pin_memory, device_type
        Of no use here.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.ones(1, requires_grad=True)
    >>> with save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad.item()
    2.0
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__()
