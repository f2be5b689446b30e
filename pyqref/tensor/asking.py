"""Answers of a tensor to the question where its numbers come from.

Operations on tensors know nothing of recordings; the floor of derivations says how to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._typing import Derivation, TensorBase

__all__ = ["answer_why", "set_answer_to_why"]


def _nothing_recorded(tensor: Any, index: tuple[Any, ...]) -> Any:
    raise LookupError(
        "why: nothing was recorded; run the model inside of "
        "'with pyqref.explaining.recording():', then ask y.why(index)"
    )


_answer: Callable[[Any, tuple[Any, ...]], Any] = _nothing_recorded


def answer_why(tensor: TensorBase, index: tuple[Any, ...]) -> Derivation:
    """Derive an element of a tensor."""
    return _answer(tensor, index)


def set_answer_to_why(answer: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Let the floor of derivations answer :func:`answer_why`."""
    global _answer
    _answer = answer
