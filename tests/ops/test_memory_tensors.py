"""Functions and methods of tensors, given large quantized ones: as :mod:`ops.test_memory` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ops.test_memory import COMPILED, SCRATCH, Operation, ops, quantized, scratch

import pyqref
from pyqref.nn import functional as F
from pyqref.tensor.quantized import make_per_channel, make_per_tensor

SHAPE = (2, 16, 131, 300)
ORDERS: dict[str, Callable[[Any], Any]] = {
    "first": lambda x: x,
    "last": lambda x: x.contiguous(memory_format=pyqref.channels_last),
    "exchanged": lambda x: x.permute(0, 1, 3, 2),
    "every other": lambda x: x[..., ::2],
}
KINDS: dict[str, Callable[[], Any]] = {
    "quint8": lambda: quantized(*SHAPE),
    "qint32": lambda: make_per_tensor(
        quantized(*SHAPE)._array.astype(np.int32), 0.05, 3, pyqref.qint32
    ),
    "per channel": lambda: make_per_channel(
        quantized(*SHAPE)._array, [0.05] * 16, [3] * 16, 1, pyqref.quint8
    ),
}


def in_every_order(
    name: str, run: Callable[[Any], Any], kinds: tuple[str, ...] = ("quint8", "qint32")
) -> dict[str, Callable[[], Operation]]:
    def make(kind: str, order: str) -> Operation:
        x = ORDERS[order](KINDS[kind]())
        return lambda: run(x)

    return {
        f"{name}, {kind}, {order}": lambda kind=kind, order=order: make(kind, order)
        for kind in kinds
        for order in ORDERS
    }


def comparison(name: str, run: Callable[[Any], Any]) -> dict[str, Callable[[], Operation]]:
    return in_every_order(name, run, ("quint8", "qint32", "per channel"))


def compared(run: Callable[[Any, Any], Any], order: str) -> Operation:
    """Compare with a tensor in another order and on another grid."""
    x = quantized(*SHAPE)
    y = make_per_tensor(ORDERS[order](x)._array, 0.07, 2, pyqref.quint8)
    x = x.permute(0, 1, 3, 2).contiguous() if order == "exchanged" else x
    x = x[..., :150] if order == "every other" else x
    return lambda: run(x, y)


def answer(run: Callable[[], Any]) -> Callable[[], None]:
    """Wrap a call so that it returns no tensor."""

    def ignore() -> None:
        run()

    return ignore


def equal(order: str) -> Operation:
    x = ORDERS[order](quantized(*SHAPE))
    y = x.contiguous()
    return answer(lambda: x.equal(y))


COMPARISONS = (
    comparison("with a number", lambda x: x > 0.5)
    | comparison("with itself", lambda x: x == x)
    | {f"two, {order}": lambda order=order: compared(pyqref.ne, order) for order in ORDERS}
    | {f"equal, {order}": lambda order=order: equal(order) for order in ORDERS}
)


def sorted_line(run: Callable[[Any], Any], *shape: int) -> Operation:
    x = quantized(*shape)
    return lambda: run(x)


SORTED = (
    in_every_order("sort of channels", lambda x: x.sort(1))
    | in_every_order("sort of the last", lambda x: x.sort(-1, descending=True))
    | in_every_order("argsort of channels", lambda x: x.argsort(1))
    | in_every_order("argsort of the last", lambda x: x.argsort(-1, descending=True))
    | in_every_order("msort", lambda x: x.msort())
    | in_every_order("topk of channels", lambda x: x.topk(3, 1))
    | in_every_order("topk of the last", lambda x: x.topk(3))
    | {
        "sort of a long line": lambda: sorted_line(pyqref.sort, 2_000_000),
        "sort of long columns": lambda: sorted_line(lambda x: x.sort(0), 600_000, 3),
        "argsort of a long line": lambda: sorted_line(pyqref.argsort, 2_000_000),
        "msort of a long line": lambda: sorted_line(pyqref.msort, 2_000_000),
        "msort of long columns": lambda: sorted_line(pyqref.msort, 600_000, 3),
        "topk of a long line": lambda: sorted_line(lambda x: x.topk(1_000_000), 2_000_000),
        "topk of long columns": lambda: sorted_line(lambda x: x.topk(9, 0), 600_000, 3),
    }
)


def changed(run: Callable[[Any], Any], kind: str, order: str) -> Operation:
    """Change a tensor in place, without a result."""
    x = ORDERS[order](KINDS[kind]())
    return answer(lambda: run(x))


def in_place(name: str, run: Callable[[Any], Any]) -> dict[str, Callable[[], Operation]]:
    return {
        f"{name}, {kind}, {order}": lambda kind=kind, order=order: changed(run, kind, order)
        for kind in ("quint8", "qint32")
        for order in ORDERS
    }


def assign(x: Any) -> None:
    x[:, 3:] = 0.5


def assign_at(*shape: int) -> Callable[[Any], None]:
    """Real numbers of this shape, at indices of 4 bytes."""
    lines, numbers = pyqref.arange(131, dtype=pyqref.int32), pyqref.ones(*shape)

    def run(x: Any) -> None:
        x[:, :, lines] = numbers[..., : x.shape[3]] if shape else numbers

    return run


def assign_under(mask: Any, *shape: int) -> Callable[[Any], None]:
    """Real numbers of this shape, under a mask."""
    under, numbers = pyqref.from_numpy(mask), pyqref.ones(*shape)

    def run(x: Any) -> None:
        x[..., :131, :131][(..., under)] = numbers

    return run


def put(x: Any) -> None:
    x.index_put_((pyqref.tensor([1, 0]),), pyqref.ones(1, x.shape[1], 1, 1))


def long_mask(*shape: int) -> Operation:
    x, mask = quantized(600_000, 3), pyqref.from_numpy(np.arange(600_000) % 3 > 0)
    numbers = pyqref.ones(*shape)

    def run() -> None:
        x[mask] = numbers

    return run


TRIANGLE = np.tri(131, dtype=np.bool_)
MASK = pyqref.from_numpy(np.ones((2, 1, 1, 1), np.bool_))
CHANGED = (
    in_place("relu_", lambda x: x.relu_())
    | in_place("relu6, in place", lambda x: F.relu6(x, inplace=True))
    | in_place("sigmoid_", lambda x: x.sigmoid_())
    | in_place("masked_fill_", lambda x: x.masked_fill_(MASK, 0.5))
    | in_place("fill_", lambda x: x.fill_(0.5))
    | in_place("copy_", lambda x: x.copy_(pyqref.zeros(16, 1, 1)))
    | in_place("assignment", assign)
    | in_place("index_put_", put)
    | in_place("number at indices", assign_at())
    | in_place("numbers at indices", assign_at(2, 16, 131, 300))
    | in_place("number under a mask", assign_under(TRIANGLE))
    | in_place("numbers under a mask", assign_under(TRIANGLE, 2, 16, int(TRIANGLE.sum())))
    | {
        "number under a long mask": long_mask,
        "numbers under a long mask": lambda: long_mask(400_000, 3),
    }
)


def chosen(name: str, run: Callable[[Any], Any]) -> dict[str, Callable[[], Operation]]:
    return in_every_order(name, run, ("quint8",))


ROWS = pyqref.from_numpy(np.arange(130)[::-1].copy())
CHOSEN = (
    chosen("index_select", lambda x: x.index_select(2, ROWS))
    | chosen("repeat", lambda x: x.repeat(1, 2, 1, 2))
    | chosen("repeat_interleave", lambda x: x.repeat_interleave(2, 1))
    | chosen("repeat_interleave of all", lambda x: x.repeat_interleave(2))
    | chosen("max of channels", lambda x: x.max(1))
    | chosen("min of the last", lambda x: x.min(-1))
    | chosen("argmax", lambda x: x.argmax())
    | chosen("mean of lines", lambda x: x.mean(-1))
    | chosen("pad", lambda x: F.pad(x, (1, 2, 3, 4), mode="reflect"))
    | chosen("rot90", lambda x: x.rot90(1, (2, 3)))
    | chosen("rot90 by half a turn", lambda x: x.rot90(2, (1, 3)))
    | in_every_order("notebook", lambda x: answer(x._repr_html_)(), ("quint8", "qint32"))
    | chosen("gelu", F.gelu)
    | chosen("zeros_like", pyqref.zeros_like)
    | chosen("repr", lambda x: answer(lambda: repr(x))())
    | {"argmax of long columns": lambda: sorted_line(lambda x: x.argmax(0), 600_000, 3)}
)


def wide(name: str, run: Callable[[Any], Any]) -> dict[str, Callable[[], Operation]]:
    return in_every_order(name, run, ("qint32",))


WIDE = (
    wide("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1))
    | wide("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1))
    | wide("avg_pool2d, large", lambda x: F.avg_pool2d(x, 110, 20))
    | wide("avg_pool3d", lambda x: F.avg_pool3d(x, 3, 2, 1))
    | wide("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 7))
    | wide("adaptive_avg_pool2d, one", lambda x: F.adaptive_avg_pool2d(x, 1))
    | wide("adaptive_avg_pool2d, more", lambda x: F.adaptive_avg_pool2d(x, 300))
    | wide("clamp", lambda x: x.clamp(0.0, 0.5))
    | wide("sigmoid", pyqref.sigmoid)
    | wide("cat", lambda x: ops.cat([x, x], 1, 0.07, 2))
)

OPERATIONS = COMPARISONS | SORTED | CHANGED | CHOSEN | WIDE


@pytest.mark.skipif(not COMPILED, reason="the equations in NumPy take what they need")
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_takes_at_most_a_mebibyte_a_thread(name: str, n_threads: int) -> None:
    assert scratch(OPERATIONS[name], n_threads) <= SCRATCH * n_threads
