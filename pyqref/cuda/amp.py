"""Mixed precision on a GPU, which is not there: all stays float32, as in ``torch`` without one."""

from __future__ import annotations

from .._typing import Dtype
from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast
from ..amp import custom_bwd as custom_bwd
from ..amp import custom_fwd as custom_fwd

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(_autocast):
    """``pyqref.amp.autocast`` for ``"cuda"``: float32 stays float32.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.cuda.amp.autocast():
    ...     (pyqref.ones(1) * 2).dtype
    pyqref.float32
    """

    def __init__(
        self, enabled: bool = True, dtype: Dtype | None = None, cache_enabled: bool | None = True
    ) -> None:
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """:class:`pyqref.amp.GradScaler` for ``"cuda"``: without a GPU it scales nothing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.amp.GradScaler().is_enabled()
    False
    """

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        super().__init__(
            "cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
