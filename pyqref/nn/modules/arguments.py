"""Checks for constructor arguments of layers: sizes, counts per axis, numbers, words.

A number that is accepted stays the number that was passed, so that layers print it as it was
written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...tensor.arguments import as_integer, as_number, described

__all__ = ["layer_count", "number", "per_axis", "probability", "sizes", "word"]

#: Layers that a stack may have: each is objects of Python, which take time and memory to make.
MOST_LAYERS = 1 << 16


def sizes(least: int = 0, /, **given: object) -> tuple[int, ...]:
    """Integers of at least ``least`` by their names, in the order given.

    Raises
    ------
    TypeError
        One is no integer.
    ValueError
        One is too small or does not fit 64 bits.
    """
    return tuple(as_integer(value, name, least) for name, value in given.items())


def layer_count(value: int, name: str, least: int | None = 1) -> int:
    """Check the number of layers of a stack, and return it.

    Raises
    ------
    TypeError
        It is no integer.
    ValueError
        It is smaller than ``least``, or larger than 65,536: to make so many layers takes minutes.

    Examples
    --------
    >>> layer_count(2, "num_layers")
    2
    """
    count = as_integer(value, name, least)
    if count > MOST_LAYERS:
        raise ValueError(f"{name} must be at most {MOST_LAYERS}, got {count}")
    return count


def per_axis(value: object, count: int, name: str, least: int = 0) -> tuple[int, ...]:
    """An integer once for each axis; of several, one stands for all axes when the layer runs.

    Raises
    ------
    TypeError
        It holds something else than integers.
    ValueError
        There are neither one nor ``count`` of them, or one is smaller than ``least``.
    """
    if not isinstance(value, list | tuple):
        return (as_integer(value, name, least),) * count
    if len(value) not in (1, count):
        raise ValueError(f"{name} must be one integer or {count}, got {described(value)}")
    return tuple(as_integer(each, name, least) for each in value)


def number(value: float, name: str) -> float:
    """A real number as it is; of a tensor or array its only element."""
    found = as_number(value, name)
    return value if isinstance(value, int | float) else found


def probability(value: float, name: str) -> float:
    """A number in [0, 1].

    Raises
    ------
    TypeError
        It is no number.
    ValueError
        It is outside of [0, 1], or nan.
    """
    found = number(value, name)
    if not 0 <= found <= 1:
        raise ValueError(
            f"{name} must be a probability between 0 and 1, but got {described(value)}"
        )
    return found


def word(value: str, name: str, choices: Sequence[str]) -> str:
    """Check that a value is one of some words, and return it.

    Raises
    ------
    ValueError
        It is another word, or none.
    """
    if not isinstance(value, str) or value not in choices:
        quoted = [repr(each) for each in choices]
        wanted = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
        raise ValueError(f"{name} must be {wanted}, got {described(value)}")
    return value
