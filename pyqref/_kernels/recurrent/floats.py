"""Recurrent layers of floats by the kernel in use: all steps in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref.numerics import recurrent as reference
from pyqref.numerics.types import FloatArray

from .cells import KINDS

__all__ = ["FloatLayer", "recurrent_floats"]

_FLOAT32 = np.dtype(np.float32)
#: Steps below which packing the weight takes longer than it saves.
_LEAST_STEPS = 4


class FloatLayer(NamedTuple):
    """Outputs, states at the end, and, where they are kept, projections and cells of all steps."""

    outputs: FloatArray
    states: list[FloatArray]
    from_hidden: FloatArray
    cells: Any  # of an LSTM an array, else None


def recurrent_floats(
    kind: str,
    from_input: FloatArray,
    weight: FloatArray,
    bias: FloatArray | None,
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool,
    keeps: bool,
) -> FloatLayer | None:
    """Fast form of :func:`pyqref.numerics.recurrent.float_layer`; None if not covered."""
    given = [each for each in (from_input, weight, bias, *states) if each is not None]
    if len(batch_sizes) < _LEAST_STEPS or any(each.dtype != _FLOAT32 for each in given):
        return None
    kernel = registry.twin("recurrent")
    if kernel is None:
        found = reference.float_layer(kind, from_input, weight, bias, states, batch_sizes, reverse)
        return FloatLayer(*found)
    states = [np.array(each, order="C") for each in states]
    rows, size = states[0].shape
    total = len(from_input)
    from_hidden = np.empty((total if keeps else rows, from_input.shape[1]), _FLOAT32)
    has_cell = kind == "LSTM"
    cells = np.empty((total, size), _FLOAT32) if keeps and has_cell else None
    outputs = np.empty((total, size), _FLOAT32)
    kernel.recurrent_floats(
        KINDS[kind],
        contiguous(from_input),
        contiguous(weight),
        None if bias is None else contiguous(bias),
        np.array(batch_sizes, np.int64),
        reverse,
        from_hidden,
        states[0],
        states[1] if has_cell else None,
        cells,
        outputs,
        threads.limit,
    )
    return FloatLayer(outputs, states, from_hidden, cells)
