"""Orders in which samples are visited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Generic, TypeVar

from ...tensor.creation import tensor
from ...tensor.generator import Generator, default_generator
from ...tensor.random import multinomial, randint, randperm

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

_Index = TypeVar("_Index", covariant=True)


def draw_seed(generator: Generator | None = None) -> int:
    """A seed of 63 bits."""
    stream = default_generator if generator is None else generator
    return int(stream.bits64(1)[0]) & ((1 << 63) - 1)


class Sampler(Generic[_Index]):
    """An order of visiting: subclasses define ``__iter__``, which yields indices.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> isinstance(pyqref.utils.data.SequentialSampler(range(3)), pyqref.utils.data.Sampler)
    True
    """

    def __iter__(self) -> Iterator[_Index]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")


class SequentialSampler(Sampler[int]):
    """First to last.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> list(pyqref.utils.data.SequentialSampler(range(3)))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Visit samples in random order.

    Parameters
    ----------
    data_source
        What is sampled.
    replacement
        Whether a sample can come more than once.
    num_samples
        How many are drawn; by default as many as there are.
    generator
        Source of the random order; by default one seeded from the default stream.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> sorted(pyqref.utils.data.RandomSampler(range(4)))
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, got {replacement!r}")
        if num_samples is not None and (type(num_samples) is not int or num_samples <= 0):
            raise ValueError(f"num_samples should be a positive integer, got {num_samples!r}")
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator

    @property
    def num_samples(self) -> int:
        """Number of samples that are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        generator = self.generator
        if generator is None:
            generator = Generator().manual_seed(draw_seed())
        total = len(self.data_source)
        if self.replacement:
            # In portions of 32, as torch draws them.
            for _ in range(self.num_samples // 32):
                yield from randint(total, (32,), generator=generator).tolist()
            yield from randint(total, (self.num_samples % 32,), generator=generator).tolist()
            return
        if total == 0:
            return
        for _ in range(self.num_samples // total):
            yield from randperm(total, generator=generator).tolist()
        yield from randperm(total, generator=generator).tolist()[: self.num_samples % total]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> sorted(pyqref.utils.data.SubsetRandomSampler([1, 5, 7]))
    [1, 5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for position in randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[position]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with given weights.

    Parameters
    ----------
    weights
        One for each sample; they need not add up to 1.
    num_samples
        How many are drawn.
    replacement
        Whether a sample can come more than once.
    generator
        Source of random numbers.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> list(pyqref.utils.data.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        if type(num_samples) is not int or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer, got {num_samples!r}")
        self.weights = tensor([float(weight) for weight in weights])
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        drawn = multinomial(
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the indices that another sampler gives.

    Parameters
    ----------
    sampler
        The order.
    batch_size
        Length of a list, > 0.
    drop_last
        Leave out the last list if it is shorter.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> sampler = pyqref.utils.data.SequentialSampler(range(5))
    >>> list(pyqref.utils.data.BatchSampler(sampler, 2, drop_last=False))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable[int], batch_size: int, drop_last: bool) -> None:
        if type(batch_size) is not int or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer, got {batch_size!r}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, got {drop_last!r}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        batch: list[int] = []
        for index in self.sampler:
            batch.append(index)
            if len(batch) == self.batch_size:
                yield batch
                batch = []
        if batch and not self.drop_last:
            yield batch

    def __len__(self) -> int:
        samples = len(self.sampler)  # type: ignore[arg-type]
        if self.drop_last:
            return samples // self.batch_size
        return -(-samples // self.batch_size)
