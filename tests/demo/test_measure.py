"""The four numbers of the table, by hand."""

from __future__ import annotations

import math

import pytest

import pyqref
from pyqref import nn
from pyqref.demo import measure


def test_accuracy_counts_the_largest_logit():
    logits = pyqref.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 2.0], [2.0, 3.0]])
    assert 75.0 == measure.accuracy(logits, pyqref.tensor([0, 1, 1, 1]))


def test_sqnr_of_a_tenth_is_twenty_decibels():
    """``10 log10(1 / 0.1**2) = 20``."""
    assert 20.0 == pytest.approx(measure.sqnr([1.0, -1.0], [1.1, -0.9]), abs=1e-9)


def test_sqnr_of_equal_is_infinite():
    assert math.inf == measure.sqnr([1.0, 2.0], [1.0, 2.0])


def test_sqnr_of_no_signal_is_minus_infinite():
    assert -math.inf == measure.sqnr([0.0], [1.0])


def test_weight_bytes_of_a_float_layer():
    """Twelve weights and three biases of four bytes."""
    assert 60 == measure.weight_bytes(nn.Linear(4, 3))


def test_tensor_bytes_counts_scales_of_channels():
    """Six integers, and a scale and a zero point of eight bytes for each of two channels."""
    weight = pyqref.quantize_per_channel(
        pyqref.ones(2, 3), pyqref.tensor([0.1, 0.2]), pyqref.tensor([0, 0]), 0, pyqref.qint8
    )
    assert 6 + 2 * 16 == measure.tensor_bytes(weight)


def test_tensors_in_looks_into_containers():
    first, second = pyqref.ones(1), pyqref.ones(2)
    assert [first, second] == list(measure.tensors_in({"a": (first, None), "b": [3, second]}))


def test_latency_calls_the_model_once_more_than_it_times():
    calls = []

    class Counting(nn.Module):
        def forward(self, x):
            calls.append(len(x))
            return x

    assert measure.latency(Counting(), pyqref.zeros(4, 1, 8, 8), repeats=3) > 0
    assert [4] * 4 == calls
