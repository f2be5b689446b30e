"""Padding of the last dimensions of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..._typing import Tensor
from ...tape import padding as tape
from ...tensor.base import TensorBase
from ...tensor.dispatch import apply
from ...tensor.memory import require_memory
from ...tensor.promotion import fitting
from ...tensor.wrong_arguments import explain_errors
from .checks import require_tensor

__all__ = ["pad"]


def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    """Add elements around a tensor.

    Parameters
    ----------
    input
        Any tensor; for the modes other than ``"constant"`` at most the last three dimensions
        are padded.
    pad
        Numbers of elements: before and after the last dimension, before and after the one
        before it, and so on. Negative numbers crop.
    mode
        ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
    value
        The constant, 0 by default.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.pad(pyqref.tensor([[1.0, 2.0, 3.0]]), (1, 2)).tolist()
    [[0.0, 1.0, 2.0, 3.0, 0.0, 0.0]]
    >>> F.pad(pyqref.tensor([[1.0, 2.0, 3.0]]), (1, 2), mode="reflect").tolist()
    [[2.0, 1.0, 2.0, 3.0, 2.0, 1.0]]
    """
    if not isinstance(input, TensorBase):
        require_tensor("pad", "input", input)
    array = input._array
    numbers = tuple([int(each) for each in pad])
    pairs = _pairs(array.shape, numbers, mode, array.itemsize)
    if mode == "constant":
        constant: Any = 0 if value is None else value
        if not input.is_quantized:
            constant = fitting(constant, array.dtype)
        return apply(tape.Pad, input, pairs, mode, constant)
    if value is not None and value != 0:
        raise ValueError(f'Padding mode "{mode}" doesn\'t take in value argument')
    return apply(tape.Pad, input, pairs, mode, 0)


@lru_cache(maxsize=64)
def _pairs(
    shape: tuple[int, ...], pad: tuple[int, ...], mode: str, itemsize: int
) -> tuple[tuple[int, int], ...]:
    """Return the checked padding before and after each of the last axes; cache it."""
    if len(pad) % 2 != 0:
        raise RuntimeError(f"Padding length must be divisible by 2, got {list(pad)}")
    if len(pad) // 2 > len(shape):
        raise RuntimeError(
            f"Padding length {len(pad)} is more than twice the dimensions of input of shape "
            f"{list(shape)}"
        )
    pairs = tuple(zip(pad[::2], pad[1::2], strict=True))[::-1]
    size = shape[len(shape) - len(pairs) :]
    left = [
        n + min(before, 0) + min(after, 0) for n, (before, after) in zip(size, pairs, strict=True)
    ]
    if mode == "constant":
        if min(left, default=0) < 0:
            raise RuntimeError(
                f"pad(): {list(pad)} crops more than there is in input of shape {list(shape)}"
            )
    else:
        _check_border(shape, pad, pairs, mode, left)
    padded = [n + sum(pair) for n, pair in zip(size, pairs, strict=True)]
    require_memory((*shape[: len(shape) - len(pairs)], *padded), itemsize, "pad: a result")
    return pairs


def _check_border(
    shape: tuple[int, ...],
    pad: tuple[int, ...],
    pairs: tuple[tuple[int, int], ...],
    mode: str,
    left: list[int],
) -> None:
    """Raise unless there are as many elements as a border is to be made of."""
    if mode not in tape.MODES:
        raise NotImplementedError(
            f"Unrecognised padding mode {mode}; use constant, reflect, replicate or circular"
        )
    if not (1 <= len(pairs) <= 3 and len(shape) in (len(pairs) + 1, len(pairs) + 2)):
        raise NotImplementedError(
            f"pad(): mode {mode!r} pads the last 1, 2 or 3 dimensions of an input with one or two "
            f"dimensions more, got pad {list(pad)} and input of shape {list(shape)}"
        )
    for n, rest, (before, after) in zip(shape[-len(pairs) :], left, pairs, strict=True):
        most = {"reflect": n - 1, "circular": rest, "replicate": max(before, after)}[mode]
        if not (max(before, after) <= most and rest > 0):
            raise RuntimeError(
                f"pad(): padding ({before}, {after}) must be at most {most} for mode "
                f"{mode!r} and a "
                f"dimension of {n} elements, and leave some of them"
            )


explain_errors(globals(), quiet=False)
