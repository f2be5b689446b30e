"""Batches of a data set, one after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ...tensor.generator import Generator
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed

__all__ = ["DataLoader"]


class DataLoader:
    """Iterates over a data set in batches; each iteration begins anew.

    Parameters
    ----------
    dataset
        Samples by index, or an :class:`IterableDataset`.
    batch_size
        Samples in a batch; None gives single samples.
    shuffle
        Visit the samples in a new random order each time.
    sampler
        The order, instead of ``shuffle``.
    batch_sampler
        The batches, instead of ``batch_size``, ``shuffle``, ``sampler`` and ``drop_last``.
    num_workers
        Samples are loaded in this process; another number than 0 warns.
    collate_fn
        Makes a batch of a list of samples; by default :func:`default_collate`.
    pin_memory
        Means nothing without another device; True warns.
    drop_last
        Leave out the last batch if it is smaller.
    timeout, worker_init_fn, multiprocessing_context, prefetch_factor, persistent_workers
        Settings of worker processes: refused, because there are none.
    generator
        Source of the random order.

    Notes
    -----
    With the same seed the order is that of ``torch`` with ``num_workers=0``.

    Examples
    --------
    >>> import pyqref
    >>> data = pyqref.utils.data.TensorDataset(pyqref.arange(5))
    >>> [batch.tolist() for (batch,) in DataLoader(data, batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: object = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
    ) -> None:
        _check_workers(
            num_workers,
            pin_memory,
            timeout=timeout,
            worker_init_fn=worker_init_fn,
            multiprocessing_context=multiprocessing_context,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
        )
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError(
                "DataLoader with IterableDataset decides its own order: expected neither "
                "shuffle nor sampler nor batch_sampler"
            )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive "
                "with drop_last"
            )
        if sampler is None and not self._iterable:
            random = RandomSampler(dataset, generator=generator) if shuffle else None
            sampler = SequentialSampler(dataset) if random is None else random
        if batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)  # type: ignore[arg-type]
        elif batch_size is not None and (type(batch_size) is not int or batch_size <= 0):
            raise ValueError(f"batch_size should be a positive integer, got {batch_size!r}")
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.drop_last = drop_last
        self.generator = generator
        batches = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batches else default_convert)

    def __iter__(self) -> Iterator[Any]:
        # torch draws a seed for worker processes here; the stream has to move on alike.
        draw_seed(self.generator)
        return self._of_iterable() if self._iterable else self._by_index()

    def _by_index(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            for index in self.sampler or ():
                yield self.collate_fn(self.dataset[index])
            return
        for indices in self.batch_sampler:
            yield self.collate_fn([self.dataset[index] for index in indices])

    def _of_iterable(self) -> Iterator[Any]:
        samples = iter(self.dataset)
        if self.batch_size is None:
            for sample in samples:
                yield self.collate_fn(sample)
            return
        while batch := list(islice(samples, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        """Number of batches (of samples without batching)."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        if not self._iterable:
            return len(self.sampler)  # type: ignore[arg-type]
        samples = len(self.dataset)
        if self.batch_size is None:
            return samples
        return samples // self.batch_size if self.drop_last else -(-samples // self.batch_size)


def _check_workers(num_workers: int, pin_memory: bool, **settings: Any) -> None:
    if type(num_workers) is not int or num_workers < 0:
        raise ValueError(f"num_workers must be an integer >= 0, got {num_workers!r}")
    if num_workers:
        warnings.warn(
            f"DataLoader: num_workers={num_workers} has no effect, samples are loaded in this "
            "process; use num_workers=0",
            stacklevel=3,
        )
    if pin_memory:
        warnings.warn(
            "DataLoader: pin_memory=True has no effect, there is no device to copy to",
            stacklevel=3,
        )
    for name, value in settings.items():
        if value and not num_workers:
            raise ValueError(f"{name} is an option of worker processes, but num_workers=0")
