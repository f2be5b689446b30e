"""Axis arguments: negative ones, several, all."""

from __future__ import annotations

from typing import Any

from .._typing import Ints, Tensor
from .arguments import as_integer
from .dispatch import require_tensor

__all__ = ["axes_of", "axis_of", "require_rank", "shape_argument"]

#: All axes of an array, by their number: NumPy has up to 64.
_ALL = tuple([tuple(range(ndim)) for ndim in range(65)])


def axis_of(dim: int, ndim: int) -> int:
    """A single axis as a non-negative int; a 0-dimensional tensor has axes 0 and -1.

    Raises
    ------
    IndexError
        ``dim`` is not in [-ndim, ndim - 1].
    """
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    limit = ndim or 1
    if type(dim) is not int:
        dim = as_integer(dim, "dim")
    if not -limit <= dim < limit:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], "
            f"but got {dim})"
        )
    return dim % limit


def axes_of(dim: Ints | None, ndim: int) -> tuple[int, ...]:
    """Axes as a tuple of non-negative ints; None and () stand for all of them."""
    if type(dim) is int:
        axis = axis_of(dim, ndim)
        return (axis,) if ndim else ()
    if dim is None:
        return _ALL[ndim]
    several = dim if isinstance(dim, (tuple, list)) else (dim,)
    if not several:
        return _ALL[ndim]
    axes = tuple([axis_of(each, ndim) for each in several])
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {list(several)} appears multiple times in the list of dims")
    return axes if ndim else ()


def shape_argument(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape from ``f(2, 3)``, ``f((2, 3))`` or ``f(size)``.

    Raises
    ------
    TypeError
        An element is no integer.
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    for length in shape:
        if type(length) is not int:
            break
    else:
        return shape
    for length in shape:
        if isinstance(length, float) or not hasattr(length, "__index__"):
            raise TypeError(f"a shape must be made of ints, got {length!r} in {shape}")
    return tuple([as_integer(length, "a length of the shape") for length in shape])


def require_rank(name: str, argument: str, tensor: Tensor, ndim: int) -> None:
    """Raise unless an argument of a function is a tensor of one, two or three axes."""
    require_tensor(name, argument, tensor)
    if tensor.ndim != ndim:
        kind = {1: "a vector", 2: "a matrix", 3: "a 3D tensor"}[ndim]
        raise RuntimeError(f"{name}: expected {kind}, got a tensor of {tensor.ndim} dimensions")
