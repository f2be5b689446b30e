"""``assert_bit_equal``: the same bits, or a message that says how and why they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..explaining import explain_diff
from ..nn.modules import Module
from ..tensor.arguments import described

__all__ = ["as_array", "assert_bit_equal", "difference"]


def assert_bit_equal(got: Any, expected: Any, *, inputs: Any = None, message: str = "") -> None:
    """Raise unless two arrays or tensors hold the same bits, or two models give them.

    Shapes and types must be equal too. Of quantized tensors the stored integers are compared, and
    scale and zero point. The sign of a zero counts; of a nan the payload does not. Models are
    compared layer by layer, by :func:`pyqref.explain_diff`.

    Parameters
    ----------
    got, expected
        NumPy arrays, tensors, or what NumPy makes arrays of. If ``expected`` is a converted model,
        ``got`` is another one, or a mapping from paths of its layers to their integers.
    inputs
        Only with a model: what it is called with, a tensor or a tuple of tensors.
    message
        To begin the message with.

    Raises
    ------
    AssertionError
        They differ. The message says how many elements do, which is the first, how large the
        differences are, and what the cause may be. Of models it is the report of ``explain_diff``:
        the first layer that differs, counts and causes.
    TypeError
        ``inputs`` are given without a model, or the other way around.

    Examples
    --------
    >>> import numpy as np
    >>> expected = np.uint8([7, 8, 9, 255, 0])
    >>> assert_bit_equal(np.uint8([7, 8, 9, 255, 0]), expected)
    >>> assert_bit_equal(np.uint8([7, 9, 10, 0, 0]), expected)
    Traceback (most recent call last):
        ...
    AssertionError: 3 of 5 elements differ (60 %); the first at [1]: got 9, expected 8
    got less expected: 1 in 2, -255 in 1
    perhaps: some wrap around in 8 bits, before the clamp
    """
    is_model = isinstance(expected, Module)
    if is_model != (inputs is not None):
        raise TypeError(
            "assert_bit_equal: inputs must be what a model is called with, and None without a "
            f"model as expected, got {described(inputs)}"
        )
    if is_model:
        found = explain_diff(expected, got, inputs, progress=False)
        problem = "" if found.first is None else str(found)
    else:
        problem, _ = difference(as_array(got), as_array(expected))
    for name in ("q_scale", "q_zero_point"):
        values = [getattr(each, name, None) for each in (got, expected)]
        if not problem and all(map(callable, values)) and _is_per_tensor(got, expected):
            ours, theirs = (value() for value in values)  # type: ignore[misc]
            if ours != theirs:
                problem = f"{name} is {ours}, expected {theirs}"
    if problem:
        raise AssertionError(f"{message}\n{problem}" if message else problem)


def _is_per_tensor(*tensors: Any) -> bool:
    return all(not each.qscheme().is_per_channel for each in tensors if each.is_quantized) and all(
        each.is_quantized for each in tensors
    )


def as_array(value: Any) -> np.ndarray:
    """The numbers of an array or a tensor; of a quantized one the stored integers."""
    if getattr(value, "is_quantized", False):
        value = value.int_repr()
    if hasattr(value, "detach"):
        value = value.detach()
    return np.asarray(value)


def difference(
    got: np.ndarray,
    expected: np.ndarray,
    scaled: np.ndarray | None = None,
    any_integers: bool = False,
) -> tuple[str, tuple[int, ...] | None]:
    """Describe how two arrays differ, and the first place where they do.

    Parameters
    ----------
    got, expected
        The arrays.
    scaled
        The results before they were rounded, to see whether ties differ.
    any_integers
        Whether two types of integers may differ.

    Returns
    -------
    problem
        Empty if they are equal to the bit.
    first
        Index of the first element that differs; None if types or shapes do.

    Examples
    --------
    >>> difference(np.int8([1, 2]), np.int8([1, 3]))[1]
    (1,)
    """
    if got.shape != expected.shape:
        return f"the shape is {got.shape}, expected {expected.shape}", None
    if got.dtype != expected.dtype and "f" in (got.dtype.kind, expected.dtype.kind):
        return f"the type is {got.dtype}, expected {expected.dtype}", None
    if expected.dtype.kind not in "biuf" or got.dtype.kind not in "biuf":
        return f"numbers can be compared, got {got.dtype} and {expected.dtype}", None
    differs = _differs(got, expected)
    count = int(np.count_nonzero(differs))
    if not count:
        if got.dtype != expected.dtype and not any_integers:
            return f"the type is {got.dtype}, expected {expected.dtype}", None
        return "", None
    first = tuple(int(each) for each in np.argwhere(differs)[0])
    share = 100 * count / differs.size
    which = f"the first at {list(first)}: got {got[first].item()!r}"
    which += f", expected {expected[first].item()!r}"
    lines = [f"{count} of {differs.size} elements differ ({share:.3g} %); {which}"]
    lines += _distribution(got, expected, differs)
    cause = _cause(got, expected, differs, scaled)
    if cause:
        lines.append(f"perhaps: {cause}")
    return "\n".join(lines), first


def _differs(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if expected.dtype.kind != "f":
        return np.asarray(got != expected)
    both_nan = np.isnan(got) & np.isnan(expected)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected))
    return ~(same | both_nan)


def _distribution(got: np.ndarray, expected: np.ndarray, differs: np.ndarray) -> list[str]:
    """How often the commonest differences occur; of real numbers, how large they are."""
    if expected.dtype.kind == "f":
        with np.errstate(all="ignore"):
            gaps = np.abs(got.astype(np.float64) - expected)[differs]
            units = gaps / np.spacing(np.abs(expected))[differs]
        if not np.isfinite(units).all():
            return ["some are infinite or no number"]
        return [f"by up to {gaps.max():.3g}, which is {units.max():.3g} units in the last place"]
    steps = got.astype(object)[differs] - expected.astype(object)[differs]
    values, counts = np.unique(steps, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    some = [f"{values[i]} in {counts[i]}" for i in order[:5]]
    rest = f", {len(values) - 5} other values" if len(values) > 5 else ""
    return [f"got less expected: {', '.join(some)}{rest}"]


def _cause(
    got: np.ndarray, expected: np.ndarray, differs: np.ndarray, scaled: np.ndarray | None
) -> str:
    """A guess, from what the differences have in common."""
    if expected.dtype.kind == "f":
        return "another order of sums or roundings" if differs.any() else ""
    steps = got.astype(np.int64)[differs] - expected.astype(np.int64)[differs]
    if scaled is not None:
        with np.errstate(invalid="ignore"):
            ties = np.abs(scaled) % 1 == 0.5
        if ties[differs].all():
            return "ties are rounded another way: every element that differs is one"
    if (np.abs(steps) == 255).any() or (
        expected.dtype.itemsize == 1 and got.dtype.itemsize > 1 and (steps % 256 == 0).all()
    ):
        return "some wrap around in 8 bits, before the clamp"
    if (steps == steps[0]).all() and differs.all():
        return f"a constant of {steps[0]} is added: the zero point, or 128 between int8 and uint8"
    if (np.abs(steps) == 1).all():
        return "rounded another way: no difference is larger than one step"
    lowest = expected.min()
    if (expected[differs] == lowest).all() and (steps < 0).all():
        return f"not clamped below at {lowest}: a ReLU, or the range"
    if got.ndim and got.size > 1 and np.array_equal(np.sort(got, None), np.sort(expected, None)):
        return "the same numbers in another order: a layout, or transposed axes"
    return ""
