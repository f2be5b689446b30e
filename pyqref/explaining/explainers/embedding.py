"""Embeddings: rows of a quantized table, and sums of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.quantized.embedding_bag import bag_limits, rows_of
from ...tensor.base import wrap
from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand


def _table(draft: Draft) -> Any:
    weight = draft.argument("weight")
    if isinstance(weight, Value):
        bits = {"2bit": 2, "4bit": 4}.get(draft.record.operation.split("_")[2], 8)
        return rows_of(draft.record.operation, wrap(weight.array), bits)
    return weight.rows


@explains("quantized.embedding_byte", "quantized.embedding_4bit")
def lookup(draft: Draft) -> None:
    """One element of a row."""
    integers, scales, offsets = _table(draft)
    *place, column = draft.index
    row = draft.element("row", draft.argument("indices"), tuple(place))
    q = Operand("q", int(integers[row.value, column]))
    single = draft.steps.add(f"row {row.value}, as float32", "single", q, symbol="f")
    scale = Operand("s_r", np.float32(scales[row.value]))
    offset = Operand("o_r", np.float32(offsets[row.value]))
    draft.steps.add(
        "real number", "fma32", single, scale, offset, symbol="y", label="eq-embedding-lookup"
    )


_SIZES = ("byte", "4bit", "byte_rowwise_offsets", "4bit_rowwise_offsets", "2bit_rowwise_offsets")


@explains(*(f"quantized.embedding_bag_{size}" for size in _SIZES))
def bag(draft: Draft) -> None:
    """A sum of rows, one after the other."""
    given, steps = draft.record.arguments, draft.steps
    integers, scales, offsets = _table(draft)
    indices, weights = given["indices"], given["per_sample_weights"]
    mapping = given["compressed_indices_mapping"] if given["pruned_weights"] else None
    limits = None if given["offsets"] is None else wrap(given["offsets"].array)
    starts, ends = bag_limits(
        draft.record.operation, indices.array, limits, bool(given["include_last_offset"])
    )
    which, column = draft.index
    total = Operand("y", np.float32(0))
    for place in range(int(starts[which]), int(ends[which])):
        row = int(draft.elements("row", indices, np.array([place])).value[0])
        row = row if mapping is None else int(mapping.array.reshape(-1)[row])
        if row < 0:
            draft.notes.append(f"index {place} stands for a row that was pruned away")
            continue
        scale, offset = Operand("s_r", np.float32(scales[row])), Operand("o_r", offsets[row])
        offset = Operand("o_r", np.float32(offsets[row]))
        if weights is not None:
            share = Operand("w", np.float32(weights.array.reshape(-1)[place]))
            scale = steps.add("scale times weight", "times32", scale, share, symbol="s'")
            offset = steps.add("offset times weight", "times32", offset, share, symbol="o'")
        moved = steps.add("offset added", "plus32", total, offset, symbol="t")
        q = Operand("q", int(integers[row, column]))
        single = steps.add(f"row {row}, as float32", "single", q, symbol="f")
        total = steps.add(
            "row added", "fma32", single, scale, moved, symbol="y", label="eq-embedding-bag"
        )
    if not steps:
        steps.add("an empty bag", "take", total, symbol="y")
