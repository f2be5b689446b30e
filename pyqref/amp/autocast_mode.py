"""``autocast``: operations keep the precision of their inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .._typing import Dtype
from ..devices import device
from ..dtypes import float32
from ..nn.diagnostics import NoEffectWarning, warn

__all__ = [
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
    "is_autocast_enabled",
]


class autocast:
    """A ``with``, or a decorator, inside which ``torch`` computes in fewer bits where it can.

    Here float32 stays float32. On a GPU that is not there this is what ``torch`` does too, and
    silent; on the CPU ``torch`` would compute in bfloat16, so a warning says that nothing does.

    Parameters
    ----------
    device_type
        ``"cuda"``, ``"cpu"`` or another type of device.
    dtype
        What would be computed in; float32 or nothing is what is done.
    enabled
        Whether anything is asked for.
    cache_enabled
        Of no use here.

    Raises
    ------
    RuntimeError
        No device is called so.

    Warns
    -----
    NoEffectWarning
        The device is the CPU, and it is enabled with another dtype than float32.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.autocast("cuda", dtype=pyqref.float16):
    ...     (pyqref.ones(1) * 2).dtype
    pyqref.float32
    """

    def __init__(
        self,
        device_type: str,
        dtype: Dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"autocast: device_type must be a text such as 'cuda', got {device_type!r}"
            )
        self.device = device(device_type).type
        self.fast_dtype = dtype
        self._asked = bool(enabled)

    def __enter__(self) -> autocast:  # noqa: PYI034
        if self._asked and self.device == "cpu" and self.fast_dtype is not float32:
            warn(
                "autocast has no effect: operations compute in float32; leave it out, or write "
                "autocast('cpu', enabled=False)",
                NoEffectWarning,
            )
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return inside


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Always false: operations keep the precision of their inputs.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_autocast_enabled()
    False
    """
    return False


def is_autocast_available(device_type: str) -> bool:
    """Always false: operations keep the precision of their inputs.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.amp.is_autocast_available("cpu")
    False
    """
    return False


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str = "cuda", cast_inputs: object = None
) -> Callable[..., Any]:
    """The ``forward`` of an :class:`~pyqref.autograd.Function`: there is no precision to keep.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.amp.custom_fwd(device_type="cuda")
    ... def forward(ctx, x):
    ...     return x
    >>> forward(None, 1)
    1
    """
    return _itself if fwd is None else fwd


def custom_bwd(
    bwd: Callable[..., Any] | None = None, *, device_type: str = "cuda"
) -> Callable[..., Any]:
    """The ``backward`` of an :class:`~pyqref.autograd.Function`: there is no precision to keep.

    Examples
    --------
    >>> import pyqref
    >>> @pyqref.amp.custom_bwd(device_type="cuda")
    ... def backward(ctx, grad):
    ...     return grad
    >>> backward(None, 1)
    1
    """
    return _itself if bwd is None else bwd


def _itself(function: Any) -> Any:
    return function
