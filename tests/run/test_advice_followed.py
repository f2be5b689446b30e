"""Following an entry of the table of advices gives what the missing name would."""

from __future__ import annotations

import math

import numpy as np

import pyqref
from pyqref._advice import advice


def test_linear_algebra_and_spectra_by_numpy():
    """``linalg`` and ``fft``: to NumPy and back."""
    x = pyqref.tensor([[2.0, 0.0], [0.0, 4.0]])
    assert "numpy.linalg on x.numpy() and torch.from_numpy" in advice("linalg.inv")
    inverse = pyqref.from_numpy(np.linalg.inv(x.numpy()))
    assert [[0.5, 0.0], [0.0, 0.25]] == inverse.tolist()
    assert "numpy.fft on x.numpy()" in advice("fft.rfft")
    size = pyqref.from_numpy(np.abs(np.fft.rfft(pyqref.ones(4).numpy())))
    assert [4.0, 0.0, 0.0] == size.tolist()


def test_windows_by_their_formula():
    """``hann_window``."""
    assert "0.5 - 0.5 * torch.cos(2 * math.pi * n / length)" in advice("hann_window")
    n = pyqref.arange(4, dtype=pyqref.float32)
    window = 0.5 - 0.5 * pyqref.cos(2 * math.pi * n / 4)
    assert pyqref.allclose(pyqref.tensor([0.0, 0.5, 1.0, 0.5]), window, atol=1e-6)
    symmetric = pyqref.from_numpy(np.hanning(3))
    assert [0.0, 1.0, 0.0] == symmetric.tolist()


def test_a_loop_over_the_batch():
    """``vmap``."""
    assert "torch.stack the results" in advice("vmap")
    batch = pyqref.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert [3.0, 7.0] == pyqref.stack([row.sum() for row in batch]).tolist()


def test_random_numbers():
    """``distributions``."""
    assert "torch.normal, torch.bernoulli, torch.multinomial" in advice("distributions.Normal")
    assert (3,) == tuple(pyqref.normal(0.0, 1.0, (3,)).shape)
    assert 1.0 == pyqref.bernoulli(pyqref.ones(1)).item()
    assert 1 == pyqref.multinomial(pyqref.tensor([0.0, 1.0]), 1).item()


def test_an_operation_of_ones_own():
    """``utils.cpp_extension``."""
    assert "pyqref.library.register('mylib::name')" in advice("utils.cpp_extension.load")
    pyqref.library.register("advice_followed::halve", lambda x: x / 2)
    assert 1.5 == pyqref.ops.advice_followed.halve(pyqref.tensor(3.0)).item()


def test_a_device_that_is_there():
    """``cuda.Stream``."""
    assert "'cuda' if torch.cuda.is_available() else 'cpu'" in advice("cuda.Nowhere")
    device = "cuda" if pyqref.cuda.is_available() else "cpu"
    assert "cpu" == pyqref.ones(1).to(device).device.type
