"""Switches of the whole library that ``torch`` has: what they ask for holds, or they say not.

Every operation of pyqref gives the same bits each time, for any number of threads; float32 is
computed in float32; one operation runs at a time, on the CPU.
"""

from __future__ import annotations

from typing import Any

from ._typing import Device
from .devices import device as device_
from .devices import require_cpu
from .dtypes import dtype as dtype_
from .dtypes import float16, float32, float64
from .nn.diagnostics import NoEffectWarning, warn
from .tensor import set_default_dtype

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_default_device",
    "get_deterministic_debug_mode",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "use_deterministic_algorithms",
]


class _State:
    deterministic = False
    warn_only = False
    precision = "highest"


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Remember whether the same bits are wanted each time; they always come.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.use_deterministic_algorithms(True)
    >>> pyqref.are_deterministic_algorithms_enabled()
    True
    >>> pyqref.use_deterministic_algorithms(False)
    """
    _State.deterministic, _State.warn_only = bool(mode), bool(mode and warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Return the last argument of :func:`use_deterministic_algorithms`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.are_deterministic_algorithms_enabled()
    False
    """
    return _State.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Return True if :func:`use_deterministic_algorithms` was told to warn only.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.is_deterministic_algorithms_warn_only_enabled()
    False
    """
    return _State.warn_only


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Form of :func:`use_deterministic_algorithms`: 0, 1, 2 or "default", "warn", "error".

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_deterministic_debug_mode("default")
    >>> pyqref.get_deterministic_debug_mode()
    0
    """
    names: dict[Any, int] = {"default": 0, "warn": 1, "error": 2, 0: 0, 1: 1, 2: 2}
    if not isinstance(debug_mode, (int, str)) or debug_mode not in names:
        raise RuntimeError(
            "set_deterministic_debug_mode: debug_mode must be 0, 1, 2, 'default', 'warn' or "
            f"'error', got {debug_mode!r}"
        )
    mode = names[debug_mode]
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 if :func:`use_deterministic_algorithms` was told to warn, 2 if to raise.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_deterministic_debug_mode()
    0
    """
    return (1 if _State.warn_only else 2) if _State.deterministic else 0


def set_float32_matmul_precision(precision: str) -> None:
    """Remember how exact products of float32 must be: they are as exact as ``"highest"``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_float32_matmul_precision("high")
    >>> pyqref.get_float32_matmul_precision()
    'high'
    >>> pyqref.set_float32_matmul_precision("highest")
    """
    if precision not in ("highest", "high", "medium"):
        raise ValueError(
            "set_float32_matmul_precision: precision must be 'highest', 'high' or 'medium', "
            f"got {precision!r}"
        )
    _State.precision = precision


def get_float32_matmul_precision() -> str:
    """Return the last argument of :func:`set_float32_matmul_precision`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_float32_matmul_precision()
    'highest'
    """
    return _State.precision


def set_flush_denormal(mode: bool) -> bool:
    """Return False: the processor keeps subnormal numbers, whatever ``mode`` asks for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_flush_denormal(True)
    False
    """
    return False


def set_num_interop_threads(num: int) -> None:
    """One operation runs at a time; :func:`~pyqref.set_num_threads` says on how many threads.

    Warns
    -----
    NoEffectWarning
        More than one is asked for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_num_interop_threads(1)
    """
    if not isinstance(num, int) or num < 1:
        raise RuntimeError(f"set_num_interop_threads: num must be an integer >= 1, got {num!r}")
    if num > 1:
        warn(
            "set_num_interop_threads has no effect: one operation runs at a time; "
            "set_num_threads says on how many threads",
            NoEffectWarning,
        )


def get_num_interop_threads() -> int:
    """Always 1: one operation runs at a time.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_num_interop_threads()
    1
    """
    return 1


def set_default_device(device: Device) -> None:
    """Accept the CPU, or None; another device is refused.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_default_device("cpu")
    >>> pyqref.set_default_device("cuda")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: set_default_device: device 'cuda' is not available: pyqref runs on the CPU ...
    """
    if device is not None:
        require_cpu(device, "set_default_device: ", "leave the call out, or use 'cpu'")


def get_default_device() -> device_:
    """The CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_default_device()
    device(type='cpu')
    """
    return device_("cpu")


def set_default_tensor_type(t: str) -> None:
    """Set the default dtype by the name of a type of tensors.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_default_tensor_type("torch.FloatTensor")
    >>> pyqref.get_default_dtype()
    pyqref.float32
    """
    if isinstance(t, dtype_):
        set_default_dtype(t)
        return
    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    if ".cuda." in name:
        raise RuntimeError(
            f"set_default_tensor_type: {name} lies on a GPU, and pyqref runs on the CPU only; "
            "leave the call out where torch.cuda.is_available() is False"
        )
    types = {"FloatTensor": float32, "DoubleTensor": float64, "HalfTensor": float16}
    plain = name.rpartition(".")[2]
    if plain not in types:
        raise TypeError(
            f"set_default_tensor_type: t must be one of {', '.join(types)}, got {name!r}"
        )
    set_default_dtype(types[plain])
