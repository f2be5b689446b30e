"""Models between a float model and its quantized one: the first operations on integers.

The operations of the quantized model are taken in the order in which they run. Those before one of
them compute what they compute, those behind it what they stand for in real numbers, and the one
itself stands between the two, as :mod:`.stages` says.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..nn.modules import Module
from ..tensor import quantize_per_tensor
from .float_forms import NoFloatFormError
from .originals import Originals
from .running import Call, Key, called, intercepted
from .stages import FLOAT, Stages
from .values import as_float, is_quantized, leaves, on_floats, same_elements

__all__ = ["Hybrid", "Trial", "Unchanged"]

#: What an operation gives instead: from its stages, the call, its arguments.
Trial = Callable[[Stages, Call, tuple[Any, ...], dict[str, Any]], Any]


class Unchanged(BaseException):
    """A step changed nothing, so the run that would measure it need not go on."""


class Hybrid:
    """Runs a quantized model with a part of it in float.

    Parameters
    ----------
    float_model, quantized_model
        In evaluation mode.
    inputs
        What both run on once, to see which operations there are.

    Attributes
    ----------
    order : list
        The operations that lose something, in the order in which they run.
    stages : dict
        For each of them, what it gives after each step.
    """

    def __init__(self, float_model: Module, quantized_model: Module, inputs: tuple[Any, ...]):
        self.model = quantized_model
        self.originals = Originals(float_model, quantized_model, inputs)
        self.order: list[Key] = []
        self.stages: dict[Key, Stages] = {}
        #: Float forms of operations that lose nothing, and how many quantized inputs they had.
        self.harmless: dict[Key, tuple[Callable[..., Any], int]] = {}
        with intercepted(quantized_model, self._look):
            called(quantized_model, inputs)
        self.position = {key: index for index, key in enumerate(self.order)}
        self._before: tuple[Any, Any] = (None, None)

    def _look(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation, and see what it is."""
        quantized = sum(map(is_quantized, leaves((args, kwargs))))
        before = on_floats((args, kwargs)) if quantized else (args, kwargs)
        result = call.run(*args, **kwargs)
        outputs = leaves(result)
        stages = Stages(call, args, result, self.originals)
        integers = quantized or any(map(is_quantized, outputs))
        if not outputs or not (integers or stages.loses):
            return result
        if stages.packed is None:
            try:
                floats = stages.form(*before[0], **before[1])
            except (NoFloatFormError, TypeError, ValueError, RuntimeError, AttributeError):
                floats = None
                stages.form = _on_its_grids(call.run, args)
            # Numbers that are quantized again may happen to lie on the grid already.
            if quantized and floats is not None and same_elements(floats, result):
                self.harmless[call.key] = stages.form, quantized
                return result
        self.order.append(call.key)
        self.stages[call.key] = stages
        return result

    def run(self, inputs: tuple[Any, ...], at: int, stage: str) -> Any:
        """Run the model with operation ``at`` taken up to a step.

        Raises
        ------
        Unchanged
            The step changes nothing of what the step before it gave on these inputs.
        """

        def decide(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            index = self.position.get(call.key)
            if index is None:
                return self._harmless(call, args, kwargs)
            if index < at:
                return call.run(*args, **kwargs)
            stages = self.stages[call.key]
            if index > at or stage == FLOAT:
                return stages.exact(FLOAT, call, args, kwargs)
            return self._changed(stages, stage, call, args, kwargs)

        with intercepted(self.model, decide):
            return called(self.model, inputs)

    def _changed(
        self, stages: Stages, stage: str, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        steps = (FLOAT, *stages.causes)
        before = steps[steps.index(stage) - 1]
        kept, value = self._before
        if kept != (call.key, before):
            value = stages.after(before, call, args, kwargs)
        result = stages.after(stage, call, args, kwargs)
        self._before = (call.key, stage), result
        if stage == stages.causes[-1] and not same_elements(value, result):
            return result
        if same_elements(value, result):
            raise Unchanged
        return result

    def forget(self) -> None:
        """Forget what the last step gave, because other inputs follow."""
        self._before = (None, None)

    def mixed(
        self,
        inputs: tuple[Any, ...],
        at: int,
        before: str,
        stage: str,
        channels: Callable[..., Any],
    ) -> Any:
        """Run like :meth:`run`, with some channels one step further than the others.

        ``channels`` is given the results after the steps ``before`` and ``stage``.
        """

        def trial(stages: Stages, call: Call, args: Any, kwargs: Any) -> Any:
            ends = [stages.after(each, call, args, kwargs) for each in (before, stage)]
            return channels(*map(as_float, ends))

        return self._with(inputs, at, trial, integers_behind=False)

    def with_trial(self, inputs: tuple[Any, ...], at: int, trial: Trial) -> Any:
        """Run the quantized model with something else in the place of operation ``at``."""
        return self._with(inputs, at, trial, integers_behind=True)

    def _with(self, inputs: Any, at: int, trial: Trial, *, integers_behind: bool) -> Any:
        def decide(call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            index = self.position.get(call.key)
            if index is None:
                return self._harmless(call, args, kwargs)
            stages = self.stages[call.key]
            if index == at:
                return trial(stages, call, args, kwargs)
            if index > at and not integers_behind:
                return stages.exact(FLOAT, call, args, kwargs)
            if sum(map(is_quantized, leaves(args))) >= stages.quantized_inputs:
                return call.run(*args, **kwargs)
            y = stages.exact("bias", call, args, kwargs)
            return y if stages.output is None else stages.on_grid(y, stages.output)

        with intercepted(self.model, decide):
            return called(self.model, inputs)

    def _harmless(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        form, quantized = self.harmless.get(call.key, (None, 0))
        if form is None or sum(map(is_quantized, leaves((args, kwargs)))) >= quantized:
            return call.run(*args, **kwargs)
        return form(*args, **kwargs)


def _on_its_grids(run: Callable[..., Any], seen: tuple[Any, ...]) -> Callable[..., Any]:
    """An operation without a float form: it runs on integers, on the grids that it saw."""
    grids = [
        (each.q_scale(), each.q_zero_point(), each.dtype)
        if is_quantized(each) and not each.qscheme().is_per_channel
        else None
        for each in seen
    ]

    def form(*args: Any, **kwargs: Any) -> Any:
        back = [
            quantize_per_tensor(each, *grid)
            if grid is not None and not is_quantized(each)
            else each
            for each, grid in zip(args, grids, strict=True)
        ]
        return on_floats(run(*back, **kwargs))

    return form
