"""A converted model as a list of steps on stored integers: what formats without a runtime write.

A step is one operation with everything that it needs. Values are tensors between steps; several
values may share one buffer, as a tensor and its reshaped form do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..numerics.elementwise import Grid

__all__ = ["Buffer", "Plan", "Reals", "Step", "Value"]


@dataclass(eq=False)
class Buffer:
    """Room for the integers of a value.

    Attributes
    ----------
    size : int
        Elements, which are bytes.
    place : str
        ``"memory"``, or ``"in"`` and ``"out"`` where the caller of the model has the room.
    offset : int
        Where it begins in the memory, or which input or output it is.
    """

    size: int
    place: str = "memory"
    offset: int = 0


class Reals(NamedTuple):
    """Real numbers as a function of the bytes of a value.

    Attributes
    ----------
    numbers : ndarray
        float32 ``(256,)``: one for each byte.
    path, title : str
        Of the last operation that made them.
    """

    numbers: np.ndarray
    path: str
    title: str


@dataclass(eq=False)
class Value:
    """A tensor between two steps, contiguous, whose last axis runs fastest.

    Attributes
    ----------
    name : str
        The path of the operation that made it.
    shape : tuple of int
        Lengths of its axes.
    grid : Grid or None
        What its integers stand for; None of an input that nothing has quantized yet.
    buffer : Buffer
        Where they are.
    origin : Value or None
        The input of real numbers that was only moved to give this; its grid is that of the input.
    reals : Reals or None
        What became of the number that each byte stands for, where nothing has rounded it yet.
    """

    name: str
    shape: tuple[int, ...]
    grid: Grid | None
    buffer: Buffer
    origin: Value | None = None
    reals: Reals | None = None


@dataclass(eq=False)
class Step:
    """An operation on stored integers.

    Attributes
    ----------
    kind : str
        As ``"convolution"``.
    path : str
        The path of the module, or the name of the node, as :func:`pyqref.explain_diff` has it.
    title : str
        The class of the module, or the name of the function.
    labels : tuple of str
        The equations that it computes.
    inputs : list of Value
        What it reads.
    out : Value
        What it writes.
    data : dict
        Numbers, arrays and packed weights, by names that belong to the kind.
    in_place : bool
        Whether it may write over an input of the same size, element by element.
    """

    kind: str
    path: str
    title: str
    labels: tuple[str, ...]
    inputs: list[Value]
    out: Value
    data: dict[str, Any] = field(default_factory=dict)
    in_place: bool = False


@dataclass(eq=False)
class Plan:
    """All steps of a model, and its ends.

    Attributes
    ----------
    steps : list of Step
        In the order in which they run.
    inputs, outputs : list of Value
        What the caller gives and gets.
    engine : str
        Whose numbers the model was converted for: ``"fbgemm"`` or ``"qnnpack"``.
    peak, least : int
        Bytes of the memory between the steps, and how many any order of buffers needs.
    """

    steps: list[Step]
    inputs: list[Value]
    outputs: list[Value]
    engine: str
    peak: int = 0
    least: int = 0
