"""The states of recurrent layers at every step, worked out again from what was recorded.

A layer records what it was given. Its states on the way are made when they are asked for, so that a
derivation can go back step by step, and layer by layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._kernels import gru_step, lstm_step
from ..numerics.recurrent import steps
from ..ops.quantized.linear_dynamic import run_dynamic
from .record import Record, Value

__all__ = ["Moment", "Unrolled", "cell_moment"]


class Moment(NamedTuple):
    """Operands of one step of a recurrent layer for one sequence.

    Attributes
    ----------
    kind
        ``"LSTM"``, ``"GRU"``, ``"RNN"`` or ``"ReLU"``.
    of_input, of_hidden
        The packed weights.
    x, x_places
        The whole input, over which the grid is chosen, and the places of this step's features.
    batch
        The hidden states of all sequences that have this step, ``(B, H)``: they share a grid.
    h, h_places
        Where the hidden state comes from.
    c, c_places
        The cell state of an LSTM, alike.
    """

    kind: str
    of_input: Any
    of_hidden: Any
    x: Value
    x_places: np.ndarray
    batch: np.ndarray
    h: Value
    h_places: np.ndarray
    c: Value | None = None
    c_places: np.ndarray | None = None


def cell_moment(
    kind: str, weights: tuple[Any, Any], x: Value, states: list[Value | None], row: int
) -> Moment:
    """The one step of a cell, for one row of its input."""
    rows, width = x.shape[0], weights[1].shape[1]
    kept = [each or _zeros((rows, width)) for each in states]
    at = row * width + np.arange(width)
    x_places = row * x.shape[1] + np.arange(x.shape[1])
    last = (kept[1], at) if len(kept) > 1 else (None, None)
    return Moment(kind, *weights, x, x_places, kept[0].array, kept[0], at, *last)


def _zeros(shape: tuple[int, ...]) -> Value:
    return Value(np.zeros(shape, np.float32), name="zeros")


class Unrolled:
    """All steps of a recurrent layer with int8 weights.

    Parameters
    ----------
    record
        Of the layer.
    """

    def __init__(self, record: Record) -> None:
        given = record.arguments
        module = given["self"]
        self.name, self.kind = record.layer, module.mode
        self.directions = 2 if module.bidirectional else 1
        self.weights, self.size = given["weights"], module.hidden_size
        source = given["input"]
        self.packed = not isinstance(source, Value)
        x = source.data if self.packed else source
        places = np.arange(x.array.size).reshape(x.shape)
        if self.packed:
            self.sizes = [int(each) for each in source.batch_sizes.array]
        else:
            self.batch_first = bool(module.batch_first)
            places = places.swapaxes(0, 1) if self.batch_first else places
            self.sizes = [places.shape[1]] * places.shape[0]
        order = source.sorted_indices if self.packed else None
        self.order = np.arange(self.sizes[0]) if order is None else order.array
        self.starts = np.cumsum([0, *self.sizes])
        count = len(self.weights)
        hx = given["hx"]
        states = hx if isinstance(hx, tuple | list) else (hx,)
        if hx is None:
            states = (None,) * (2 if self.kind == "LSTM" else 1)
        self.initial = [each or _zeros((count, self.sizes[0], self.size)) for each in states]
        self._inputs: list[tuple[Value, np.ndarray]] = [(x, places.reshape(-1, x.shape[-1]))]
        self.layers: list[Record] = []

    def layer(self, number: int) -> Record:
        """A layer of the stack as a record: hidden states, and cell states, of all steps."""
        while len(self.layers) <= number:
            self._run_next()
        return self.layers[number]

    def _run_next(self) -> None:
        number = len(self.layers)
        x, places = self._inputs[-1]
        rows = x.array.reshape(-1)[places]
        width = self.directions * self.size
        traces = [np.empty((len(rows), width), np.float32) for _ in self.initial]
        for direction in range(self.directions):
            which = number * self.directions + direction
            at = slice(direction * self.size, (direction + 1) * self.size)
            self._run(which, rows, direction == 1, [each[:, at] for each in traces])
        name = f"{self.name}, layer {number}"
        record = Record("recurrent.layer", name, {"unrolled": self, "number": number})
        shape = (width,) if self.packed else (self.sizes[0], width)
        record.outputs = [
            Value(each.reshape(-1, *shape), None, f"{name}{what}", record)
            for each, what in zip(traces, ("", ", cell state"), strict=False)
        ]
        self.layers.append(record)
        every = np.arange(traces[0].size).reshape(-1, width)
        self._inputs.append((record.outputs[0], every))

    def _run(self, which: int, rows: np.ndarray, reverse: bool, traces: list[np.ndarray]) -> None:
        """One layer in one direction: its states after each step, into ``traces``."""
        weights = self.weights[which]
        states = [each.array[which][self.order].copy() for each in self.initial]
        projected = run_dynamic(rows, weights.of_input)
        for at, count in steps(self.sizes, reverse):
            before = [each[:count] for each in states]
            both = projected[at], run_dynamic(before[0], weights.of_hidden)
            after: tuple[np.ndarray, ...]
            if self.kind == "LSTM":
                after = lstm_step(*both, before[1])
            else:
                after = (gru_step(*both, before[0]),)
            for state, new, trace in zip(before, after, traces, strict=True):
                state[...] = trace[at] = new

    def place(self, index: tuple[int, ...]) -> tuple[int, int, int]:
        """Step, sequence and feature of an element of the outputs of a layer."""
        if not self.packed:
            step, sequence, feature = index
            return step, sequence, feature
        step = int(np.searchsorted(self.starts, index[0], side="right")) - 1
        return step, index[0] - int(self.starts[step]), index[1]

    def last_step(self, sequence: int, reverse: bool) -> int:
        """The step after which the state of a sequence is final."""
        return 0 if reverse else sum(size > sequence for size in self.sizes) - 1

    def before(self, step: int, reverse: bool) -> int:
        """The step that is computed before this one."""
        return step + 1 if reverse else step - 1

    def moment(self, number: int, direction: int, step: int, sequence: int) -> Moment:
        """Return the operands of one step of a layer, in one direction, for one sequence."""
        record = self.layer(number)
        x, places = self._inputs[number]
        which, earlier = number * self.directions + direction, self.before(step, direction == 1)
        sizes = self.sizes
        known = sizes[earlier] if 0 <= earlier < len(sizes) else 0
        known = min(known, sizes[step])
        first = int(self.starts[earlier]) if known else 0
        at = direction * self.size + np.arange(self.size)
        width = self.directions * self.size
        outputs = [each.array.reshape(-1, width) for each in record.outputs]
        rest = self.order[known : sizes[step]]
        batch = np.concatenate(
            [outputs[0][first : first + known][:, at], self.initial[0].array[which][rest]]
        )
        if sequence < known:
            sources, h_places = record.outputs, (first + sequence) * width + at
        else:
            sources = self.initial
            row = which * sizes[0] + int(self.order[sequence])
            h_places = row * self.size + np.arange(self.size)
        last = (sources[1], h_places) if self.kind == "LSTM" else (None, None)
        weights = self.weights[which]
        return Moment(
            self.kind,
            weights.of_input,
            weights.of_hidden,
            x,
            places[int(self.starts[step]) + sequence],
            batch,
            sources[0],
            h_places,
            *last,
        )
