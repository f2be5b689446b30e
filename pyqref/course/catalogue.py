"""The exercises, in the order of the course."""

from __future__ import annotations

from .affine import DEQUANTIZE, QUANTIZE, QUANTIZE_PER_CHANNEL
from .checking import run
from .dynamic import LINEAR_DYNAMIC
from .exercise import Exercise
from .graphs import MATCH_PATTERNS
from .kernels import PACK_WEIGHT, ROOFLINE
from .layers import ACCUMULATE, FOLD_BATCH_NORM, FUSE, REQUANTIZE
from .library import LIBRARIES
from .networks import QUANTIZED_ADD, SPARE_LAYERS
from .ranges import AFFINE_QPARAMS, MIN_MAX_OBSERVER, MOVING_AVERAGE_OBSERVER, SYMMETRIC_SCALE
from .result import wrapped
from .training import FAKE_QUANTIZE

__all__ = ["answer", "describe", "exercises", "get", "solution"]

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


def answer(name: str) -> str:
    """Return a model answer, as a student could have written it: Python source.

    Keep it apart from what students are given.

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
    >>> print(answer("dequantize"))
    def dequantize(q, scale, zero_point):
        return (q.astype(np.int64) - zero_point) * scale
    <BLANKLINE>
    """
    return LIBRARIES[get(name).name].answer
