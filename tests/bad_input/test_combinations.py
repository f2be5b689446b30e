"""Several wrong arguments at once, of every entry of the tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bad_input import functional_table, modules_table, ops_table, tensors_table
from bad_input.engine import HOSTILE, Entry, floats, judge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pyqref

ENTRIES: list[Entry] = [
    *ops_table.ENTRIES,
    *functional_table.ENTRIES,
    *tensors_table.ENTRIES,
    *modules_table.forwards(),
    *modules_table.setters(),
]
MANY = settings(
    max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


@st.composite
def tensors(draw: Any) -> Any:
    """A small tensor of any rank, lengths and dtype, quantized or not."""
    shape = draw(st.lists(st.integers(0, 3), max_size=5))
    real = floats(*shape) if shape else floats(1).reshape(())
    kind = draw(st.sampled_from(["float", "double", "integers", "quint8", "qint8", "channels"]))
    if kind == "double":
        return real.double()
    if kind == "integers":
        return real.long()
    if kind == "float":
        return real
    if kind == "channels" and shape and 0 not in shape:
        axis = draw(st.integers(0, len(shape) - 1))
        zero_points = pyqref.zeros(shape[axis], dtype=pyqref.int64)
        scales = pyqref.ones(shape[axis])
        return pyqref.quantize_per_channel(real, scales, zero_points, axis, pyqref.qint8)
    dtype = pyqref.quint8 if kind == "quint8" else pyqref.qint8
    return pyqref.quantize_per_tensor(real, 0.5, 3, dtype)


NUMBERS = st.one_of(
    st.integers(-4, 6), st.integers(2**40, 2**70), st.floats(allow_subnormal=True), st.booleans()
)
WRONG = st.one_of(
    st.sampled_from(sorted(HOSTILE)).filter(lambda each: each != "300").map(HOSTILE.__getitem__),
    tensors(),
    NUMBERS,
    st.lists(NUMBERS, max_size=4),
)


@MANY
@given(data=st.data())
def test_any_wrong_arguments(data: st.DataObject) -> None:
    """An answer, or a ``raise`` of pyqref; never an error in passing.

    With several arguments wrong at once the message may speak of any of them, or of what
    they do together, so its words are left to the tests that replace one argument.
    """
    of = replace(data.draw(st.sampled_from(ENTRIES)), plain=True)
    names = data.draw(st.sets(st.sampled_from(sorted(of.valid)), min_size=1, max_size=3))
    assert judge(of, {name: data.draw(WRONG) for name in sorted(names)}) == ""
