"""Operations lose channels, keep them, or refuse them; some tensors have no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref


def _quantized(channels: int = 3) -> Any:
    """Channels along axis 0, four elements each."""
    x = pyqref.arange(4.0 * channels).reshape(channels, 4)
    scales = pyqref.tensor([0.5, 1.0, 2.0][:channels])
    return pyqref.quantize_per_channel(x, scales, pyqref.arange(channels), 0, pyqref.quint8)


LEFT_ALONE: dict[str, Callable[[Any], Any]] = {
    "slice": lambda q: q[1:2],
    "from the end": lambda q: q[-2:-1],
    "narrow": lambda q: q.narrow(0, 1, 1),
    "split": lambda q: q.split(1)[1],
    "chunk": lambda q: q.chunk(3)[1],
    "behind a new axis": lambda q: q[None, 1:2],
    "integer": lambda q: q[-2],
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_one_channel_left_is_per_tensor(name: str) -> None:
    """The slice has a scale and a zero point, those of its channel, and shares the integers."""
    whole = _quantized()
    part = LEFT_ALONE[name](whole)
    assert pyqref.per_tensor_affine is part.qscheme()
    assert (1.0, 1) == (part.q_scale(), part.q_zero_point())
    assert [4.0, 5.0, 6.0, 7.0] == part.dequantize().flatten().tolist()


def test_other_slices_keep_the_channels() -> None:
    """Channels are kept as long as several are left, or nothing is cut."""
    assert 0 == _quantized()[:, 1:2].q_per_channel_axis()
    assert 2 == len(_quantized()[1:].q_per_channel_scales())
    assert pyqref.per_channel_affine is _quantized(1).clone().qscheme()
    assert pyqref.per_tensor_affine is _quantized(1)[:, 1:].qscheme()


def test_channels_cannot_be_resized() -> None:
    """The elements would move to other channels."""
    with pytest.raises(RuntimeError, match="per channel"):
        _quantized().resize_(2, 2)


def test_copy_needs_a_scale_for_each_channel() -> None:
    """One row may be copied into three, its single scale may not."""
    with pytest.raises(ValueError, match="3 channels, got 1 scales"):
        _quantized().copy_(_quantized(1))


def test_strides_without_elements() -> None:
    """Strides are those of a tensor in which every axis has at least one element."""
    empty = pyqref.quantize_per_tensor(pyqref.zeros(0, 3), 1.0, 0, pyqref.quint8)
    assert (3, 1) == empty.stride()
    assert (6, 2, 1) == pyqref.zeros(2, 3, 2)[:, :, 2:].reshape(2, 3, 0).new_zeros(0, 3, 2).stride()
    assert (1, 1) == pyqref.zeros(3, 0).stride()
