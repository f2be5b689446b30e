"""Products of real matrices, by the threads that the kernels use.

A compiled kernel multiplies matrices of float32 (:eq:`eq-float-product`). All else is left to
NumPy, and so is a product of one row or column, for which it does not pay to pack what is read only
once. Without a compiled kernel every product is left to NumPy: the readable definition takes some
hundred times as long.

The library behind ``@`` (BLAS) has threads of its own, which wait awake for some 25 ms. Where
they and the kernels' threads want the same processors, a step of training takes up to 15
times as long as on one thread. So, where threadpoolctl is installed to hold them back, the BLAS
works on one thread at a time, and a large product is cut into blocks that
:func:`~pyqref.get_num_threads` threads share. How it is cut depends on its shape alone, and so do
its sums.

Python looks for Ctrl-C between two calls of the BLAS, so a product that takes long is made of
several.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pyqref import _kernels

from .._insides.numpy_errors import quiet
from .operation import Array

__all__ = ["OrderedSum", "matmul", "multiply", "run"]

_FLOAT32 = np.dtype(np.float32)
#: Multiplications below which no BLAS uses threads.
_SMALL = 1 << 18
#: Multiplications of which a thread is worth waking for a part, of one product and of tasks.
_LARGE, _MANY = 1 << 24, 1 << 22
#: Parts of a large product, and of one with so many multiplications. More parts would share it out
#: more evenly, but the BLAS packs the operands once for each.
_PARTS, _MORE_PARTS, _HUGE = 2, 4, 1 << 27
#: Multiplications of one call of the BLAS: 50 to 500 milliseconds.
_LONGEST = 1 << 32
#: Bytes of a result that is cut along its rows, however short they are: a call that fills some
#: columns writes to every page of the memory, which the system may have to clear first.
_MANY_BYTES = 1 << 26


def matmul(a: Array, b: Array, out: Array | None = None, *, start: Array | None = None) -> Array:
    """``a @ b`` for matrices or stacks of them, in ``out`` if given, plus the row ``start``.

    Examples
    --------
    >>> matmul(np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([[1., 2.],
           [3., 4.]])
    """
    is_covered = out is None and a.dtype == b.dtype == _FLOAT32 and a.ndim > 1 < b.ndim
    if is_covered and 1 not in (a.shape[-2], b.shape[-1]) and _kernels.multiplies_floats():
        return _kernels.float_product(a, b, start)
    if start is not None:
        y = matmul(a, b, out)
        y += start
        return y
    if a.size * b.shape[-1] < _SMALL or not _libraries():
        return multiply(a, b, out)
    with _one_thread():
        step = _step_of_parts(a, b)
        if step is None:
            return multiply(a, b, out)
        out = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
        tasks = [functools.partial(multiply, *each) for each in _cut(a, b, out, step)]
        _share(tasks, _kernels.get_num_threads())
        return out


def run(tasks: Sequence[Callable[[Any], object]], multiplications: int) -> None:
    """Run tasks that write to disjoint places and make so many multiplications in all.

    Each is called with the function that it is to multiply matrices by: where there is one task
    only :func:`matmul`, whose parts are shared, else one that is not, and the tasks are shared.

    Examples
    --------
    >>> out = np.zeros((3, 1, 1))
    >>> run([lambda multiply, y=y: multiply(y + 2, y + 3, y) for y in out], 3)
    >>> out.ravel()
    array([6., 6., 6.])
    """
    if len(tasks) == 1:
        tasks[0](matmul)
        return
    n_threads = _kernels.get_num_threads() if multiplications >= _MANY and _libraries() else 1
    with _one_thread():
        _share([functools.partial(task, multiply) for task in tasks], n_threads)


class OrderedSum:
    """A sum of what tasks give when they are done, added in the order of the tasks.

    So it has the same bits in whatever thread they run, and only results that wait for an earlier
    task are kept.

    Examples
    --------
    >>> ordered = OrderedSum((1,), np.float64)
    >>> ordered.add(slice(2, 4), np.ones(1))
    >>> ordered.total
    array([0.])
    >>> ordered.add(slice(0, 2), np.ones(1))
    >>> ordered.total
    array([2.])
    """

    def __init__(self, shape: tuple[int, ...], dtype: DTypeLike) -> None:
        self.total = np.zeros(shape, dtype)
        self._lock, self._next = threading.Lock(), 0
        self._waiting: dict[int, tuple[int, Array]] = {}

    def add(self, place: slice, array: Array) -> None:
        """Add what belongs to a place; the next one begins where it ends."""
        with self._lock:
            self._waiting[place.start] = place.stop, array
            while self._next in self._waiting:
                self._next, array = self._waiting.pop(self._next)
                self.total += array


def multiply(a: Array, b: Array, out: Array | None = None) -> Array:
    """``a @ b`` by several calls of the BLAS in a row, each shorter than a second.

    Examples
    --------
    >>> multiply(np.ones((1, 2, 3)), np.ones((3, 1)))
    array([[[3.],
            [3.]]])
    """
    if a.ndim < 2 or b.ndim not in (2, a.ndim) or a.size * b.shape[-1] <= _LONGEST:
        return np.asarray(np.matmul(a, b, out=out))
    if a.dtype != b.dtype or (b.ndim > 2 and a.shape[:-2] != b.shape[:-2]):
        return np.matmul(a, b, out=out)
    if a.ndim == 2:
        out = np.empty((len(a), b.shape[1]), a.dtype) if out is None else out
        other = out.shape[_is_cut_along_rows(out.shape, out.itemsize)]
        step = max(_LONGEST // (b.shape[0] * other) // 16, 1) * 16
        for rows, columns, filled in _cut(a, b, out, step):
            np.matmul(rows, columns, out=filled)
        return out
    out = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype) if out is None else out
    step = max(_LONGEST * len(a) // (a.size * b.shape[-1]), 1)
    for i in range(0, len(a), step):
        part = i if step == 1 else slice(i, i + step)
        multiply(a[part], b if b.ndim == 2 else b[part], out[part])
    return out


def _step_of_parts(a: Array, b: Array) -> int | None:
    """Return the rows or columns in a part of a product, or None for a product in one block."""
    if not a.ndim == b.ndim == 2 or a.dtype != b.dtype:
        return None
    multiplications = a.size * b.shape[1]
    parts = _MORE_PARTS if multiplications >= _HUGE else _PARTS
    along_rows = _is_cut_along_rows((len(a), b.shape[1]), a.itemsize)
    step = -(-(len(a) if along_rows else b.shape[1]) // (16 * parts)) * 16
    return None if multiplications < _LARGE or step < 64 else step


def _cut(a: Array, b: Array, out: Array, step: int) -> list[tuple[Array, Array, Array]]:
    """The products that fill a matrix, each so many of its rows or columns."""
    along_rows = _is_cut_along_rows(out.shape, out.itemsize)
    length = out.shape[not along_rows]
    cuts = itertools.pairwise([*range(0, length, step), length])
    if along_rows:
        return [(a[i:j], b, out[i:j]) for i, j in cuts]
    return [(a, b[:, i:j], out[:, i:j]) for i, j in cuts]


def _is_cut_along_rows(shape: tuple[int, ...], itemsize: int) -> bool:
    """Along the columns where these are more, but for large results."""
    rows, columns = shape
    return rows >= columns or (rows >= 64 and rows * columns * itemsize > _MANY_BYTES)


def _share(tasks: Sequence[Callable[[], object]], n_threads: int) -> None:
    """Run every task; kernels in tasks that are shared use the thread of the task only."""
    remaining = iter(tasks)
    lock = threading.Lock()
    failed = False

    def work() -> None:
        nonlocal failed
        with quiet():
            while not failed:
                with lock:
                    task = next(remaining, None)
                if task is None:
                    return
                try:
                    task()
                except BaseException:  # such as KeyboardInterrupt: nobody begins another task
                    failed = True
                    raise

    _kernels.together(work, max(min(n_threads, len(tasks)), 1))


@functools.cache
def _libraries() -> list[Any]:
    """The libraries of matrix products in this process whose threads can be held back."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return []
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let the libraries use one thread for each product."""
    before = [(each, each.get_num_threads()) for each in _libraries()]
    for library, n_threads in before:
        if n_threads > 1:
            library.set_num_threads(1)
    try:
        yield
    finally:
        for library, n_threads in before:
            if n_threads > 1:
                library.set_num_threads(n_threads)
