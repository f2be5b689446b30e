"""Random tensors, from the stream of a :class:`~pyqref.tensor.generator.Generator`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._typing import Device, Ints, Layout, Shape, Tensor, TensorOrNumber
from ..dtypes import dtype as dtype_
from .arguments import as_integer
from .axes import shape_argument
from .base import TensorBase, wrap
from .creation import empty, made, numpy_type
from .foreign import refuse_foreign
from .generator import Generator, default_generator
from .memory import require_memory
from .refusal import refuse_quantized
from .wrong_arguments import explain_errors

__all__ = [
    "bernoulli",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]


def _stream(generator: Generator | None) -> Generator:
    return default_generator if generator is None else generator


def _shape(size: tuple[Any, ...]) -> tuple[tuple[int, ...], int]:
    shape = shape_argument(size)
    if any(length < 0 for length in shape):
        raise RuntimeError(f"Trying to create tensor with negative dimension: {list(shape)}")
    require_memory(shape, 8)
    return shape, int(np.prod(shape, dtype=np.int64))


def rand(
    *shape: int,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
    layout: Layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Numbers uniform in [0, 1); ``rand(2, 3)``, ``rand((2, 3))`` or ``rand(size=(2, 3))``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.rand(1000)
    >>> bool((0 <= x).all() and (x < 1).all())
    True
    """
    lengths, count = _shape(shape if size is None else (size,))
    numbers = _stream(generator).uniform(count, _floating("rand", dtype))
    return made(numbers.reshape(lengths), requires_grad, device)


def randn(
    *shape: Ints,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
    layout: Layout | None = None,
    pin_memory: bool = False,
) -> Tensor:
    """Normal numbers, mean 0 and standard deviation 1; sizes as in :func:`rand`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.randn(10000)
    >>> abs(x.mean().item()) < 0.1, abs(x.std().item() - 1) < 0.1
    (True, True)
    """
    lengths, count = _shape(shape if size is None else (size,))
    numbers = _stream(generator).normal(count, _floating("randn", dtype))
    return made(numbers.reshape(lengths), requires_grad, device)


def _floating(name: str, dtype: dtype_ | None) -> Any:
    wanted = numpy_type(dtype)
    if wanted.kind != "f":
        raise RuntimeError(f"{name}: dtype must be a floating point dtype, got {dtype}")
    return wanted


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """Integers uniform in [low, high); called ``(high, size)`` or ``(low, high, size)``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.randint(3, 6, (100,))
    >>> sorted(set(x.tolist()))
    [3, 4, 5]
    """
    if size is None and isinstance(high, (tuple, list)):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    wanted = np.dtype(np.int64) if dtype is None else numpy_type(dtype)
    low, high = _ends("randint", low, high, wanted)
    shape, count = _shape((size,))
    numbers = _integers(_stream(generator), count, low, high)
    with quiet():
        return made(numbers.reshape(shape).astype(wanted), requires_grad, device)


def _ends(name: str, low: Any, high: Any, wanted: Any) -> tuple[int, int]:
    """The interval [low, high) of integers that a type can hold."""
    low, high = as_integer(low, f"{name}: low"), as_integer(high, f"{name}: high")
    if high <= low:
        raise RuntimeError(
            f"{name} expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    least, most = 0, 1
    if wanted.kind != "b":
        limits: Any = np.finfo(wanted) if wanted.kind == "f" else np.iinfo(wanted)
        least, most = int(limits.min), int(limits.max)
    for end, value in (("from", low), ("to - 1", high - 1)):
        if not least <= value <= most:
            raise RuntimeError(f"{name}: {end} is out of bounds for {wanted.name}, got {value}")
    return low, high


def _integers(stream: Generator, count: int, low: int, high: int) -> Any:
    span = high - low
    bits = stream.bits32(count) if span < 1 << 28 else stream.bits64(count)
    # An int64 wraps, which is right where the span is wider than half of them.
    return ((bits % np.uint64(span)) + np.uint64(low % (1 << 64))).astype(np.int64)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: dtype_ | None = None,
    device: Device = None,
    requires_grad: bool = False,
) -> Tensor:
    """The numbers 0 to n - 1 in random order.

    Examples
    --------
    >>> import pyqref
    >>> sorted(pyqref.randperm(4).tolist())
    [0, 1, 2, 3]
    """
    wanted = np.dtype(np.int64) if dtype is None else numpy_type(dtype)
    n = as_integer(n, "randperm: n")
    if n < 0:
        raise RuntimeError(f"randperm: n must be at least 0, got {n}")
    most = 1 << (np.finfo(wanted).nmant + 1) if wanted.kind == "f" else np.iinfo(wanted).max
    if n - 1 > most:
        raise RuntimeError(f"randperm: {wanted.name} cannot hold the numbers below {n}")
    require_memory((n,), 72, "randperm: a permutation")  # Python integers, in lists
    order = list(range(n))
    draws = _stream(generator).bits32(max(n - 1, 0)).tolist()
    for index, draw in enumerate(draws):
        chosen = index + draw % (n - index)
        order[index], order[chosen] = order[chosen], order[index]
    return made(np.array(order, dtype=wanted), requires_grad, device)


def rand_like(input: Tensor, *, dtype: dtype_ | None = None, requires_grad: bool = False) -> Tensor:
    """:func:`rand` in the shape and type of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.rand_like(pyqref.ones(2, 3)).shape
    pyqref.Size([2, 3])
    """
    refuse_foreign("rand_like()", input)
    return rand(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randn_like(
    input: Tensor, *, dtype: dtype_ | None = None, requires_grad: bool = False
) -> Tensor:
    """:func:`randn` in the shape and type of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.randn_like(pyqref.ones(2, 3)).shape
    pyqref.Size([2, 3])
    """
    refuse_foreign("randn_like()", input)
    return randn(*input.shape, dtype=dtype or input.dtype, requires_grad=requires_grad)


def randint_like(
    input: Tensor, low: int, high: int | None = None, *, dtype: dtype_ | None = None
) -> Tensor:
    """:func:`randint` in the shape and type of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.randint_like(pyqref.ones(2), 5, 6).tolist()
    [5.0, 5.0]
    """
    low, high = (0, low) if high is None else (low, high)
    refuse_foreign("randint_like()", input)
    return randint(low, high, tuple(input.shape), dtype=dtype or input.dtype)


def normal(
    mean: Tensor,
    std: TensorOrNumber = 1.0,
    size: Shape | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers of the given mean and standard deviation (numbers or tensors).

    Examples
    --------
    >>> import pyqref
    >>> pyqref.normal(pyqref.tensor([1.0, 1000.0]), pyqref.tensor([0.0, 0.0])).tolist()
    [1.0, 1000.0]
    """
    refuse_quantized(mean, std)
    if isinstance(std, TensorBase) and (std._array < 0).any():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    if not isinstance(std, TensorBase) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std}")
    if size is not None and not isinstance(mean, TensorBase) and not isinstance(std, TensorBase):
        return empty(size).normal_(mean, std, generator=generator)
    if size is None:
        like: Any = mean if isinstance(mean, TensorBase) else std
        if isinstance(mean, TensorBase) and isinstance(std, TensorBase):
            size = np.broadcast_shapes(mean._array.shape, std._array.shape)
        else:
            size = like.shape
    return randn(size, generator=generator) * std + mean


def bernoulli(
    input: Tensor, p: float | None = None, *, generator: Generator | None = None
) -> Tensor:
    """1 with the probability that ``input`` (or ``p``) gives, else 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bernoulli(pyqref.tensor([0.0, 1.0, 1.0])).tolist()  # the probabilities of ones
    [0.0, 1.0, 1.0]
    """
    if p is not None:
        return input.clone().bernoulli_(p, generator=generator)
    refuse_quantized(input)
    chances = input._array
    if chances.size and not ((chances >= 0) & (chances <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true")
    draws = _stream(generator).uniform(chances.size, _draw_type(chances)).reshape(chances.shape)
    return wrap(np.asarray(draws < chances, chances.dtype))


def _draw_type(chances: Any) -> Any:
    """Chances in double are compared with 53 random bits, others with 24."""
    return np.float64 if np.asarray(chances).dtype == np.float64 else np.float32


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Indices drawn with the weights of each row of ``input``.

    Examples
    --------
    >>> import pyqref
    >>> sorted(pyqref.multinomial(pyqref.tensor([1.0, 0.0, 1.0]), 2).tolist())
    [0, 2]
    """
    refuse_quantized(input)
    if input.ndim not in (1, 2):
        raise RuntimeError(f"multinomial: input must have 1 or 2 axes, got {input.ndim}")
    if input._array.dtype.kind != "f":
        raise RuntimeError(f"multinomial: input must be floating point, got {input.dtype}")
    num_samples = as_integer(num_samples, "multinomial: num_samples")
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: num_samples must be at least 1, got {num_samples}")
    weights = np.atleast_2d(input._array).astype(np.float64)
    require_memory((len(weights), num_samples), 8, "multinomial: a result")
    if (weights < 0).any() or not np.isfinite(weights).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (weights.sum(axis=1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and num_samples > (weights > 0).sum(axis=1).min(initial=weights.shape[1]):
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    stream = _stream(generator)
    drawn = np.empty((len(weights), num_samples), np.int64)
    for row, chances in zip(drawn, weights, strict=True):
        row[:] = _draw(chances, num_samples, replacement, stream)
    return wrap(drawn if input.ndim == 2 else drawn[0])


def _draw(weights: Any, count: int, replacement: bool, stream: Generator) -> Any:
    if replacement:
        edges = np.cumsum(weights) / weights.sum()
        return np.searchsorted(edges, stream.uniform(count, np.float64), side="right")
    waits = -np.log(1.0 - stream.uniform(weights.size, np.float64))
    with np.errstate(divide="ignore"):
        return np.argsort(waits / weights, kind="stable")[:count]


explain_errors(globals())
