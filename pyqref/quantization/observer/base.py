"""The base of all observers."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.nn.modules.module import Module

from ..._typing import Self, Tensor
from .html import observer_html
from .merging import require_alike
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

    def merge(self, other: ObserverBase) -> Self:
        """Take in what another observer saw, as if this one had seen it as well.

        Calibrate parts of the data with observers of their own, in any number of processes, and
        merge them: ``docs/calibrate`` tells for each class what is exact.

        Parameters
        ----------
        other
            An observer of the same class, made with the same arguments. It stays as it is.

        Returns
        -------
        ObserverBase
            The observer itself.

        Raises
        ------
        TypeError
            ``other`` is of another class.
        ValueError
            It was made with other arguments, or has another number of channels.
        NotImplementedError
            A class of your own does not define ``_merge(self, other)``.

        Examples
        --------
        >>> import pyqref
        >>> first, second = [pyqref.quantization.MinMaxObserver() for _ in range(2)]
        >>> _ = first(pyqref.tensor([0.0, 1.0])), second(pyqref.tensor([-3.0, 0.5]))
        >>> first.merge(second)
        MinMaxObserver(min_val=-3.0, max_val=1.0)
        """
        require_alike(self, other)
        self._merge(other)
        return self

    def _merge(self, other: Any) -> None:
        """Take in the state of ``other``, which is of this class and was made alike."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say how to merge: define its method "
            "_merge(self, other), which takes in what other saw"
        )

    def _has_data(self) -> bool:
        """Return True if parameters can be calculated without a warning."""
        return True

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
