"""``RowsObserverBase``: what observers of a tensor, or of each of its channels, are made with."""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import per_channel_affine_float_qparams

from .uniform import UniformQuantizationObserverBase

__all__ = ["RowsObserverBase"]


class RowsObserverBase(UniformQuantizationObserverBase):
    """Base of the observers that take a tensor as one row of numbers, or each channel as a row.

    Parameters
    ----------
    ch_axis
        The axis of the channels for a per-channel scheme; without effect, and -1, for others.
    takes_float_qparams
        Whether the scheme may be ``per_channel_affine_float_qparams``.
    **arguments
        Those of :class:`UniformQuantizationObserverBase`.

    Raises
    ------
    TypeError
        ``ch_axis`` is no int.
    NotImplementedError
        ``is_dynamic``, a scheme that is not taken, or a symmetric one with ``quint8`` and
        ``reduce_range``.
    """

    def __init__(
        self, ch_axis: int = 0, takes_float_qparams: bool = True, **arguments: Any
    ) -> None:
        super().__init__(**arguments)
        name = type(self).__name__
        if self.is_dynamic:
            raise NotImplementedError(
                f"{name} does not support dynamic quantization; use MinMaxObserver(is_dynamic=True)"
            )
        if self.qscheme is per_channel_affine_float_qparams and not takes_float_qparams:
            self._refuse_qscheme("affine or symmetric, per tensor or per channel")
        if isinstance(ch_axis, bool) or not isinstance(ch_axis, int):
            raise TypeError(f"{name}: ch_axis must be an int, got {ch_axis!r}")
        self.ch_axis = ch_axis if self.qscheme.is_per_channel else -1
        self._refuse_reduced_quint8()
