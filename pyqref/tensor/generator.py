"""The stream of random numbers of ``torch``'s CPU generator.

A Mersenne Twister (MT19937) gives 32-bit integers; the numbers are made from them
as ``torch`` makes them, so that a script with ``manual_seed`` gives the same tensors.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._lazy import importing
from ..devices import device as device_
from ..devices import require_cpu
from ..tape import Array
from .arguments import described
from .box_muller import box_muller

__all__ = ["Generator", "default_generator", "initial_seed", "manual_seed", "seed"]

_DEFAULT_SEED = 67280421310721


class Generator:
    """A source of random numbers of its own.

    Examples
    --------
    >>> import pyqref
    >>> generator = pyqref.Generator().manual_seed(0)
    >>> pyqref.randint(10, (3,), generator=generator)
    tensor([4, 9, 3])
    """

    def __init__(self, device: Any = "cpu") -> None:
        require_cpu(device, "Generator: ")
        self.device = device_(device)
        self.manual_seed(_DEFAULT_SEED)

    def manual_seed(self, seed: int) -> Generator:
        """Start the stream that belongs to ``seed`` (its low 32 bits are used)."""
        try:
            self._seed = int(seed) % (1 << 64)
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                f"manual_seed(): argument 'seed' must be an integer, got {described(seed)}"
            ) from None
        self._started: Any = None
        self._next_normal: float | None = None
        return self

    @property
    def _state(self) -> Any:
        """The twister, started when it is first used: importing ``numpy.random`` takes long."""
        if self._started is None:
            with importing("numpy.random"):
                self._started = np.random.RandomState(self._seed & 0xFFFFFFFF)
        return self._started

    def seed(self) -> int:
        """Seed with a number of the operating system and return it."""
        chosen = int.from_bytes(os.urandom(8), "little") >> 1
        self.manual_seed(chosen)
        return chosen

    def initial_seed(self) -> int:
        """The seed of the stream."""
        return self._seed

    def get_state(self) -> tuple[Any, ...]:
        """Return the state of the stream."""
        return self._seed, self._state.get_state(), self._next_normal

    def set_state(self, state: tuple[Any, ...]) -> Generator:
        """Go to a place that :meth:`get_state` gave."""
        self._seed, twister, self._next_normal = state
        self._started = None
        self._state.set_state(twister)
        return self

    def bits32(self, count: int) -> Array:
        """The next 32-bit integers, as uint64."""
        return np.asarray(self._state._bit_generator.random_raw(count), dtype=np.uint64)

    def bits64(self, count: int) -> Array:
        """64-bit integers of two 32-bit ones each, the high half first."""
        pairs = self.bits32(2 * count).reshape(-1, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def uniform(self, count: int, dtype: DTypeLike) -> Array:
        """Numbers in [0, 1): 24 bits of one draw each, of two draws 53 bits for double."""
        if dtype == np.float64:
            return (self.bits64(count) & np.uint64((1 << 53) - 1)).astype(np.float64) * 2.0**-53
        mask = np.uint64((1 << 24) - 1)
        single = (self.bits32(count) & mask).astype(np.float32) * np.float32(2.0**-24)
        return single.astype(dtype, copy=False)

    def normal(
        self,
        count: int,
        dtype: Any,
        mean: float = 0.0,
        std: float = 1.0,
        *,
        blocks: bool = True,
    ) -> Array:
        """Normal numbers by the method of Box and Muller.

        16 numbers and more that lie in one piece (``blocks``) are made in blocks of 16;
        a last, incomplete block is drawn again for the last 16 numbers. Fewer are made one
        by one in double precision.
        """
        if count < 16 or not blocks or dtype == np.float16:
            return np.array([self._one_normal() * std + mean for _ in range(count)], dtype=dtype)
        filled = self.uniform(count, dtype)
        complete = count // 16 * 16
        filled[:complete] = box_muller(filled[:complete], mean, std)
        if count % 16:
            filled[-16:] = box_muller(self.uniform(16, dtype), mean, std)
        return filled

    def _one_normal(self) -> float:
        """Every second number is kept for the next call."""
        if self._next_normal is not None:
            kept, self._next_normal = self._next_normal, None
            return kept
        first, second = self.uniform(2, np.float64).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-second))
        angle = 2.0 * math.pi * first
        self._next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Start the default stream that belongs to ``seed``.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.manual_seed(0)
    >>> pyqref.rand(1).item()  # the bits of torch
    0.49625658988952637
    """
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default stream with a number of the operating system and return it.

    Examples
    --------
    >>> import pyqref
    >>> isinstance(pyqref.seed(), int)
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default stream.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.manual_seed(5)
    >>> pyqref.initial_seed()
    5
    """
    return default_generator.initial_seed()


def get_rng_state() -> tuple[Any, ...]:
    """Return the state of the default stream.

    Examples
    --------
    >>> import pyqref
    >>> state = pyqref.get_rng_state()
    >>> first = pyqref.rand(3)
    >>> pyqref.set_rng_state(state)
    >>> pyqref.equal(first, pyqref.rand(3))
    True
    """
    return default_generator.get_state()


def set_rng_state(new_state: tuple[Any, ...]) -> None:
    """Go to a place of the default stream that :func:`get_rng_state` gave.

    Examples
    --------
    >>> import pyqref
    >>> state = pyqref.get_rng_state()
    >>> first = pyqref.randn(3)
    >>> pyqref.set_rng_state(state)
    >>> pyqref.equal(first, pyqref.randn(3))
    True
    """
    default_generator.set_state(new_state)
