"""Quantized tables, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref.ops import quantized as ops

NAMES = {"byte": pyqref.quint8, "4bit": pyqref.quint4x2}


def table(rows: int = 6, columns: int = 10) -> Any:
    values = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    return pyqref.from_numpy(values)


def quantized(dtype: Any) -> Any:
    """A table with powers of two as scales, exact in half precision."""
    scales, zero_points = pyqref.full((6,), 0.25), pyqref.full((6,), 8.0)
    return pyqref.quantize_per_channel(table(), scales, zero_points, 0, dtype)


def packed(name: str) -> Any:
    return ops.embedding_bag_prepack(quantized(NAMES[name]))


@pytest.mark.parametrize("name", NAMES)
def test_rows(name: str) -> None:
    """A look-up dequantizes; one and two dimensions, both index types."""
    real = quantized(NAMES[name]).dequantize()
    look = getattr(ops, f"embedding_{name}")
    for kind in (pyqref.int32, pyqref.int64):
        indices = pyqref.tensor([[5, 0], [3, 3]]).to(kind)
        assert real[indices.long()].tolist() == look(packed(name), indices).tolist()
        assert real[[5, 0]].tolist() == look(packed(name), indices[0]).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_unpack_gives_what_was_packed(name: str) -> None:
    weight = quantized(NAMES[name])
    again = ops.embedding_bag_unpack(ops.embedding_bag_prepack(weight))
    assert weight.int_repr().tolist() == again.int_repr().tolist()
    assert weight.dtype is again.dtype


@pytest.mark.parametrize("name", NAMES)
def test_bags(name: str) -> None:
    """Sums: with offsets, empty bags, a last offset, a matrix, weights."""
    real, bag = quantized(NAMES[name]).dequantize(), getattr(ops, f"embedding_bag_{name}")
    indices = pyqref.tensor([5, 0, 3, 3])
    sums = [real[[5, 0, 3]].sum(0), pyqref.zeros(10), real[3]]
    expected = pyqref.stack(sums).tolist()
    assert expected == bag(packed(name), indices, pyqref.tensor([0, 3, 3])).tolist()
    last = bag(packed(name), indices, pyqref.tensor([0, 3, 3, 4]), include_last_offset=True)
    assert expected == last.tolist()
    matrix = bag(packed(name), indices.reshape(2, 2))
    assert [real[[5, 0]].sum(0).tolist(), (real[3] * 2).tolist()] == matrix.tolist()
    shares = pyqref.tensor([1.0, 2.0, 0.5, 0.5])
    weighted = bag(packed(name), indices, pyqref.tensor([0]), per_sample_weights=shares)
    assert (real[5] + real[0] * 2 + real[3]).tolist() == weighted[0].tolist()


def test_pruned_rows() -> None:
    """The mapping says where a row is; -1 is nowhere."""
    real = quantized(pyqref.quint8).dequantize()
    mapping = pyqref.tensor([2, -1, 4, 0], dtype=pyqref.int32)
    y = ops.embedding_bag_byte(
        packed("byte"),
        pyqref.tensor([0, 1, 2, 1]),
        pyqref.tensor([0, 3]),
        pruned_weights=True,
        compressed_indices_mapping=mapping,
    )
    assert [(real[2] + real[4]).tolist(), [0.0] * 10] == y.tolist()


def test_a_wrong_mapping_is_named_as_the_argument_is() -> None:
    """It must hold rows of the table, or -1."""
    one = pyqref.tensor([[0]])
    with pytest.raises(
        RuntimeError, match=r"compressed_indices_mapping must be in \[-1, .*, found 99"
    ):
        ops.embedding_bag_byte(
            packed("byte"), one, pruned_weights=True, compressed_indices_mapping=one + 99
        )


@pytest.mark.parametrize("name", ["byte", "4bit", "2bit"])
def test_rows_with_parameters(name: str) -> None:
    """Half a step away at most, whatever the number of columns."""
    bits = {"byte": 8, "4bit": 4, "2bit": 2}[name]
    weight = table(5, 12)
    rows = getattr(ops, f"embedding_bag_{name}_prepack")(weight)
    assert (5, 12 * bits // 8 + (8 if bits == 8 else 4)) == tuple(rows.shape)
    again = getattr(ops, f"embedding_bag_{name}_unpack")(rows)
    width = (weight.max(1).values - weight.min(1).values).numpy()[:, None]
    step = width / (2**bits - 1)
    # Half a step; the half-precision offset and scale are off by 2**-11 of numbers below 4.
    assert (np.abs(again.numpy() - weight.numpy()) <= step / 2 + 2 * 4 * 2.0**-11).all()
    indices, offsets = pyqref.tensor([4, 1, 1]), pyqref.tensor([0, 2])
    bags = getattr(ops, f"embedding_bag_{name}_rowwise_offsets")(rows, indices, offsets)
    assert np.allclose((again[4] + again[1]).numpy(), bags[0].numpy(), rtol=0, atol=2.0**-20)


def test_given_ranges() -> None:
    """Numbers outside are clamped."""
    ranges = pyqref.tensor([[-0.5, 0.5]] * 6)
    for name, steps in (("byte", 255), ("4bit", 15), ("2bit", 3)):
        run = getattr(ops, f"embedding_bag_{name}_prepack_with_rowwise_min_max")
        again = getattr(ops, f"embedding_bag_{name}_unpack")(run(table(6, 8), ranges))
        assert again.abs().max().item() <= 0.5 + 1 / steps / 2 + 2.0**-10


def test_the_search_lowers_the_error() -> None:
    weight = table(4, 64)
    weight[0, 0] = 9.0
    errors = [
        (ops.embedding_bag_4bit_unpack(ops.embedding_bag_4bit_prepack(weight, search)) - weight)
        .square()
        .sum()
        .item()
        for search in (False, True)
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ops.embedding_bag_prepack(table()), RuntimeError, "must be a quantized tensor"),
        (
            lambda: ops.embedding_bag_prepack(
                pyqref.quantize_per_tensor(table(), 0.1, 0, pyqref.quint8)
            ),
            RuntimeError,
            "per channel with float zero points",
        ),
        (lambda: ops.embedding_bag_unpack(3), TypeError, "W_prepack must come from"),
        (lambda: ops.embedding_byte(packed("4bit"), pyqref.tensor([0])), RuntimeError, "quint8"),
        (lambda: ops.embedding_byte(table(), pyqref.tensor([0])), TypeError, "prepack"),
        (
            lambda: ops.embedding_byte(packed("byte"), pyqref.tensor([6])),
            RuntimeError,
            r"indices must be in \[0, 5\], found 6",
        ),
        (
            lambda: ops.embedding_byte(packed("byte"), pyqref.tensor([-1])),
            RuntimeError,
            "found -1",
        ),
        (
            lambda: ops.embedding_byte(packed("byte"), pyqref.tensor([1.0])),
            RuntimeError,
            "must be int32 or int64",
        ),
        (lambda: ops.embedding_byte(packed("byte"), [0]), TypeError, "must be a tensor"),
        (lambda: ops.embedding_byte(packed("byte"), pyqref.tensor(1)), RuntimeError, "1 or 2 dim"),
        (
            lambda: ops.embedding_bag_byte(packed("byte"), pyqref.tensor([1])),
            RuntimeError,
            "offsets must be given",
        ),
        (
            lambda: ops.embedding_bag_byte(packed("byte"), pyqref.tensor([1]), pyqref.tensor([1])),
            RuntimeError,
            "begin with 0",
        ),
        (
            lambda: ops.embedding_bag_byte(
                packed("byte"), pyqref.tensor([1, 2]), pyqref.tensor([0, 1]), False, 1
            ),
            RuntimeError,
            "mode must be 0",
        ),
        (
            lambda: ops.embedding_bag_byte(
                packed("byte"),
                pyqref.tensor([1, 2]),
                pyqref.tensor([0, 1]),
                per_sample_weights=pyqref.ones(3),
            ),
            RuntimeError,
            "one element for each index",
        ),
        (lambda: ops.embedding_bag_byte_prepack(pyqref.ones(3)), RuntimeError, "2 dimensions"),
        (
            lambda: ops.embedding_bag_4bit_prepack(table() * float("nan")),
            ValueError,
            "nan or infinity",
        ),
        (lambda: ops.embedding_bag_byte_unpack(table()), TypeError, "uint8 tensor"),
        (
            lambda: ops.embedding_bag_byte_prepack_with_rowwise_min_max(table(), pyqref.ones(2)),
            RuntimeError,
            r"rowwise_min_max must have shape \(6, 2\)",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    """The error names the operation and the argument."""
    with pytest.raises(error, match=message):
        call()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-3, 9), max_size=6),
    st.lists(st.integers(-1, 7), max_size=4),
    st.booleans(),
)
def test_any_bags(indices: list[int], offsets: list[int], last: bool) -> None:
    """Sums of the rows, or an error."""
    real = quantized(pyqref.quint8).dequantize().numpy()
    arguments = (pyqref.tensor(indices).long(), pyqref.tensor(offsets).long())
    try:
        y = ops.embedding_bag_byte(packed("byte"), *arguments, include_last_offset=last)
    except RuntimeError:
        return
    ends = [*offsets[1:], len(indices)][: len(offsets)]
    spans = list(zip(offsets, ends, strict=True))[: -1 if last else None]
    expected = [real[indices[a:b]].sum(0).tolist() if b > a else [0.0] * 10 for a, b in spans]
    assert expected == y.tolist()
