"""The base of all observers."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.nn.modules.module import Module

from ..._typing import Tensor
from .html import observer_html
from .partial import PartialWrapper, make_partial

__all__ = ["Observer", "ObserverBase"]


class ObserverBase(ABC, Module):
    """A module that looks at the tensors passing through it and returns them unchanged.

    From what it saw, :meth:`calculate_qparams` works out the scale and zero point with
    which such tensors are quantized. Documented as ``Observer``.

    Parameters
    ----------
    dtype
        Type of the integers that the tensors will be quantized to.
    is_dynamic
        Whether the parameters will be chosen anew for each tensor, at run time.

    Raises
    ------
    TypeError
        ``dtype`` is no dtype.

    Notes
    -----
    A new observer defines ``forward`` and ``calculate_qparams``.

    Source: ``torch.quantization``, "Observers".

    Examples
    --------
    >>> import pyqref
    >>> class MaxObserver(ObserverBase):
    ...     largest = 0.0
    ...     def forward(self, x):
    ...         self.largest = max(self.largest, x.abs().max().item())
    ...         return x
    ...     def calculate_qparams(self):
    ...         return pyqref.tensor([self.largest / 127]), pyqref.tensor([0])
    >>> observer = MaxObserver(pyqref.qint8)
    >>> _ = observer(pyqref.tensor([1.0, -127.0]))
    >>> observer.calculate_qparams()
    (tensor([1.]), tensor([0]))
    """

    def __init__(self, dtype: Dtype, is_dynamic: bool = False) -> None:
        super().__init__()
        if not isinstance(dtype, Dtype):
            raise TypeError(
                f"{type(self).__name__}: dtype must be a dtype such as pyqref.quint8, got {dtype!r}"
            )
        self.dtype = dtype
        self.is_dynamic = is_dynamic

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """Look at ``x`` and return it."""

    @abstractmethod
    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale and zero point for what was seen."""

    def _repr_html_(self) -> str:
        return observer_html(self)

    @classmethod
    def with_args(cls, **kwargs: object) -> PartialWrapper:
        """A recipe for this observer with these arguments, for a QConfig.

        Examples
        --------
        >>> import pyqref
        >>> recipe = pyqref.quantization.MinMaxObserver.with_args(dtype=pyqref.qint8)
        >>> recipe().dtype
        pyqref.qint8
        """
        return make_partial(cls, **kwargs)

    @classmethod
    def with_callable_args(cls, **kwargs: Callable[[], Any]) -> PartialWrapper:
        """A recipe whose arguments are worked out, by calling them, each time."""
        return PartialWrapper(functools.partial(cls), dict(kwargs))


Observer = ObserverBase
