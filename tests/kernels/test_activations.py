"""Activations by every kernel against the equations in NumPy, and their errors against double."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from kernels.compare import assert_same_bits, behind_a_line

import pyqref
from pyqref import _kernels
from pyqref._kernels.activations import pointwise
from pyqref.numerics import float_activation as reference
from pyqref.numerics import float_softmax

FUNCTIONS = pointwise._VALUES
CONSTANTS = {
    "softplus": (1.5, 20.0, -0.0),
    "elu": (1.67, 1.05, 1.2),
    "leaky_relu": (0.01,),
    "hardtanh": (-1.0, 1.0),
}
SIZES = [0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 8191, 8193, 20_000]
RNG = np.random.default_rng(0)
#: Every size of number, nan and infinities among them, and many where results are neither.
NUMBERS = np.concatenate(
    [
        np.arange(0, 2**32, 2**32 // 30_011).astype(np.uint32).view(np.float32),
        RNG.uniform(-20, 20, 20_000).astype(np.float32),
        np.float32([0, -0.0, 3, -3, 1, -1, 2, 6, 88, -88, 13.27, 3.93, 1e-45, np.inf, -np.inf]),
        # Their logarithms lie next to the middle of two float32.
        np.float32([0.0117943827, 9.47263622]),
    ]
)
GRADIENT = RNG.standard_normal(NUMBERS.size).astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_number(kernel: str, name: str, n_threads: int) -> None:
    """eq-float-activation and eq-float-activation-gradient, whichever kernel and threads."""
    constants = CONSTANTS.get(name, ())
    expected = reference.activation(name, NUMBERS, *constants)
    assert_same_bits(expected, pointwise.activation(name, NUMBERS, *constants))
    if name in pointwise._GRADIENTS:
        expected = reference.activation_gradient(name, GRADIENT, NUMBERS, *constants)
        actual = pointwise.activation_gradient(name, GRADIENT, NUMBERS, *constants)
        assert_same_bits(expected, actual)


def test_softplus_of_one(kernel: str) -> None:
    """eq-softplus where beta is 1: kernels may add in fewer steps there, with the same bits."""
    expected = reference.activation("softplus", NUMBERS, 1.0, 20.0, 0.0)
    assert_same_bits(expected, pointwise.activation("softplus", NUMBERS, 1.0, 20.0, 0.0))


@pytest.mark.parametrize("size", SIZES)
def test_sizes(kernel: str, size: int, n_threads: int) -> None:
    """Around every vector and task, from any address, and of a view with gaps."""
    x = behind_a_line(NUMBERS[-20_000:][:size], 1)
    g = behind_a_line(GRADIENT[:size], 3)
    assert_same_bits(reference.activation("silu", x), pointwise.activation("silu", x))
    expected = reference.activation_gradient("silu", g, x)
    assert_same_bits(expected, pointwise.activation_gradient("silu", g, x))
    expected = reference.activation_gradient("silu", g[::3], x[::3])
    assert_same_bits(reference.activation("silu", x[::3]), pointwise.activation("silu", x[::3]))
    assert_same_bits(expected, pointwise.activation_gradient("silu", g[::3], x[::3]))


@pytest.mark.parametrize("shape", [(0, 4, 3), (2, 6), (3, 4, 5), (1, 2, 9000), (2, 8, 3, 7)])
def test_rows(kernel: str, shape: tuple[int, ...], n_threads: int) -> None:
    """eq-glu, eq-glu-gradients and eq-leaky-relu of channels, contiguous and not."""
    x = np.resize(NUMBERS, shape)
    for each in (x, np.asfortranarray(x)):
        a, gate = np.split(each, 2, axis=1)
        g = np.resize(GRADIENT, a.shape)
        assert_same_bits(reference.glu(a, gate), pointwise.glu(each, 1))
        expected = np.concatenate(reference.glu_gradients(g, a, gate), 1)
        assert_same_bits(expected, pointwise.glu_gradient(g, each, 1))
        slopes = np.linspace(-1, 1, shape[1], dtype=np.float32)
        gradient = np.resize(GRADIENT, shape)
        for one in (slopes, slopes[:1]):
            column = one.reshape(-1, *(1,) * (x.ndim - 2))
            for given in (None, gradient):
                actual = pointwise.prelu(each, one, given)
                if actual is not None:
                    factor = np.where(each > 0, np.float32(1), column)
                    with np.errstate(all="ignore"):
                        expected = (each if given is None else given) * factor
                    assert_same_bits(expected, actual)


def test_others_are_numpys() -> None:
    """The kernel returns None for arrays that are not float32."""
    x = np.ones(3)
    assert pointwise.activation("silu", x) is None
    assert pointwise.activation_gradient("silu", x, x) is None
    assert pointwise.glu(np.ones(4), 0) is None
    assert pointwise.glu_gradient(x, np.ones(6), 0) is None


def test_images_keep_their_order() -> None:
    x = pyqref.randn(2, 3, 5, 7).to(memory_format=pyqref.channels_last).requires_grad_()
    y = pyqref.nn.functional.silu(x)
    assert y.is_contiguous(memory_format=pyqref.channels_last)
    y.sum().backward()
    assert x.grad is not None
    assert x.grad.shape == x.shape


def test_in_place_keeps_what_the_gradient_needs() -> None:
    """In-place functions keep a copy of the argument, as in torch, since the result replaces it."""
    x = pyqref.tensor([-1.0, 2.0], requires_grad=True)
    for inplace in (False, True):
        x.grad = None
        pyqref.nn.functional.silu(x * 1, inplace=inplace).sum().backward()
        assert [0.07232949137687683, 1.0907843112945557] == pytest.approx(x.grad.tolist())


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


_ERF = np.vectorize(math.erf)
_ERFC = np.vectorize(math.erfc)
_TANH_OF_SOFTPLUS = lambda x: np.tanh(np.logaddexp(0, x))  # noqa: E731
#: Name: the function in double; the largest error of torch 2.13 over [-8, 8] and over numbers of a
#: normal distribution, which is not exceeded; and the largest one in units in the last place of the
#: result: a half where the work is in double; the bound of eq-exp-error, torch's or some more where
#: it is in float32. (GELU's small values have digits, which torch's lack.)
ERRORS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float, float]] = {
    "exp": (np.exp, 0.000128, 0.54),
    "log": (lambda x: np.log(np.abs(x)), 2.49e-07, 0.66),
    "erf": (_ERF, 5.95e-08, 0.6),
    "sigmoid": (_sigmoid, 8.86e-08, 1.7),
    "tanh": (np.tanh, 3.17e-08, 0.6),
    "gelu": (lambda x: x * _ERFC(-x / 2**0.5) / 2, 3.65e-07, 41),
    "silu": (lambda x: x * _sigmoid(x), 7.04e-07, 1.7),
    "mish": (lambda x: x * _TANH_OF_SOFTPLUS(x), 4.52e-07, 1.4),
    "softplus": (lambda x: np.logaddexp(0, x), 3.09e-07, 0.51),
    "elu": (lambda x: np.where(x > 0, x, np.expm1(x)), 2.99e-08, 0.51),
}
SAMPLE = np.concatenate(
    [np.linspace(-8, 8, 20_001), np.random.default_rng(1).standard_normal(20_000)]
).astype(np.float32)


def largest_errors(name: str, function: Callable[[np.ndarray], np.ndarray]) -> tuple[float, float]:
    """Return the largest absolute error of a function, and the largest in last-place units."""
    x = np.abs(SAMPLE) + np.float32(1e-3) if name == "log" else SAMPLE
    exact = ERRORS[name][0](x.astype(np.float64))
    unit = np.spacing(np.abs(exact).astype(np.float32)).astype(np.float64)
    error = np.abs(function(x).astype(np.float64) - exact)
    return float(error.max()), float((error / unit).max())


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_at_most_torchs(name: str) -> None:
    constants = {"softplus": (1.0, 20.0, -0.0), "elu": (1.0, 1.0, 1.0)}.get(name, ())
    error, units = largest_errors(name, lambda x: reference.activation(name, x, *constants))
    assert error <= ERRORS[name][1]
    assert units <= ERRORS[name][2]


@pytest.mark.parametrize(
    "shape", [(0, 3), (3, 0), (3, 1), (2, 5), (2, 16), (3, 17), (4, 33), (5, 2, 40)]
)
def test_softmax(kernel: str, shape: tuple[int, ...], n_threads: int) -> None:
    """eq-float-softmax, its logarithm and both gradients, of rows with nan and infinities, too."""
    x = np.resize(NUMBERS[-20_000:] * np.float32(3), shape)
    if x.size:
        x[0, ..., -1] = -np.inf
    if x.size > 60:
        x[1], x[2, ..., 0], x[3], x[3, ..., 1] = -np.inf, np.inf, 1, np.nan
    g = np.resize(GRADIENT, shape)
    rows = -1, max(1, shape[-1])
    for is_log, value, gradient in (
        (False, float_softmax.softmax, float_softmax.softmax_gradient),
        (True, float_softmax.log_softmax, float_softmax.log_softmax_gradient),
    ):
        y = _kernels.softmax(x, -1, is_log)
        assert_same_bits(value(x.reshape(rows)).reshape(shape) if x.size else x, y)
        actual = _kernels.softmax_gradient(g, y, -1, is_log)
        if x.size:
            expected = gradient(g.reshape(rows), y.reshape(rows)).reshape(shape)
            assert_same_bits(expected, actual)
        swapped = _kernels.softmax(x.swapaxes(0, -1), 0, is_log)
        assert_same_bits(y.swapaxes(0, -1), swapped)
    assert _kernels.softmax(np.ones(3), 0) is None
    assert _kernels.softmax_gradient(np.ones(3), np.ones(3), 0) is None
