"""Pass: ranges of integers that observers were made for, where they are narrower than the dtype's.

A weight, and a value that is only quantized, stay in the range::

    x -> quantize_per_tensor -> y                               before
    x -> quantize_per_tensor -> clamp_integers(0, 15) -> y      after

A layer with weights keeps it, too (:mod:`.noted_ranges`). Other operations on integers give those
of the whole dtype, and a warning says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyqref._typing import AnyModule
from pyqref.backends import quantized as settings
from pyqref.fx import GraphModule, Node
from pyqref.nn.quantized.integer_range import (
    clamp_has_no_effect,
    clamp_integers,
    is_narrow,
    keeps_range,
    range_of,
)
from pyqref.quantization.narrow_ranges import described_range, warn_of_narrow_ranges

from .lower_others import keeps_grid
from .noted_ranges import is_given, note_range
from .observed import Preparation
from .reference_pattern import is_dynamic_quantize, is_quantize

__all__ = ["IntegerRanges"]


@dataclass(frozen=True)
class _Activation:
    """A quantized value: its node, the range of its observer, and what messages call it.

    Attributes
    ----------
    is_kept
        Whether the range can be kept where the node stays.
    is_safe
        Whether the range is kept where the node goes: by the operation that replaces it.
    """

    node: Node
    range: tuple[int, int]
    is_kept: bool
    is_safe: bool
    name: str


class IntegerRanges:
    """Treatment of the integer ranges of observers by ``convert_fx``.

    Parameters
    ----------
    model
        The prepared model.
    preparation
        Knows the modules in which nodes were made.
    weights
        Nodes of the observers of weights.
    """

    def __init__(self, model: GraphModule, preparation: Preparation, weights: set[Node]) -> None:
        self._model = model
        self._scopes = preparation.scopes
        self._weights = weights
        self._activations: list[_Activation] = []

    def after(self, quantized: Node, node: Node, observer: AnyModule) -> Node:
        """Keep, or take note of, the range of an observer.

        Parameters
        ----------
        quantized
            The node that quantizes in the place of the observer.
        node, observer
            The observer's node, and the observer.

        Returns
        -------
        Node
            The quantized value.
        """
        chosen = range_of(observer)
        if chosen is None:
            return quantized
        if node not in self._weights:
            if is_narrow(observer):
                self._take_note(quantized, node.args[0], observer, chosen)
            return quantized
        if settings.conventions == "torch" or clamp_has_no_effect(observer.dtype, *chosen):
            return quantized
        return self._model.graph.call_function(clamp_integers, (quantized, *chosen))

    def _take_note(
        self, quantized: Node, operation: Node, observer: Any, chosen: tuple[int, int]
    ) -> None:
        if is_quantize(quantized):
            kept = keeps_range(observer)
            # Pooling and the like give no integers beyond those of their input.
            safe = kept and keeps_grid(self._model, operation)
        elif is_dynamic_quantize(quantized):
            kept = safe = False
        else:
            return
        if kept:
            note_range(quantized, chosen)
        name = f"{self._place(operation)}: {described_range(observer)}"
        self._activations.append(_Activation(quantized, chosen, kept, safe, name))

    def _place(self, node: Node) -> str:
        if node.op == "call_module":
            module = self._model.get_submodule(node.target)
            return f"{node.target} ({type(module).__name__})"
        path = self._scopes.get(node.name, ("", None))[0]
        return f"{node.name} in {path}" if path else node.name

    def keep(self, asks: str) -> bool:
        """Keep the ranges of what is only quantized, and warn of all others.

        Parameters
        ----------
        asks
            Who asks, for the message.

        Returns
        -------
        bool
            Whether the graph was changed.
        """
        left = set(self._model.graph.nodes)
        kept = [each for each in self._activations if each.is_kept and each.node in left]
        for each in kept:
            self._clamp(each)
        lost = [
            each
            for each in self._activations
            if not (each in kept or each.is_safe or is_given(each.node))
        ]
        warn_of_narrow_ranges(asks, [each.name for each in lost])
        return bool(kept)

    def _clamp(self, activation: _Activation) -> None:
        """Clamp what a node gives, for all who take it."""
        node = activation.node
        users = list(node.users)
        with self._model.graph.inserting_after(node):
            clamped = self._model.graph.call_function(clamp_integers, (node, *activation.range))
        for user in users:
            user.replace_input_with(node, clamped)
