"""Work of one process: run a few batches, and hand over what the observers saw."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from pyqref.nn.modules.module import Module
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.merging import watchers
from pyqref.quantization.observer.recording import RecordingObserver
from pyqref.tape.grad_mode import no_grad
from pyqref.tensor.base import wrap

__all__ = ["CalibrationError", "Seen", "forget", "observe_piece", "take_in"]

#: The observers and fake quantizers of a model by their path.
Seen = dict[str, Any]


class CalibrationError(RuntimeError):
    """A batch could not be run; the message tells which one, and why.

    Examples
    --------
    >>> raise CalibrationError("calibrate: batch 3 failed")
    Traceback (most recent call last):
    pyqref.quantization.calibrating.pieces.CalibrationError: calibrate: batch 3 failed
    """


def observe_piece(model: Module, first: int, batches: Sequence[Any]) -> Seen:
    """Run batches through a prepared model that saw nothing, and let it forget them.

    Parameters
    ----------
    model
        The prepared model; it is as before afterwards.
    first
        The number of the first batch, for messages.
    batches
        The batches.

    Returns
    -------
    dict
        Copies of the observers and fake quantizers, by path.
    """
    try:
        with no_grad():
            for number, batch in enumerate(batches, first):
                _run(model, number, batch)
        return {path: copy.deepcopy(each) for path, each in watchers(model)}
    finally:
        forget(model)


def take_in(model: Module, seen: Seen) -> None:
    """Merge what a piece saw into the observers of a model."""
    for path, each in watchers(model):
        each.merge(seen[path])


def forget(model: Module) -> None:
    """Let the observers of a model forget what they saw.

    Raises
    ------
    TypeError
        A class of one's own cannot.
    """
    for path, each in watchers(model):
        observer = each.activation_post_process if _has_observer(each) else each
        if isinstance(observer, RecordingObserver):
            observer.tensor_val.clear()
        elif hasattr(observer, "reset_min_max_vals"):
            observer.reset_min_max_vals()
        elif not type(observer).__module__.startswith("pyqref."):
            raise TypeError(
                f"calibrate: the observer at '{path}' ({type(observer).__name__}) cannot forget: "
                "define its method reset_min_max_vals()"
            )


def _has_observer(watcher: Any) -> bool:
    return isinstance(watcher, FakeQuantizeBase) and hasattr(watcher, "activation_post_process")


def _run(model: Module, number: int, batch: Any) -> None:
    try:
        if isinstance(batch, dict):
            model(**{key: _tensor(each) for key, each in batch.items()})
        elif isinstance(batch, tuple | list):
            model(*map(_tensor, batch[: _most_inputs(model)]))
        else:
            model(_tensor(batch))
    except Exception as error:
        raise CalibrationError(
            f"calibrate: batch {number} failed: {type(error).__name__}: {error}"
        ) from error


def _tensor(value: Any) -> Any:
    return wrap(value) if isinstance(value, np.ndarray) else value


def _most_inputs(model: Module) -> int | None:
    """How many inputs ``forward`` takes; None for any number."""
    kinds = [each.kind for each in inspect.signature(model.forward).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return None
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in by_position for kind in kinds)
