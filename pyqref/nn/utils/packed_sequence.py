"""Sequences of different lengths, step by step in one matrix: what ``nn.utils.rnn`` packs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._typing import Tensor
from ...tensor.base import wrap

__all__ = ["PackedSequence", "invert_permutation"]


class PackedSequence(NamedTuple):
    """Sequences with no padding between them.

    Attributes
    ----------
    data : Tensor
        The first step of all sequences, longest first, then the second of those that have
        one, and so on: shape `(total, *)`.
    batch_sizes : Tensor
        How many sequences have each step, int64.
    sorted_indices : Tensor or None
        Which sequence of the caller each sorted one is; None if they came sorted.
    unsorted_indices : Tensor or None
        The inverse of this permutation.
    """

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Return the sequence with ``data`` converted as by ``Tensor.to``."""
        return self._replace(data=self.data.to(*args, **kwargs))

    def float(self) -> PackedSequence:
        """Return the sequence with ``data`` in float32."""
        return self._replace(data=self.data.float())

    def double(self) -> PackedSequence:
        """Return the sequence with ``data`` in float64."""
        return self._replace(data=self.data.double())

    def cpu(self) -> PackedSequence:
        """Return the sequence itself: everything is on the CPU."""
        return self

    @property
    def is_cuda(self) -> bool:
        """Always False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one; None of None."""
    if permutation is None:
        return None
    return wrap(np.argsort(permutation._array))
