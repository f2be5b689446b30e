"""A recurrent layer by the kernel in use: with int8 weights, all steps in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import contiguous
from pyqref._kernels.qgemm.finish import dynamic_arguments, fits
from pyqref._kernels.qgemm.linear import linear_dynamic
from pyqref._kernels.qgemm.pack import PackedLinear
from pyqref.numerics import recurrent as reference
from pyqref.numerics.types import Engine, FloatArray

from .cells import KINDS, gru_step, lstm_step

__all__ = ["NoGridError", "recurrent_layer", "recurrent_loop"]


class NoGridError(ValueError):
    """A hidden state holds nan or infinity; the arguments are its smallest and largest number."""


def recurrent_loop(
    kind: str,
    from_input: FloatArray,
    project: Callable[[FloatArray], FloatArray],
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
) -> tuple[FloatArray, list[FloatArray]]:
    """As :func:`pyqref.numerics.recurrent.recurrent_layer`, its steps by the kernel in use."""
    return reference.recurrent_layer(
        kind, from_input, project, states, batch_sizes, reverse, lstm=lstm_step, gru=gru_step
    )


def recurrent_layer(
    kind: str,
    from_input: FloatArray,
    packed: PackedLinear,
    weight_zero_points: Any,
    weight_scales: Any,
    bias: Any,
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool = False,
    engine: Engine = "fbgemm",
) -> tuple[FloatArray, list[FloatArray]]:
    """As :func:`recurrent_loop` of an int8 projection (``eq-recurrent-layer``).

    Parameters
    ----------
    kind, from_input, states, batch_sizes, reverse
        As in :func:`pyqref.numerics.recurrent.recurrent_layer`.
    packed, weight_zero_points, weight_scales, bias, engine
        Of the projection of the hidden state, as in :func:`pyqref._kernels.linear_dynamic`.

    Returns
    -------
    The outputs, and the states at the end.

    Raises
    ------
    NoGridError
        A hidden state is not finite.
    """
    weight = packed, weight_zero_points, weight_scales, bias, engine, True
    kernel = registry.twin("recurrent")
    if kernel is None or not fits(packed.depth, None):
        return _loop(kind, from_input, weight, states, batch_sizes, reverse)
    states = [np.array(each, np.float32, order="C") for each in states]
    hidden = states[0]
    outputs = np.empty((len(from_input), hidden.shape[1]), np.float32)
    ends = kernel.recurrent_layer(
        KINDS[kind],
        contiguous(from_input),
        np.array(batch_sizes, np.int64),
        reverse,
        np.empty((len(hidden), packed.columns), np.float32),
        hidden,
        states[1] if kind == "LSTM" else None,
        outputs,
        *dynamic_arguments(*weight),
        threads.limit,
    )
    _require_grid(*ends)
    return outputs, states


def _loop(
    kind: str,
    from_input: FloatArray,
    weight: tuple[Any, ...],
    states: Sequence[FloatArray],
    batch_sizes: Sequence[int],
    reverse: bool,
) -> tuple[FloatArray, list[FloatArray]]:
    def project(hidden: FloatArray) -> FloatArray:
        y, low, high = linear_dynamic(hidden, *weight)
        _require_grid(low, high)
        return y

    return recurrent_loop(kind, from_input, project, states, batch_sizes, reverse)


def _require_grid(low: float, high: float) -> None:
    if not (isfinite(low) and isfinite(high)):
        raise NoGridError(low, high)
