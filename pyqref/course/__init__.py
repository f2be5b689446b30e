"""Exercises for a course, and a checker that tells the mistake by its name.

Students write one of the functions of quantization themselves, in plain NumPy::

    from pyqref import course

    course.exercises()                    # what there is
    print(course.describe("requantize"))  # what to write
    course.check("requantize", mine)      # what is wrong with it, and why

A mistake is recognized by a deliberately wrong solution that gives the same numbers.
Reading order: :mod:`.exercise`, :mod:`.checking`, then the exercises themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .affine import DEQUANTIZE, QUANTIZE, QUANTIZE_PER_CHANNEL
from .checking import run
from .dynamic import LINEAR_DYNAMIC
from .exercise import Case as Case
from .exercise import Exercise as Exercise
from .exercise import Mistake as Mistake
from .graphs import MATCH_PATTERNS
from .kernels import PACK_WEIGHT, ROOFLINE
from .layers import ACCUMULATE, FOLD_BATCH_NORM, FUSE, REQUANTIZE
from .networks import QUANTIZED_ADD, SPARE_LAYERS
from .ranges import AFFINE_QPARAMS, MIN_MAX_OBSERVER, MOVING_AVERAGE_OBSERVER, SYMMETRIC_SCALE
from .result import Failure as Failure
from .result import Result as Result
from .result import wrapped
from .training import FAKE_QUANTIZE

__all__ = [
    "Case",
    "Exercise",
    "Failure",
    "Mistake",
    "Result",
    "check",
    "describe",
    "exercises",
    "get",
    "solution",
]

_EXERCISES: dict[str, Exercise] = {
    each.name: each
    for each in (
        QUANTIZE,
        DEQUANTIZE,
        AFFINE_QPARAMS,
        SYMMETRIC_SCALE,
        MIN_MAX_OBSERVER,
        MOVING_AVERAGE_OBSERVER,
        QUANTIZE_PER_CHANNEL,
        ACCUMULATE,
        REQUANTIZE,
        FOLD_BATCH_NORM,
        FUSE,
        QUANTIZED_ADD,
        SPARE_LAYERS,
        FAKE_QUANTIZE,
        LINEAR_DYNAMIC,
        MATCH_PATTERNS,
        PACK_WEIGHT,
        ROOFLINE,
    )
}


def exercises() -> tuple[str, ...]:
    """Names of the exercises, in the order of a course.

    Examples
    --------
    >>> exercises()[:3]
    ('quantize', 'dequantize', 'affine_qparams')
    """
    return tuple(_EXERCISES)


def get(name: str) -> Exercise:
    """One exercise, with its cases and the mistakes that it knows.

    Parameters
    ----------
    name
        One of :func:`exercises`.

    Raises
    ------
    ValueError
        There is no such exercise.

    Examples
    --------
    >>> get("requantize").label
    'eq-requantize'
    """
    if not isinstance(name, str) or name not in _EXERCISES:
        possible = ", ".join(repr(each) for each in _EXERCISES)
        raise ValueError(f"name must be one of {possible}, got {name!r}")
    return _EXERCISES[name]


def describe(name: str) -> str:
    """Return the task of an exercise, with an example.

    Parameters
    ----------
    name
        One of :func:`exercises`.

    Raises
    ------
    ValueError
        There is no such exercise.

    Examples
    --------
    >>> print(describe("dequantize"))
    dequantize(q, scale, zero_point)
    <BLANKLINE>
    Give the real numbers for which the 8-bit integers q stand: subtract the zero point,
    multiply by the scale.
    <BLANKLINE>
    Equation eq-affine-dequantize. Example, 'above the zero point':
      of        [10, 20, 255], 0.5, 10
      gives     [0.0, 5.0, 122.5]
    """
    exercise = get(name)
    failure = run(exercise, lambda *_: None).failures[0]
    return (
        f"{wrapped(exercise.signature)}\n\n{wrapped(exercise.task)}\n\n"
        f"Equation {exercise.label}. Example, '{failure.case}':\n"
        f"  of        {failure.arguments}\n  gives     {failure.expected}"
    )


def check(name: str, function: Callable[..., Any]) -> Result:
    """Try what a student wrote, and print which cases fail and why.

    Parameters
    ----------
    name
        One of :func:`exercises`.
    function
        The function, or the class where the exercise asks for one. It is given copies of
        arrays, and may raise or return whatever it likes: that is reported.

    Returns
    -------
    The result, true if every case is right.

    Raises
    ------
    ValueError
        There is no such exercise.
    TypeError
        ``function`` cannot be called.

    Examples
    --------
    >>> import numpy as np
    >>> def quantize(x, scale, zero_point, quant_min, quant_max):
    ...     steps = np.floor(x / scale + zero_point + 0.5)
    ...     return np.clip(steps, quant_min, quant_max).astype(int)
    >>> result = check("quantize", quantize)
    quantize: 2 of 7 cases are wrong.
    The mistake: rounds halves up.
      Ties go to the even neighbour (2.5 to 2): use np.rint, not floor(v + 0.5).
      case 'ties'
        of        [0.5, 1.5, 2.5, -0.5, -1.5, -2.5], 1.0, 0, -128, 127
        expected  [0, 2, 2, 0, -2, -2]
        got       [1, 2, 3, 0, -1, -2]
      case 'ties, odd zero point'
        of        [0.5, 1.5, 2.5], 1.0, 3, 0, 255
        expected  [4, 4, 6]
        got       [4, 5, 6]
    Read about equation eq-affine-quantize.
    >>> bool(result)
    False
    """
    exercise = get(name)
    if not callable(function):
        raise TypeError(f"function must be {exercise.signature}, got {function!r}")
    result = run(exercise, function)
    sys.stdout.write(f"{result}\n")
    return result


def solution(name: str) -> str:
    """Where pyqref's own stands: a dotted name, to be read afterwards.

    Parameters
    ----------
    name
        One of :func:`exercises`.

    Raises
    ------
    ValueError
        There is no such exercise.

    Examples
    --------
    >>> solution("requantize")
    'pyqref.numerics.requantize.requantize'
    """
    return get(name).reference
