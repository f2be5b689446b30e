"""Kernels refuse arguments that no layer above passes, and never end the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyqref import _kernels
from pyqref._kernels import layout, registry
from pyqref._kernels.observe import min_max_per_channel


@pytest.mark.parametrize("sizes", [(), (3,), (3, 3, 3), (3,) * 40])
def test_sizes_of_other_images(sizes: tuple[int, ...]) -> None:
    for shape in ((1, 2, 4, 4), (), (2,)):
        with pytest.raises(ValueError, match=r"sizes must be those of -?\d axes"):
            layout.images(np.zeros(shape, np.uint8), sizes)


@pytest.mark.parametrize(("shape", "axis"), [((), 0), ((2, 3), 2), ((2, 3), -3)])
def test_axes_that_there_are_not(shape: tuple[int, ...], axis: int) -> None:
    with pytest.raises(IndexError):
        layout.elements_per_channel(np.zeros(shape, np.uint8), axis)


ROW = np.ones(6, np.uint8)
TABLE = np.zeros(256, np.uint8)
JOINED: dict[str, tuple[tuple[Any, ...], Any, int, str]] = {
    "no parts": ((), None, 0, "there must be parts"),
    "no such axis": ((ROW, ROW), None, 1, "axis must be one of the 1 axes"),
    "a negative axis": ((ROW, ROW), None, -1, "axis must be one of the 1 axes"),
    "no axis": ((np.uint8(3)[...],), None, 0, "axis must be one of the 0 axes"),
    "rows of other lengths": (
        (ROW[None], ROW[None, 1:]),
        None,
        0,
        "must be alike but along axis 0",
    ),
    "other axes": ((ROW, ROW[None]), None, 0, "must be alike but along axis 0"),
    "too few tables": ((ROW, ROW), (None,), 0, "tables must be as many as parts"),
    "short table": ((ROW, ROW), (None, TABLE[:9]), 0, "must have 256 bytes"),
    "wide elements": ((ROW.astype(np.int32),), (TABLE,), 0, "must be of bytes"),
    "wide table": ((ROW,), (TABLE.view(np.int32),), 0, "must be of bytes"),
}


@pytest.mark.parametrize("name", JOINED)
def test_rows_that_cannot_be_joined(compiled_kernel: str, name: str) -> None:
    parts, tables, axis, message = JOINED[name]
    kernel: Any = registry.twin("elementwise")
    with pytest.raises((ValueError, IndexError), match=message):
        kernel.cat(parts, tables, axis, 1)


def test_what_is_not_joined(compiled_kernel: str) -> None:
    """Parts of two types, or of none of numbers; with gaps; in two orders; at odd addresses."""
    kernel: Any = registry.twin("elementwise")
    image = np.zeros((2, 3, 4, 5), np.float32)
    last = np.moveaxis(np.zeros((2, 4, 5, 3), np.float32), -1, 1)
    odd = np.zeros(9, np.uint8)[1:].view(np.float32)
    for parts in (
        (ROW, ROW.view(np.int8)),
        (np.array([None]),),
        (np.ones(12, np.uint8)[::2], ROW),
        (image, last),
        (odd, odd),
        (odd.astype(">f4"),),
    ):
        assert kernel.cat(parts, None, 0, 1) is None
    assert kernel.cat((ROW[:0],), (None,), 0, 1).shape == (0,)


X, Q = np.ones((4, 3), np.float32), np.ones((4, 3), np.uint8)
PER_CHANNEL: dict[str, Callable[[Any, Any, int], Any]] = {
    "quantize": lambda s, z, axis: _kernels.quantize_per_channel(X, s, z, axis, 0, 255, np.uint8),
    "dequantize": lambda s, z, axis: _kernels.dequantize_per_channel(Q, s, z, axis),
    "fake quantize": lambda s, z, axis: _kernels.fake_quantize_per_channel(X, s, z, axis, 0, 255),
}


@pytest.mark.parametrize("name", PER_CHANNEL)
def test_channels_without_parameters(kernel: str, name: str) -> None:
    """Fewer scales or zero points, or more, than there are channels; an axis that there is not."""
    run = PER_CHANNEL[name]
    scales, zero_points = np.ones(9, np.float32), np.zeros(9, np.int32)
    for sizes in ((4, 2), (2, 4), (2, 2), (9, 9), (0, 0), (3, 3)):
        with pytest.raises(ValueError):
            run(scales[: sizes[0]], zero_points[: sizes[1]], 0)
    for axis in (2, -3, 100):
        with pytest.raises(IndexError):
            run(scales[:4], zero_points[:4], axis)


@pytest.mark.parametrize("axis", [2, -3, 100])
def test_ranges_of_channels_that_there_are_not(kernel: str, axis: int) -> None:
    with pytest.raises(IndexError):
        min_max_per_channel(X, axis)
    with pytest.raises(IndexError):
        min_max_per_channel(X[0, 0, ...], 0)


@pytest.mark.parametrize("shape", [(1, 2, 0, 4), (1, 2, 4, 0), (2, 0, 0)])
def test_means_of_no_pixels(kernel: str, shape: tuple[int, ...]) -> None:
    """An image without pixels has no means, as in torch, and no result is no error."""
    with pytest.raises(ValueError, match="the input must have pixels"):
        _kernels.adaptive_avg_pool(np.zeros(shape, np.uint8), 0, (2, 2)[: len(shape) - 1])
    none = _kernels.adaptive_avg_pool(np.zeros((1, 2, 0, 4), np.uint8), 0, (0, 2))
    assert none.shape == (1, 2, 0, 2)
