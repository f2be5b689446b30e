"""There is no CUDA here: scripts may ask, wait, and measure, and are told so where they use it.

Questions get the answer of a machine without a GPU. What waits for a GPU, or frees its memory, has
nothing to do. What needs one raises an error that says what to write.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import TYPE_CHECKING, Any, NoReturn

from .._lazy import on_first_use
from .._typing import Device
from ..devices import device as device_
from ..devices import require_cpu
from .order import Event as Event
from .order import Stream as Stream
from .order import StreamContext as StreamContext
from .order import current_stream as current_stream
from .order import default_stream as default_stream
from .order import stream as stream
from .order import synchronize as synchronize

if TYPE_CHECKING:
    from . import amp as amp

__all__ = [
    "CUDAGraph",
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state_all",
    "graph",
    "init",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state_all",
    "stream",
    "synchronize",
]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {"amp": (".", "amp")})


def _needs_gpu(function: str) -> RuntimeError:
    return RuntimeError(
        f"cuda.{function}: there is no GPU: pyqref runs on the CPU only; leave the call out, or "
        "ask torch.cuda.is_available() before"
    )


class CUDAGraph:
    """Refused when one is made: there is no GPU. Signatures may name it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.CUDAGraph()
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.CUDAGraph(): there is no GPU: pyqref runs on the CPU only; leave ...
    """

    def __init__(self, keep_graph: bool = False) -> None:
        raise _needs_gpu("CUDAGraph()")


def graph(*_: object, **__: object) -> NoReturn:
    """Refused: there is no GPU whose work could be recorded.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.graph()
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.graph(): there is no GPU: pyqref runs on the CPU only; leave ...
    """
    raise _needs_gpu("graph()")


def is_available() -> bool:
    """Always false: everything runs on the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.is_initialized()
    False
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.is_bf16_supported()
    False
    """
    return False


def device_count() -> int:
    """Always 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.device_count()
    0
    """
    return 0


def manual_seed(seed: int) -> None:
    """No device, no stream to seed.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.manual_seed(0)  # a script may say so
    """


def manual_seed_all(seed: int) -> None:
    """No device, no stream to seed.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.manual_seed_all(0)  # a script may say so
    """


def empty_cache() -> None:
    """No memory of a GPU is kept.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.empty_cache()
    """


def ipc_collect() -> None:
    """No memory of a GPU is kept.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.ipc_collect()
    """


def reset_peak_memory_stats(device: Device = None) -> None:
    """No memory of a GPU is counted.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.reset_peak_memory_stats()
    """


def reset_max_memory_allocated(device: Device = None) -> None:
    """No memory of a GPU is counted.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.reset_max_memory_allocated()
    """


def memory_allocated(device: Device = None) -> int:
    """Bytes of a GPU that tensors take: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: Device = None) -> int:
    """Bytes of a GPU that tensors took at most: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.max_memory_allocated()
    0
    """
    return 0


def memory_reserved(device: Device = None) -> int:
    """Bytes of a GPU that are kept: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: Device = None) -> int:
    """Bytes of a GPU that were kept at most: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.max_memory_reserved()
    0
    """
    return 0


def get_rng_state_all() -> list[Any]:
    """The states of the streams of all GPUs: none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.get_rng_state_all()
    []
    """
    return []


def set_rng_state_all(new_states: Sequence[object]) -> None:
    """Take back what :func:`get_rng_state_all` gave.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.set_rng_state_all(pyqref.cuda.get_rng_state_all())
    """
    if len(list(new_states)):
        raise _needs_gpu("set_rng_state_all()")


def init() -> None:
    """Refused: there is no GPU to get ready.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.init()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.init(): there is no GPU: pyqref runs on the CPU only; leave the call ...
    """
    raise _needs_gpu("init()")


def current_device() -> int:
    """Refused: there is no GPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.current_device()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.current_device(): there is no GPU: pyqref runs on the CPU only; leave ...
    """
    raise _needs_gpu("current_device()")


def set_device(device: Any) -> None:
    """Refused, unless ``device`` is the CPU or a negative number.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.set_device(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.set_device(0): there is no GPU: pyqref runs on the CPU only; leave ...
    """
    if isinstance(device, int):
        if device >= 0:
            raise _needs_gpu(f"set_device({device})")
        return
    if device_(device).type != "cpu":
        raise _needs_gpu(f"set_device({str(device)!r})")


def get_device_name(device: Device = None) -> str:
    """Refused: there is no GPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.get_device_name()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.get_device_name(): there is no GPU: pyqref runs on the CPU only; leave ...
    """
    raise _needs_gpu("get_device_name()")


def get_device_capability(device: Device = None) -> tuple[int, int]:
    """Refused: there is no GPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.get_device_capability()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.get_device_capability(): there is no GPU: pyqref runs on the CPU only; ...
    """
    raise _needs_gpu("get_device_capability()")


def get_device_properties(device: Device = None) -> NoReturn:
    """Refused: there is no GPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.get_device_properties(0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: cuda.get_device_properties(): there is no GPU: pyqref runs on the CPU only; ...
    """
    raise _needs_gpu("get_device_properties()")


class device:
    """``with cuda.device(...)``: refused for a GPU; with None or a negative number, nothing.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.cuda.device(None):
    ...     pass
    """

    def __init__(self, device: Device) -> None:
        self.device = device

    def __enter__(self) -> None:
        given = self.device
        if isinstance(given, int):
            if given >= 0:
                raise _needs_gpu(f"device({given})")
        elif given is not None:
            require_cpu(given, "with cuda.device(...): ", "leave the with out")

    def __exit__(self, *exception: object) -> None:
        pass
