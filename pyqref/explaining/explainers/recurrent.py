"""Recurrent layers and cells with int8 weights: one step, from the two projections to the state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...numerics import exponential, piecewise
from ...ops.quantized.packed import PackedLinear
from ..draft import Draft, captures, explains
from ..functions import function
from ..record import Value
from ..steps import Operand
from ..through_time import Moment, Unrolled, cell_moment
from .dynamic import chosen_grid, quantized_row, real_of_accumulator
from .requantization import Layer
from .weighted import Places, accumulate_integers

function("sigmoid of a gate", exponential.sigmoid)
function("tanh of a gate", piecewise.tanh)

_GATES = {
    "LSTM": {
        "i": "gate i (input)",
        "f": "gate f (forget)",
        "g": "candidate g",
        "o": "gate o (output)",
    },
    "GRU": {"r": "gate r (reset)", "u": "gate u (update)", "n": "candidate n"},
    "RNN": {"t": "sum t"},
    "ReLU": {"t": "sum t"},
}


class _Step:
    """The derivation of one step, for one feature of one sequence."""

    def __init__(self, draft: Draft, moment: Moment, feature: int) -> None:
        self.draft, self.moment, self.feature = draft, moment, feature
        for packed in (moment.of_input, moment.of_hidden):
            if not isinstance(packed, PackedLinear):
                raise LookupError(
                    f"why: {draft.record.layer} has weights of float16, whose sums are of float32; "
                    "ask for a layer with weights of qint8"
                )

    def derive(self) -> tuple[Operand, Operand | None]:
        """The new hidden state and, of an LSTM, the new cell state."""
        moment, steps = self.moment, self.draft.steps
        engine = moment.of_input.engine
        steps.section = "the inputs of all steps, on one grid"
        grid = chosen_grid(self.draft, moment.x, engine, True)
        row = self.draft.elements("X", moment.x, moment.x_places)
        x = quantized_row(self.draft, row, *grid), *grid
        steps.section = "the hidden state before the step, on its grid"
        engine = moment.of_hidden.engine
        grid = chosen_grid(self.draft, Value(moment.batch), engine, True)
        row = self.draft.elements("X", moment.h, moment.h_places)
        h = quantized_row(self.draft, row, *grid), *grid
        parts = {}
        for number, (gate, name) in enumerate(_GATES[moment.kind].items()):
            steps.section = f"{name}: what the input adds"
            of_x = self._projection(moment.of_input, number, x, f"x_{gate}")
            steps.section = f"{name}: what the hidden state adds"
            parts[gate] = of_x, self._projection(moment.of_hidden, number, h, f"h_{gate}")
        self.draft.picture = None
        steps.section = "the new state"
        if moment.kind == "LSTM":
            return self._lstm(parts)
        if moment.kind == "GRU":
            return self._gru(parts), None
        total = self._sum("t", *parts["t"])
        label = "eq-rnn-step"
        if moment.kind == "ReLU":
            zero = Operand("0", np.float32(0))
            new = steps.add("new hidden state", "max32", total, zero, symbol="h'", label=label)
        else:
            new = self._squashed("tanh", total, "h'", "new hidden state", label)
        return new, None

    def _projection(
        self, packed: Any, gate: int, row: tuple[Operand, Operand, Operand], symbol: str
    ) -> Operand:
        """One output of a dynamic linear layer (``eq-linear-dynamic``)."""
        integers, scale, zero_point = row
        channel = gate * self.moment.of_hidden.shape[1] + self.feature
        layer, along = Layer(packed, channel, float(scale.value)), np.arange(packed.shape[1])
        places = Places(along, channel * len(along) + along, np.ones(len(along), bool))
        label = "eq-linear-accumulator"
        total = accumulate_integers(self.draft, integers, zero_point, packed, layer, places, label)
        real_of_accumulator(self.draft, total, layer)
        steps = self.draft.steps
        steps[-1] = replace(steps[-1], symbol=symbol)
        return Operand(symbol, steps[-1].value, len(steps) - 1)

    def _sum(self, gate: str, of_x: Operand, of_h: Operand) -> Operand:
        return self.draft.steps.add(f"sum of {gate}", "plus32", of_x, of_h, symbol=f"{gate}'")

    def _squashed(
        self, kind: str, value: Operand, symbol: str, name: str, label: str = ""
    ) -> Operand:
        label = label or ("eq-sigmoid" if kind == "sigmoid" else "eq-piecewise")
        named = Operand(kind, f"{kind} of a gate")
        return self.draft.steps.add(name, "function", named, value, symbol=symbol, label=label)

    def _lstm(self, parts: dict[str, tuple[Operand, Operand]]) -> tuple[Operand, Operand]:
        steps, moment = self.draft.steps, self.moment
        assert moment.c is not None
        assert moment.c_places is not None
        gates = {}
        for gate, name in _GATES["LSTM"].items():
            kind = "tanh" if gate == "g" else "sigmoid"
            gates[gate] = self._squashed(kind, self._sum(gate, *parts[gate]), gate, name)
        place = moment.c_places[self.feature]
        cell = self.draft.element("c", moment.c, np.unravel_index(place, moment.c.shape))
        kept = steps.add("what is kept", "times32", gates["f"], cell, symbol="k")
        added = steps.add("what is added", "times32", gates["i"], gates["g"], symbol="a")
        new = steps.add("new cell state", "plus32", kept, added, symbol="c'", label="eq-lstm-step")
        shown = self._squashed("tanh", new, "t", "what can be shown")
        hidden = steps.add(
            "new hidden state", "times32", gates["o"], shown, symbol="h'", label="eq-lstm-step"
        )
        return hidden, new

    def _gru(self, parts: dict[str, tuple[Operand, Operand]]) -> Operand:
        steps, moment = self.draft.steps, self.moment
        reset, update = (
            self._squashed("sigmoid", self._sum(gate, *parts[gate]), gate, _GATES["GRU"][gate])
            for gate in ("r", "u")
        )
        of_x, of_h = parts["n"]
        part = steps.add("what the reset gate lets in", "times32", reset, of_h, symbol="p")
        new = self._squashed("tanh", self._sum("n", of_x, part), "n", _GATES["GRU"]["n"])
        place = moment.h_places[self.feature]
        h = self.draft.element("h", moment.h, np.unravel_index(place, moment.h.shape))
        apart = steps.add("old less new", "minus32", h, new, symbol="d")
        kept = steps.add("what is kept", "times32", apart, update, symbol="k")
        return steps.add("new hidden state", "plus32", kept, new, symbol="h'", label="eq-gru-step")


def _finish(draft: Draft, moment: Moment, feature: int, cell: bool) -> None:
    hidden, new = _Step(draft, moment, feature).derive()
    draft.answer = new.step if cell and new is not None else hidden.step


def _step_of_layer(
    draft: Draft, unrolled: Unrolled, place: tuple[int, int, int, int], feature: int, cell: bool
) -> None:
    number, direction, step, sequence = place
    count = len(unrolled.sizes)
    way = ", backwards" if direction else ""
    draft.notes.append(
        f"step {step} of {count}{way}, sequence {int(unrolled.order[sequence])}, layer {number}"
    )
    _finish(draft, unrolled.moment(*place), feature, cell)


@explains("recurrent.layer")
def layer_of_stack(draft: Draft) -> None:
    """A state on the way."""
    unrolled = draft.record.arguments["unrolled"]
    step, sequence, feature = unrolled.place(draft.index)
    direction, feature = divmod(feature, unrolled.size)
    place = draft.record.arguments["number"], direction, step, sequence
    _step_of_layer(draft, unrolled, place, feature, draft.which == 1)


@captures("dynamic.LSTM", "dynamic.GRU")
def weights_now(given: dict[str, Any]) -> dict[str, Any]:
    """The packed weights that the layer has when it runs."""
    module = given["self"]
    drops = module.training and module.dropout > 0 and module.num_layers > 1
    return {"weights": [each.param for each in module._all_weight_values], "drops": drops}


@explains("dynamic.LSTM", "dynamic.GRU")
def recurrent(draft: Draft) -> None:
    """An output of the last layer, or a final state."""
    given = draft.record.arguments
    if given["drops"]:
        raise LookupError(
            f"why: {draft.record.layer} dropped numbers at random between its layers; call "
            "model.eval() and run it again"
        )
    unrolled = given.get("unrolled") or Unrolled(draft.record)
    given["unrolled"] = unrolled
    index = draft.index
    if draft.which == 0:
        if not unrolled.packed and unrolled.batch_first:
            index = (index[1], index[0], *index[2:])
        step, sequence, feature = unrolled.place(index)
        direction, feature = divmod(feature, unrolled.size)
        number = len(unrolled.weights) // unrolled.directions - 1
    else:
        which, original, feature = index
        sequence = int(np.flatnonzero(unrolled.order == original)[0])
        number, direction = divmod(which, unrolled.directions)
        step = unrolled.last_step(sequence, direction == 1)
    _step_of_layer(draft, unrolled, (number, direction, step, sequence), feature, draft.which == 2)


_CELLS = tuple(f"dynamic.{name}Cell" for name in ("LSTM", "GRU", "RNN"))


@captures(*_CELLS)
def weights_of_cell(given: dict[str, Any]) -> dict[str, Any]:
    """The packed weights that the cell has when it runs."""
    cell = given["self"]
    return {"weights": (cell._packed_weight_ih, cell._packed_weight_hh)}


@explains(*_CELLS)
def cell_module(draft: Draft) -> None:
    """A state after one step of a cell."""
    given = draft.record.arguments
    name = type(given["self"]).__name__.removesuffix("Cell")
    if getattr(given["self"], "nonlinearity", "tanh") == "relu":
        name = "ReLU"
    _cell(draft, name, given["weights"], given["hx"])


_KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN", "rnn_relu": "ReLU"}


@explains(*(f"quantized.quantized_{name}_cell_dynamic" for name in _KINDS))
def cell_function(draft: Draft) -> None:
    """Explain a state after one step of a cell, called as a function."""
    given = draft.record.arguments
    name = draft.record.operation.removeprefix("quantized.quantized_")
    kind = _KINDS[name.removesuffix("_cell_dynamic")]
    _cell(draft, kind, (given["w_ih"], given["w_hh"]), given["hx"])


def _cell(draft: Draft, kind: str, weights: tuple[Any, Any], states: Any) -> None:
    kept = list(states) if isinstance(states, tuple | list) else [states]
    if kind == "LSTM" and states is None:
        kept = [None, None]
    row, feature = draft.index
    moment = cell_moment(kind, weights, draft.record.arguments["input"], kept, row)
    _finish(draft, moment, feature, draft.which == 1)
