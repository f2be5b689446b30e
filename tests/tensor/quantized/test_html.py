"""Quantized tensors in notebooks: every number of a small one, a summary of a large one."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

import pyqref
from pyqref.tensor.quantized import make_per_channel, make_per_tensor


def cells(tensor):
    """The texts of all cells of the last table; parsing proves that elements are closed."""
    tables = ElementTree.fromstring(tensor._repr_html_()).findall(".//table")
    return [["|".join(cell.itertext()) for cell in row] for row in tables[-1].iter("tr")]


def test_small_tensor_shows_each_number_over_its_integer():
    x = pyqref.tensor([[-1.0, 0.3], [0.5, 200.0]])
    q = pyqref.quantize_per_tensor(x, 0.5, 10, pyqref.quint8)
    assert [["-1|8", "0.5|11"], ["0.5|11", "122.5|255"]] == cells(q)
    assert "scale 0.5" in q._repr_html_()
    assert "zero point 10" in q._repr_html_()


def test_per_channel_tensor_shows_the_scale_of_each_channel():
    x = pyqref.tensor([[1.0], [2.0]])
    q = pyqref.quantize_per_channel(
        x, pyqref.tensor([0.5, 0.25]), pyqref.tensor([0, 3]), 0, pyqref.qint8
    )
    page = ElementTree.fromstring(q._repr_html_())
    rows = [[cell.text for cell in row] for row in page.find(".//table").iter("tr")]
    assert [["channel", "0", "1"], ["scale", "0.5", "0.25"], ["zero point", "0", "3"]] == rows


def test_large_tensor_shows_ranges_and_a_histogram():
    """Among the elements 0 to 199 with scale 1, only 0 lies at an end of quint8."""
    q = pyqref.quantize_per_tensor(pyqref.arange(200).float(), 1.0, 0, pyqref.quint8)
    page = ElementTree.fromstring(q._repr_html_())
    rows = dict(tuple(cell.text for cell in row) for row in page.iter("tr"))
    assert "0 … 199" == rows["real numbers"]
    assert "0 … 199, of 0 … 255" == rows["integers"]
    assert "200" == rows["different integers"]
    assert "0.50%" == rows["at an end of the range"]
    assert page.find(".//svg") is not None
    assert "histogram of the integers, 0 to 199" == page.find(".//svg/title").text


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint32])
@pytest.mark.parametrize("by_channel", [False, True])
def test_very_large_tensor_is_summed_up_as_a_whole(by_channel, dtype):
    """Part by part; integers that are too far apart are not told from each other."""
    integers = np.random.default_rng(0).integers(5, 200, (3, 50_000)).astype(dtype.numpy_dtype)
    integers[1, 40_000] = 255
    grid = ([0.5, 2.0, 1.0], [0, 0, 9], 0, dtype) if by_channel else (0.5, 0, dtype)
    q = (make_per_channel if by_channel else make_per_tensor)(integers, *grid)
    rows = dict(cells(q))
    real = q.dequantize()._array
    assert f"{real.min():.4g} … {real.max():.4g}" == rows["real numbers"]
    assert f"5 … 255, of {dtype.quant_min} … {dtype.quant_max}" == rows["integers"]
    assert str(np.unique(integers).size) == rows["different integers"]
    assert "0.00%" == rows["at an end of the range"]
    if dtype is pyqref.qint32:
        integers[0, 0] = 2**31 - 1
        assert "different integers" not in dict(cells(q))


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (64,), (65,), (2, 17), (2, 2, 2)])
@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.qint32])
def test_every_shape_has_one(shape, dtype):
    x = pyqref.from_numpy(np.ones(shape, np.float32))
    page = ElementTree.fromstring(pyqref.quantize_per_tensor(x, 0.1, 0, dtype)._repr_html_())
    assert "QuantizedTensor" == page.find("./div/b").text


def test_it_brings_no_colours_and_no_scripts():
    """Pages may be light or dark."""
    page = pyqref.quantize_per_tensor(pyqref.randn(100), 0.1, 0, pyqref.qint8)._repr_html_()
    assert "<script" not in page
    assert "#" not in page
    assert "currentColor" in page
