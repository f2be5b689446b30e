"""Functions of a group of processes; there is none, as in ``torch`` before it is made."""

from __future__ import annotations

from typing import NoReturn

from .._typing import Tensor

__all__ = [
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "reduce",
]

_ADVICE = (
    "pyqref runs in one process, on several threads; leave the call out where "
    "torch.distributed.is_initialized() is False"
)


def _no_group(name: str) -> NoReturn:
    raise ValueError(f"distributed.{name}: there is no process group: {_ADVICE}")


def init_process_group(backend: str | None = None, *args: object, **kwargs: object) -> None:
    """Refused: pyqref runs in one process.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.init_process_group("gloo")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.init_process_group: there is no process group: pyqref runs in one ...
    """
    _no_group("init_process_group")


def destroy_process_group(group: object = None) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.destroy_process_group()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.destroy_process_group: there is no process group: pyqref runs in ...
    """
    _no_group("destroy_process_group")


def get_rank(group: object = None) -> int:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.get_rank()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.get_rank: there is no process group: pyqref runs in one process, ...
    """
    _no_group("get_rank")


def get_world_size(group: object = None) -> int:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.get_world_size()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.get_world_size: there is no process group: pyqref runs in one ...
    """
    _no_group("get_world_size")


def barrier(group: object = None, async_op: bool = False, device_ids: object = None) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.barrier()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.barrier: there is no process group: pyqref runs in one process, on ...
    """
    _no_group("barrier")


def all_reduce(
    tensor: Tensor, op: object = None, group: object = None, async_op: bool = False
) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.all_reduce(pyqref.ones(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.all_reduce: there is no process group: pyqref runs in one process, ...
    """
    _no_group("all_reduce")


def all_gather(
    tensor_list: object, tensor: Tensor, group: object = None, async_op: bool = False
) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.all_gather([], pyqref.ones(1))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.all_gather: there is no process group: pyqref runs in one process, ...
    """
    _no_group("all_gather")


def broadcast(
    tensor: Tensor, src: int | None = None, group: object = None, async_op: bool = False
) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.broadcast(pyqref.ones(1), 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.broadcast: there is no process group: pyqref runs in one process, ...
    """
    _no_group("broadcast")


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: object = None,
    group: object = None,
    async_op: bool = False,
) -> None:
    """Refused: there is no group.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.reduce(pyqref.ones(1), 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: distributed.reduce: there is no process group: pyqref runs in one process, on ...
    """
    _no_group("reduce")
