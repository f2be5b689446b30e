"""Data sets, samplers, collating, the loader."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest

import pyqref
from pyqref.utils import data


class Point(NamedTuple):
    x: int
    y: int


class Count(data.IterableDataset):
    def __init__(self, stop: int) -> None:
        self.stop = stop

    def __iter__(self):
        return iter(range(self.stop))

    def __len__(self) -> int:
        return self.stop


def numbers(count: int) -> data.TensorDataset:
    return data.TensorDataset(pyqref.arange(count))


def batches(loader: data.DataLoader) -> list[list[int]]:
    return [batch.tolist() for (batch,) in loader]


def test_tensor_dataset() -> None:
    """Sample i holds element i of every tensor."""
    dataset = data.TensorDataset(pyqref.arange(3), pyqref.eye(3))
    first, second = dataset[1]
    assert (1, [0.0, 1.0, 0.0], 3) == (first.item(), second.tolist(), len(dataset))
    with pytest.raises(AssertionError, match=r"Size mismatch.*\[3, 2\]"):
        data.TensorDataset(pyqref.zeros(3), pyqref.zeros(2))


def test_concat_and_subset() -> None:
    """Data sets are joined and cut."""
    joined = numbers(2) + numbers(3)
    assert [0, 1, 0, 1, 2] == [joined[i][0].item() for i in range(5)]
    assert 2 == joined[-1][0].item()
    with pytest.raises(ValueError, match="got 5"):
        joined[5]
    subset = data.Subset(joined, [4, 0])
    assert [2, 0] == [subset[i][0].item() for i in range(len(subset))]
    assert [0, 1, 0, 1] == list(Count(2) + Count(2))
    with pytest.raises(AssertionError):
        data.ConcatDataset([Count(2)])
    with pytest.raises(AssertionError):
        data.ConcatDataset([])
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]


def test_random_split() -> None:
    """The parts are disjoint and cover the whole; the seed decides."""
    parts = data.random_split(range(10), [7, 3], pyqref.Generator().manual_seed(3))
    again = data.random_split(range(10), [7, 3], pyqref.Generator().manual_seed(3))
    assert [part.indices for part in again] == [part.indices for part in parts]
    assert list(range(10)) == sorted(parts[0].indices + parts[1].indices)
    assert [3, 3, 3] == [len(p) for p in data.random_split(range(9), [1 / 3, 1 / 3, 1 / 3])]
    with pytest.raises(ValueError, match="got 9, expected 10"):
        data.random_split(range(10), [6, 3])
    with pytest.raises(ValueError, match="index 0"):
        data.random_split(range(10), [1.5, -0.5])


def test_batches() -> None:
    """All samples in order; the last batch may be smaller, or left out."""
    loader = data.DataLoader(numbers(5), batch_size=2)
    assert [[0, 1], [2, 3], [4]] == batches(loader)
    assert 3 == len(loader)
    loader = data.DataLoader(numbers(5), batch_size=2, drop_last=True)
    assert [[0, 1], [2, 3]] == batches(loader)
    assert 2 == len(loader)
    assert [] == batches(data.DataLoader(numbers(0), batch_size=2))


def test_shuffle() -> None:
    """Every epoch has another order; the same seed gives the same orders."""
    loader = data.DataLoader(numbers(20), batch_size=20, shuffle=True)
    pyqref.manual_seed(0)
    (first,), (second,) = batches(loader), batches(loader)
    pyqref.manual_seed(0)
    assert [first] == batches(loader)
    assert first != second
    assert list(range(20)) == sorted(first)
    generator = pyqref.Generator()
    loader = data.DataLoader(numbers(20), batch_size=20, shuffle=True, generator=generator)
    generator.manual_seed(5)
    third = batches(loader)
    pyqref.manual_seed(9)
    generator.manual_seed(5)
    assert third == batches(loader)


def test_samplers_in_the_loader() -> None:
    """A sampler gives the order, a batch sampler the batches."""
    assert [[4, 0]] == batches(data.DataLoader(numbers(5), 2, sampler=[4, 0]))
    loader = data.DataLoader(numbers(5), batch_sampler=[[1], [2, 3]])
    assert [[1], [2, 3]] == batches(loader)
    assert 2 == len(loader)


def test_single_samples() -> None:
    """Without a batch size samples are only converted."""
    loader = data.DataLoader([np.float32(1), (np.zeros(2), "a")], batch_size=None)
    first, second = list(loader)
    assert 1.0 == first.item()
    assert ([0.0, 0.0], "a") == (second[0].tolist(), second[1])
    assert 2 == len(loader)


def test_iterable_dataset() -> None:
    """Batches of an iterable data set."""
    loader = data.DataLoader(Count(5), batch_size=2)
    assert [[0, 1], [2, 3], [4]] == [batch.tolist() for batch in loader]
    assert 3 == len(loader)
    loader = data.DataLoader(Count(5), batch_size=2, drop_last=True)
    assert 2 == len(list(loader)) == len(loader)
    assert [0, 1, 2] == list(data.DataLoader(Count(3), batch_size=None))


def test_collate_fn() -> None:
    """A function of the user's makes the batches."""
    assert [(0, 1), (2,)] == list(data.DataLoader(range(3), 2, collate_fn=tuple))


def test_default_collate() -> None:
    """Each kind of sample is put together in its own way."""
    collate = data.default_collate
    assert (2, 3) == tuple(collate([pyqref.zeros(3)] * 2).shape)
    assert (2, 3) == tuple(collate([np.zeros(3, np.float32)] * 2).shape)
    assert pyqref.float64 is collate([1.0, 2.0]).dtype
    assert pyqref.int64 is collate([1, 2]).dtype
    assert pyqref.float32 is collate([np.float32(1), np.float32(2)]).dtype
    assert ["a", "b"] == collate(["a", "b"])
    assert {"k": [1, 2]} == {k: v.tolist() for k, v in collate([{"k": 1}, {"k": 2}]).items()}
    assert isinstance(collate([OrderedDict(k=1)]), OrderedDict)
    point = collate([Point(1, 2), Point(3, 4)])
    assert ([1, 3], [2, 4]) == (point.x.tolist(), point.y.tolist())
    assert isinstance(collate([(1, 2)]), list)
    with pytest.raises(RuntimeError, match="equal size"):
        collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="found <class 'object'>"):
        collate([object()])


def test_samplers() -> None:
    """Lengths and ranges of the samplers."""
    assert [0, 1, 2] == list(data.SequentialSampler(range(3)))
    drawn = list(data.RandomSampler(range(3), replacement=True, num_samples=40))
    assert 40 == len(drawn)
    assert set(drawn) <= {0, 1, 2}
    assert 7 == len(list(data.RandomSampler(range(3), num_samples=7)))
    assert {5, 6} == set(data.SubsetRandomSampler([5, 6]))
    weighted = data.WeightedRandomSampler([0.0, 1.0], 5)
    assert [1] * 5 == list(weighted)
    assert 5 == len(weighted)
    assert [[0, 1], [2]] == list(data.BatchSampler(range(3), 2, False))


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: data.DataLoader(range(3), batch_size=0), ValueError),
        (lambda: data.DataLoader(range(3), batch_size=1.5), ValueError),
        (lambda: data.DataLoader(range(3), shuffle=True, sampler=[0]), ValueError),
        (lambda: data.DataLoader(range(3), batch_size=2, batch_sampler=[[0]]), ValueError),
        (lambda: data.DataLoader(range(3), batch_size=None, drop_last=True), ValueError),
        (lambda: data.DataLoader(range(3), num_workers=-1), ValueError),
        (lambda: data.DataLoader(range(3), persistent_workers=True), ValueError),
        (lambda: data.DataLoader(range(3), timeout=3), ValueError),
        (lambda: data.DataLoader(Count(3), shuffle=True), ValueError),
        (lambda: data.DataLoader(Count(3), batch_size=0), ValueError),
        (lambda: data.BatchSampler([0], 2, 3), ValueError),
        (lambda: data.RandomSampler(range(3), num_samples=0), ValueError),
        (lambda: data.RandomSampler(range(3), replacement=1), TypeError),
        (lambda: data.WeightedRandomSampler([1.0], 0), ValueError),
    ],
)
def test_errors(action, error) -> None:
    """Settings that contradict each other or make no sense are refused."""
    with pytest.raises(error):
        action()


def test_workers_warn() -> None:
    """Worker processes and pinned memory are not there, and the loader says so."""
    with pytest.warns(UserWarning, match="num_workers=2 has no effect"):
        loader = data.DataLoader(numbers(3), num_workers=2)
    assert 3 == len(batches(loader))
    with pytest.warns(UserWarning, match="pin_memory"):
        data.DataLoader(numbers(3), pin_memory=True)
