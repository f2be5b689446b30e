"""Filling tensors with random numbers, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import Generator, Tensor
from .base import TensorBase, wrap
from .random import _draw_type, _ends, _integers, _stream
from .refusal import refuse_quantized
from .storing import check_in_place, store
from .wrong_arguments import explain_errors

__all__ = ["bernoulli_", "exponential_", "normal_", "random_", "uniform_"]


def _fill(target: Any, numbers: Any) -> Any:
    """Write numbers in the order in which the elements lie in memory."""
    check_in_place(target)
    array = target._array
    order = np.argsort([-stride for stride in array.strides], kind="stable")
    laid = numbers.reshape([array.shape[axis] for axis in order]).transpose(np.argsort(order))
    store(target, wrap(laid))
    return target


def _floating_target(name: str, target: Any) -> Any:
    refuse_quantized(target)
    if target._array.dtype.kind != "f":
        raise RuntimeError(
            f"{name}: the tensor must be of a floating point dtype, got {target.dtype}"
        )
    return target._array.dtype


def uniform_(
    input: Tensor,
    from_: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
    **given: float,
) -> Tensor:
    """Fill with numbers uniform in [from, to)."""
    from_ = given.pop("from", from_)
    own = _floating_target("uniform_", input)
    if from_ > to:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={from_} > to={to}"
        )
    most = float(np.finfo(own).max)
    if not all(abs(each) <= most for each in (from_, to, float(to) - float(from_))):
        raise RuntimeError(f"uniform_: {own.name} cannot hold [{from_}, {to}) or its width")
    numbers = _stream(generator).uniform(input._array.size, own)
    low, high = own.type(from_), own.type(to)
    # As torch: the width rounded to the type of the tensor, the rest in double.
    width = np.float64(own.type(high - low))
    return _fill(input, numbers.astype(np.float64) * width + np.float64(low))


def normal_(
    input: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with normal numbers of the given mean and standard deviation."""
    own = _floating_target("normal_", input)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    blocks, count = input._array.flags.c_contiguous, input._array.size
    with quiet():
        return _fill(input, _stream(generator).normal(count, own, mean, std, blocks=blocks))


def bernoulli_(input: Tensor, p: float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 of probability ``p``, else 0."""
    refuse_quantized(input, p)
    chance = p._array if isinstance(p, TensorBase) else p
    if np.any(np.asarray(chance) < 0) or np.any(np.asarray(chance) > 1):
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    kind = _draw_type(chance) if isinstance(p, TensorBase) else np.float64
    draws = _stream(generator).uniform(input._array.size, kind)
    drawn = draws.reshape(input._array.shape) < chance
    return _fill(input, drawn.astype(input._array.dtype))


def random_(
    input: Tensor, from_: int = 0, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Fill with integers uniform in [from, to)."""
    if to is None and from_:
        from_, to = 0, from_
    kind = input._array.dtype
    stream, count = _stream(generator), input._array.size
    if to is not None:
        low, high = _ends("random_", from_, to, kind)
        return _fill(input, _integers(stream, count, low, high).astype(kind))
    largest = 1 << (np.finfo(kind).nmant + 1) if kind.kind == "f" else int(np.iinfo(kind).max)
    span = largest + 1
    bits = stream.bits64(count) if kind.itemsize == 8 else stream.bits32(count)
    return _fill(input, (bits % np.uint64(span)).astype(kind))


def exponential_(
    input: Tensor, lambd: float = 1.0, *, generator: Generator | None = None
) -> Tensor:
    """Fill with numbers of the exponential distribution of rate ``lambd``."""
    own = _floating_target("exponential_", input)
    if not lambd > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    draws = _stream(generator).uniform(input._array.size, np.float64)
    with quiet():
        return _fill(input, (-np.log1p(-draws) / lambd).astype(own))


explain_errors(globals())
