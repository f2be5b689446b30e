"""Data sets: what can be indexed, or iterated over, sample by sample."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from ..._typing import Index, Tensor
from ...tensor.generator import Generator
from ...tensor.random import randperm

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

_Sample = TypeVar("_Sample")


class Dataset(Generic[_Sample]):
    """Samples by index: subclasses define ``__getitem__`` and ``__len__``.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> class Squares(pyqref.utils.data.Dataset):
    ...     def __len__(self):
    ...         return 4
    ...
    ...     def __getitem__(self, index):
    ...         return index * index
    >>> Squares()[3]
    9
    """

    def __getitem__(self, index: Any) -> _Sample:
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__")

    def __add__(self, other: Dataset[_Sample]) -> ConcatDataset[_Sample]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_Sample]):
    """Samples one after the other: subclasses define ``__iter__``.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> class Countdown(pyqref.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([3, 2, 1])
    >>> list(Countdown())
    [3, 2, 1]
    """

    def __iter__(self) -> Iterator[_Sample]:
        raise NotImplementedError(f"{type(self).__name__} must define __iter__")

    def __add__(self, other: Any) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Sample `i` is the `i`-th element along the first dimension of every tensor.

    Parameters
    ----------
    *tensors
        Tensors with the same length of the first dimension.

    Examples
    --------
    >>> import pyqref
    >>> data = TensorDataset(pyqref.tensor([1.0, 2.0]), pyqref.tensor([3, 4]))
    >>> data[1]
    (tensor(2.), tensor(4))
    """

    def __init__(self, *tensors: Tensor) -> None:
        lengths = [tensor._array.shape[0] for tensor in tensors]
        if len(set(lengths)) != 1:
            raise AssertionError(f"Size mismatch between tensors: first dimensions are {lengths}")
        self.tensors = tensors

    def __getitem__(self, index: Index) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0]._array.shape[0])


class ConcatDataset(Dataset[_Sample]):
    """Data sets one after the other, as one.

    Parameters
    ----------
    datasets
        At least one, none of them an :class:`IterableDataset`.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> Subset = pyqref.utils.data.Subset
    >>> data = pyqref.utils.data.ConcatDataset([Subset([1, 2], [0, 1]), Subset([3], [0])])
    >>> len(data), data[2]
    (3, 3)
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(each, IterableDataset) for each in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(each) for each in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> _Sample:
        if not -len(self) <= index < len(self):
            raise ValueError(f"index must be in [{-len(self)}, {len(self) - 1}], got {index}")
        index %= len(self)
        which = bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset[_Sample]):
    """Iterable data sets one after the other.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> class Count(pyqref.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter([1, 2])
    >>> list(pyqref.utils.data.ChainDataset([Count(), Count()]))
    [1, 2, 1, 2]
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self.datasets)


class Subset(Dataset[_Sample]):
    """Some samples of a data set.

    Parameters
    ----------
    dataset
        The whole.
    indices
        Which samples of it, in this order.

    Examples
    --------
    >>> import pyqref.utils.data
    >>> list(pyqref.utils.data.Subset([10, 11, 12, 13], [0, 2]))
    [10, 12]
    """

    def __init__(self, dataset: Dataset[_Sample], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[each] for each in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Split a data set at random into parts that do not overlap.

    Parameters
    ----------
    dataset
        What is split.
    lengths
        Lengths of the parts, which add up to the whole; or fractions, which add up to 1:
        what is left by rounding down goes one each to the first parts.
    generator
        Source of the random order.

    Examples
    --------
    >>> [len(part) for part in random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    total = len(dataset)
    if lengths and math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for position, fraction in enumerate(lengths):
            if not 0 <= fraction <= 1:
                raise ValueError(f"Fraction at index {position} is not between 0 and 1")
        counts = [math.floor(total * fraction) for fraction in lengths]
        for extra in range(total - sum(counts)):
            counts[extra % len(counts)] += 1
    else:
        counts = [int(length) for length in lengths]
    if sum(counts) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset! "
            f"got {sum(counts)}, expected {total}"
        )
    order = randperm(total, generator=generator).tolist()
    stops = accumulate(counts)
    return [
        Subset(dataset, order[stop - count : stop])
        for stop, count in zip(stops, counts, strict=True)
    ]
