"""Observers in notebooks: what they saw and what they would choose, without a warning."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import pyqref
from pyqref.quantization import (
    FixedQParamsObserver,
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PerChannelMinMaxObserver,
    PlaceholderObserver,
    RecordingObserver,
)


def rows(observer):
    """Name to cells of every row of the table."""
    page = ElementTree.fromstring(observer._repr_html_())
    return {row[0].text: [cell.text for cell in row[1:]] for row in page.iter("tr")}


def test_min_max_shows_range_and_parameters():
    """0 to 25.5 in 255 steps is scale 0.1, zero point 0."""
    observer = MinMaxObserver()
    observer(pyqref.tensor([0.0, 25.5]))
    expected = {
        "smallest seen": ["0"],
        "largest seen": ["25.5"],
        "scale": ["0.1"],
        "zero point": ["0"],
    }
    assert expected == rows(observer)


def test_per_channel_shows_each_channel():
    observer = PerChannelMinMaxObserver(ch_axis=0)
    observer(pyqref.tensor([[0.0, 1.0], [0.0, 2.0]]))
    found = rows(observer)
    assert ["0", "1"] == found["channel"]
    assert ["1", "2"] == found["largest seen"]


def test_many_channels_are_summed_up():
    observer = PerChannelMinMaxObserver(ch_axis=0)
    observer(pyqref.arange(40).float().reshape(40, 1))
    assert ["0 … 39"] == rows(observer)["largest seen"]


def test_histogram_is_drawn():
    """All counts are there: two bars of equal height."""
    observer = HistogramObserver(bins=8)
    observer(pyqref.tensor([0.0, 0.0, 1.0, 1.0]))
    page = ElementTree.fromstring(observer._repr_html_())
    bars = [bar for bar in page.iter("rect") if float(bar.get("height")) > 1]
    assert 2 == len(bars)
    assert bars[0].get("height") == bars[1].get("height")


def test_fixed_parameters_are_shown():
    observer = FixedQParamsObserver(scale=1 / 256, zero_point=0)
    assert {"scale": ["0.003906"], "zero point": ["0"]} == rows(observer)


@pytest.mark.parametrize(
    "observer",
    [
        HistogramObserver,
        MinMaxObserver,
        MovingAverageMinMaxObserver,
        PerChannelMinMaxObserver,
        NoopObserver,
        PlaceholderObserver,
        RecordingObserver,
    ],
)
def test_an_observer_without_data_does_not_warn(observer):
    """Warnings are errors here."""
    page = ElementTree.fromstring(observer()._repr_html_())
    assert observer.__name__ == page.find("./div/b").text
