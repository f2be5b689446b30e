"""Padding of the last dimensions of a tensor."""

from __future__ import annotations

from typing import Any

from ...tape import padding as tape
from ...tensor.dispatch import apply
from ...tensor.memory import require_memory
from ...tensor.promotion import fitting
from ...tensor.wrong_arguments import explain_errors
from .checks import require, require_tensor, shape_text

__all__ = ["pad"]


def pad(input: Any, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
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
    require_tensor("pad", "input", input)
    pad = tuple(int(each) for each in pad)
    require(len(pad) % 2 == 0, f"Padding length must be divisible by 2, got {list(pad)}")
    require(
        len(pad) // 2 <= input.ndim,
        f"Padding length {len(pad)} is more than twice the dimensions of input of shape "
        f"{shape_text(input)}",
    )
    pairs = tuple(zip(pad[::2], pad[1::2], strict=True))[::-1]
    leading = tuple(input.shape[: input.ndim - len(pairs)])
    size = tuple(input.shape[input.ndim - len(pairs) :])
    padded = (*leading, *(n + sum(pair) for n, pair in zip(size, pairs, strict=True)))
    if mode == "constant":
        require(
            all(n + before + after >= 0 for n, (before, after) in zip(size, pairs, strict=True)),
            f"pad(): {list(pad)} crops more than there is in input of shape {shape_text(input)}",
        )
        require_memory(padded, input._array.itemsize, "pad: a result")
        constant = 0 if value is None else value
        if not input.is_quantized:
            constant = fitting(constant, input._array.dtype)
        return apply(tape.Pad, input, pairs, mode, constant)
    require(
        mode in tape.MODES,
        f"Unrecognised padding mode {mode}; use constant, reflect, replicate or circular",
        NotImplementedError,
    )
    require(
        value is None or value == 0,
        f'Padding mode "{mode}" doesn\'t take in value argument',
        ValueError,
    )
    require(
        1 <= len(pairs) <= 3 and input.ndim in (len(pairs) + 1, len(pairs) + 2),
        f"pad(): mode {mode!r} pads the last 1, 2 or 3 dimensions of an input with one or two "
        f"dimensions more, got pad {list(pad)} and input of shape {shape_text(input)}",
        NotImplementedError,
    )
    for n, (before, after) in zip(size, pairs, strict=True):
        left = n + min(before, 0) + min(after, 0)
        most = {"reflect": n - 1, "circular": left, "replicate": max(before, after)}[mode]
        require(
            max(before, after) <= most and left > 0,
            f"pad(): padding ({before}, {after}) must be at most {most} for mode {mode!r} and a "
            f"dimension of {n} elements, and leave some of them",
        )
    require_memory(padded, input._array.itemsize, "pad: a result")
    return apply(tape.Pad, input, pairs, mode, 0)


explain_errors(globals())
