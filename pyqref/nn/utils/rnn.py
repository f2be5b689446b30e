"""Packing and padding sequences of different lengths for recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tensor.base import TensorBase, wrap
from ...tensor.joining import cat, stack
from .packed_sequence import PackedSequence as PackedSequence
from .packed_sequence import invert_permutation as invert_permutation

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


def _lengths(lengths: Any) -> Any:
    array = lengths._array if isinstance(lengths, TensorBase) else np.asarray(lengths)
    return array.astype(np.int64)


def pack_padded_sequence(
    input: Tensor,
    lengths: Tensor | Sequence[int],
    batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:
    """Take the padding out of a batch.

    Parameters
    ----------
    input
        Shape `(T, B, *)`, or `(B, T, *)` with ``batch_first``.
    lengths
        How long each sequence really is: `B` ints in [1, T], or a tensor of them.
    enforce_sorted
        Require them to come longest first; else they are sorted here.

    Raises
    ------
    RuntimeError
        Lengths that are not sorted, not positive, too large, or not `B` of them.
    """
    counts = _lengths(lengths)
    sorted_indices = None
    if not enforce_sorted:
        sorted_indices = np.argsort(-counts, kind="stable")
        counts = counts[sorted_indices]
    if batch_first:
        input = input.transpose(0, 1)
    if counts.shape != (input.shape[1],):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts.size} "
            f"(batch_size={input.shape[1]})"
        )
    if (counts <= 0).any():
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            f"that is {counts.min()}"
        )
    if (np.diff(counts) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to have it sorted."
        )
    if counts[0] > input.shape[0]:
        raise RuntimeError(
            f"Expected lengths up to the {input.shape[0]} steps of input, got {counts[0]}"
        )
    if sorted_indices is not None:
        input = input.index_select(1, wrap(sorted_indices))
    steps = np.arange(counts[0])[:, None]
    present = steps < counts
    flat = input.reshape(input.shape[0] * input.shape[1], *input.shape[2:])
    rows = (steps * input.shape[1] + np.arange(input.shape[1]))[present]
    order = None if sorted_indices is None else wrap(sorted_indices)
    data = flat.index_select(0, wrap(rows))
    return PackedSequence(data, wrap(present.sum(axis=1)), order, invert_permutation(order))


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """Put the padding back; the inverse of :func:`pack_padded_sequence`.

    Returns
    -------
    tuple of Tensor
        The batch `(T, B, *)`, or `(B, T, *)` with ``batch_first``, and the lengths. ``T`` is
        ``total_length`` if given, else the longest length.
    """
    sizes = sequence.batch_sizes._array
    steps, batch = len(sizes), int(sizes[0])
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {steps}"
        )
    present = np.arange(batch) < sizes[:, None]
    lengths = present.sum(axis=0)
    if total_length is not None:
        missing = np.zeros((total_length - steps, batch), dtype=np.bool_)
        present = np.concatenate([present, missing])
    data = sequence.data
    filler = data.new_full((1, *data.shape[1:]), padding_value)
    rows = np.full(present.shape, data.shape[0])
    rows[present] = np.arange(data.shape[0])
    flat = cat([data, filler]).index_select(0, wrap(rows.reshape(-1)))
    padded = flat.reshape(*present.shape, *data.shape[1:])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices._array]
    return padded.transpose(0, 1) if batch_first else padded, wrap(lengths)


def pad_sequence(
    sequences: Sequence[Any],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Stack sequences `(L_i, *)` as `(T, B, *)`, or `(B, T, *)` with ``batch_first``.

    The shorter ones are padded with ``padding_value`` on ``padding_side``.
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"padding_side must be 'left' or 'right', got {padding_side!r}")
    if len(sequences) == 0:
        raise RuntimeError("received an empty list of sequences")
    longest = max(sequence.shape[0] for sequence in sequences)
    padded = []
    for sequence in sequences:
        shape = (longest - sequence.shape[0], *sequence.shape[1:])
        filler = sequence.new_full(shape, padding_value)
        parts = [sequence, filler] if padding_side == "right" else [filler, sequence]
        padded.append(cat(parts))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False
) -> list[Any]:
    """The sequences of a padded batch without their padding (on the right)."""
    batch = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    counts = _lengths(lengths).tolist()
    return [sequence[:count] for sequence, count in zip(batch.unbind(0), counts, strict=True)]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences `(L_i, *)`."""
    lengths = [sequence.shape[0] for sequence in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The inverse of :func:`pack_sequence`."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
