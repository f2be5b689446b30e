"""Functions of tensors by each kernel, against the reference.

Whatever is given, the outcome is the same: the same bits, gradients and class of result, or the
same error with the same words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import from_numpy, kernels, qint8, qint32, quint8
from pyqref.backends import quantized as settings
from pyqref.nn import Parameter

NUMBERS = np.random.default_rng(0).normal(0, 4, (6, 5)).astype(np.float32)
NUMBERS[0, :4] = np.nan, np.inf, -np.inf, -0.0


def outcome(run: Callable[[], Any]) -> tuple[Any, ...]:
    """Return the outcome of a call: a result that can be compared, or an error."""
    try:
        result = run()
    except (TypeError, ValueError, IndexError, RuntimeError) as error:
        return type(error), str(error)
    found = [type(result), result.dtype, result._array.tobytes(), result._array.shape]
    found += [result.requires_grad, str(result.grad_fn), result.is_quantized]
    if result.is_quantized:
        found.append(result._quantizer)
    return tuple(found)


def gradient(x: Any, run: Callable[[Any], Any]) -> bytes:
    """Return the gradient with respect to ``x``, for a gradient of 1, 2, 3, ... of the result."""
    x.grad = None
    y = run(x)
    y.backward(from_numpy(np.arange(y.numel(), dtype=np.float32).reshape(y.shape)))
    return bytes(x.grad._array.tobytes())


def assert_as_reference(run: Callable[[], Any]) -> None:
    """Twice, as the second call may find what the first one has kept."""
    with kernels.use("reference"):
        expected = outcome(run)
    assert outcome(run) == expected
    again = outcome(lambda: (run(), run())[1])
    assert again == expected


#: Whatever may be given where numbers are expected.
INPUTS = {
    "usual": lambda: from_numpy(NUMBERS.copy()),
    "a parameter": lambda: Parameter(from_numpy(NUMBERS.copy())),
    "requires gradients": lambda: from_numpy(NUMBERS.copy()).requires_grad_(),
    "a result": lambda: from_numpy(NUMBERS.copy()).requires_grad_() * 2,
    "a view": lambda: from_numpy(NUMBERS.copy()).requires_grad_().view(6, 5),
    "a view of nothing recorded": lambda: from_numpy(NUMBERS.copy()).view(6, 5),
    "with gaps": lambda: from_numpy(np.repeat(NUMBERS, 2, 1)[:, ::2]),
    "transposed": lambda: from_numpy(NUMBERS.T.copy().T),
    "of float64": lambda: from_numpy(NUMBERS.astype(np.float64)),
    "of float16": lambda: from_numpy(NUMBERS.astype(np.float16)),
    "of integers": lambda: from_numpy(np.arange(30).reshape(6, 5)),
    "empty": lambda: pyqref.zeros(0, 5),
    "without axes": lambda: pyqref.tensor(1.25),
    "quantized": lambda: pyqref.quantize_per_tensor(pyqref.zeros(6, 5), 0.5, 3, quint8),
    "a list": lambda: [1.0, 2.0],
    "nothing": lambda: None,
}
one = pyqref.tensor([0.037])
#: Scale, zero point, quant_min, quant_max.
GRIDS: list[tuple[Any, ...]] = [
    (0.037, 5, 0, 255),
    (0.5, 3, -128, 127),
    (1e-6, 0, -(2**23), 2**23),
    (0.5, 0, -(2**31), 2**31 - 1),
    (2.0**-126, 1, 0, 1),
    (3.4028234663852886e38, 0, 0, 1),
    (one, pyqref.tensor([5], dtype=pyqref.int32), 0, 255),
    (one[0], pyqref.tensor(5), 0, 255),
    (pyqref.tensor(0.037, dtype=pyqref.float64), 5.0, 0, 255),
    (np.float32(0.037), np.int64(5), np.int64(0), 255),
    (1, True, 0, 255),
    (0.0, 5, 0, 255),
    (-0.5, 5, 0, 255),
    (float("nan"), 5, 0, 255),
    (float("inf"), 5, 0, 255),
    (1e-40, 5, 0, 255),
    (1e39, 5, 0, 255),
    (0.5, 256, 0, 255),
    (0.5, -1, 0, 255),
    (0.5, 2**70, 0, 255),
    (0.5, 0, 5, 4),
    (0.5, 0, -(2**40), 2**40),
    (0.5, 0.25, 0, 255),
    ("0.5", 0, 0, 255),
    (pyqref.tensor([0.5, 0.5]), 0, 0, 255),
    (0.5, pyqref.tensor([1, 2]), 0, 255),
    (0.5, pyqref.quantize_per_tensor(one, 0.5, 3, qint32), 0, 255),
    (None, None, None, None),
]


@pytest.fixture(params=["documented", "torch"])
def convention(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(settings, "conventions", request.param)
    return str(request.param)


@pytest.mark.parametrize("grid", GRIDS, ids=str)
def test_fake_quantize_on_every_grid(compiled_kernel: str, convention: str, grid: Any) -> None:
    """eq-fake-quantize"""
    for name in ("usual", "a parameter"):
        x = INPUTS[name]()
        assert_as_reference(lambda x=x: pyqref.fake_quantize_per_tensor_affine(x, *grid))


@pytest.mark.parametrize("name", INPUTS)
def test_fake_quantize_of_every_input(compiled_kernel: str, convention: str, name: str) -> None:
    """eq-fake-quantize, recorded or not"""
    x = INPUTS[name]()
    assert_as_reference(lambda: pyqref.fake_quantize_per_tensor_affine(x, 0.037, 5, 0, 255))
    with pyqref.no_grad():
        assert_as_reference(lambda: pyqref.fake_quantize_per_tensor_affine(x, 0.037, 5, 0, 255))


CHANNELS = from_numpy(np.float32([0.1, 0.2, 0.3, 0.4, 0.5]))
POINTS = from_numpy(np.int32([0, 1, 2, 3, 255]))


def changed(x: Any, value: Any) -> Any:
    """A copy with another second number."""
    x = x.clone()
    x[1] = value
    return x


#: Scales, zero points, axis, quant_min, quant_max.
CHANNEL_GRIDS: list[tuple[Any, ...]] = [
    (CHANNELS, POINTS, 1, 0, 255),
    (CHANNELS, POINTS, -1, 0, 255),
    (CHANNELS, POINTS, 0, 0, 255),
    (CHANNELS, POINTS, 2, 0, 255),
    (CHANNELS, POINTS, -3, 0, 255),
    (CHANNELS, POINTS, 2**40, 0, 255),
    (CHANNELS, POINTS, None, 0, 255),
    (CHANNELS, POINTS, True, 0, 255),
    (CHANNELS, POINTS.long(), 1, 0, 255),
    (CHANNELS.double(), POINTS, 1, 0, 255),
    (CHANNELS, POINTS.float() + 0.25, 1, 0, 255),
    (CHANNELS.tolist(), POINTS.tolist(), 1, 0, 255),
    (CHANNELS[:4], POINTS[:4], 1, 0, 255),
    (CHANNELS, POINTS[:4], 1, 0, 255),
    (CHANNELS.view(5, 1), POINTS, 1, 0, 255),
    (CHANNELS, POINTS, 1, 0, 254),
    (CHANNELS, POINTS, 1, 1, 255),
    (CHANNELS, POINTS, 1, 255, 0),
    (CHANNELS, POINTS, 1, 0.0, 255),
    *((changed(CHANNELS, bad), POINTS, 1, 0, 255) for bad in (0.0, -0.0, -1.0, np.nan, np.inf)),
    (changed(CHANNELS, 1e-42), POINTS, 1, 0, 255),
    (CHANNELS, changed(POINTS, -1), 1, 0, 255),
    (CHANNELS, pyqref.quantize_per_tensor(CHANNELS, 0.1, 0, qint32), 1, 0, 255),
    (CHANNELS.repeat(2)[::2], POINTS.repeat(2)[::2], 1, 0, 255),
    (None, None, 1, 0, 255),
]


@pytest.mark.parametrize("grid", CHANNEL_GRIDS, ids=str)
def test_fake_quantize_channels_on_every_grid(
    compiled_kernel: str, convention: str, grid: Any
) -> None:
    """eq-fake-quantize-channel"""
    for name in ("usual", "a parameter"):
        x = INPUTS[name]()
        assert_as_reference(lambda x=x: pyqref.fake_quantize_per_channel_affine(x, *grid))


@pytest.mark.parametrize("name", INPUTS)
def test_fake_quantize_channels_of_every_input(
    compiled_kernel: str, convention: str, name: str
) -> None:
    """eq-fake-quantize-channel, recorded or not"""
    x, grid = INPUTS[name](), (CHANNELS, POINTS, 1, 0, 255)
    assert_as_reference(lambda: pyqref.fake_quantize_per_channel_affine(x, *grid))
    with pyqref.no_grad():
        assert_as_reference(lambda: pyqref.fake_quantize_per_channel_affine(x, *grid))


def test_many_channels(compiled_kernel: str, n_threads: int) -> None:
    """Up to those whose numbers fit on the stack, and beyond; and more numbers than are short."""
    rng = np.random.default_rng(3)
    for channels in (1, 15, 240, 241, 255, 256, 257, 1025):
        x = from_numpy(rng.normal(0, 4, (17, channels)).astype(np.float32))
        scales = from_numpy(rng.uniform(0.01, 0.1, channels).astype(np.float32))
        points = from_numpy(rng.integers(0, 256, channels).astype(np.int32))
        grid = scales, points, 1
        assert_as_reference(lambda: pyqref.fake_quantize_per_channel_affine(x, *grid, 0, 255))  # noqa: B023
        assert_as_reference(lambda: pyqref.quantize_per_channel(x, *grid, quint8))  # noqa: B023


@pytest.mark.parametrize(
    "name", ["a parameter", "requires gradients", "a view", "with gaps", "transposed", "empty"]
)
def test_gradients(compiled_kernel: str, convention: str, name: str) -> None:
    """eq-straight-through, into the first gradient of a leaf"""
    functions: list[Callable[[Any], Any]] = [
        lambda x: pyqref.fake_quantize_per_tensor_affine(x, 0.037, 5, 0, 255),
        lambda x: pyqref.fake_quantize_per_tensor_affine(x * 2, 0.037, 5, 0, 255) * 3,
        lambda x: pyqref.fake_quantize_per_tensor_affine(x.reshape(-1), 0.037, 5, 0, 255),
        lambda x: pyqref.fake_quantize_per_channel_affine(x, CHANNELS, POINTS, 1, 0, 255),
    ]
    for run in functions:
        x = INPUTS[name]().detach().requires_grad_()
        with kernels.use("reference"):
            expected = gradient(x, run)
        assert gradient(x, run) == expected


def test_a_graph_is_freed_once_walked(compiled_kernel: str) -> None:
    x = pyqref.ones(3, requires_grad=True)
    y = pyqref.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 255)
    y.backward(pyqref.ones(3), retain_graph=True)
    y.backward(pyqref.ones(3))
    assert x.grad.tolist() == [2.0] * 3
    with pytest.raises(RuntimeError, match="backward through FakeQuantizePerTensorBackward0 a sec"):
        y.backward(pyqref.ones(3))


@pytest.mark.parametrize("name", INPUTS)
def test_quantize_of_every_input(compiled_kernel: str, name: str) -> None:
    """eq-affine-quantize, eq-affine-quantize-channel"""
    x = INPUTS[name]()
    for dtype in (quint8, qint8, qint32):
        assert_as_reference(lambda dtype=dtype: pyqref.quantize_per_tensor(x, 0.037, 5, dtype))
        grid = CHANNELS.double(), POINTS // 2, 1
        assert_as_reference(
            lambda dtype=dtype, grid=grid: pyqref.quantize_per_channel(x, *grid, dtype)
        )


@pytest.mark.parametrize("grid", CHANNEL_GRIDS, ids=str)
def test_quantize_channels_on_every_grid(compiled_kernel: str, grid: Any) -> None:
    """eq-affine-quantize-channel"""
    x = INPUTS["usual"]()
    assert_as_reference(lambda: pyqref.quantize_per_channel(x, *grid[:3], quint8))


def test_dequantize(compiled_kernel: str) -> None:
    """eq-affine-dequantize"""
    x = INPUTS["usual"]()
    for dtype in (quint8, qint8, qint32):
        q = pyqref.quantize_per_tensor(x, 0.037, 5, dtype)
        for each in (q, q.t(), q[:, ::2], q[:0]):
            assert_as_reference(each.dequantize)


class TestKnownQuantizers:
    """Scales and zero points that were given before are not checked again."""

    def test_they_are_known_by_what_they_hold(self, compiled_kernel: str) -> None:
        x, scales = INPUTS["usual"](), CHANNELS.clone()
        first = pyqref.quantize_per_channel(x, scales, POINTS, 1, quint8)
        second = pyqref.quantize_per_channel(x, scales.clone(), POINTS.clone(), 1, quint8)
        assert second._quantizer is first._quantizer
        scales[0] = 0.25
        third = pyqref.quantize_per_channel(x, scales, POINTS, 1, quint8)
        assert third.q_per_channel_scales()[0].item() == 0.25
        assert first.q_per_channel_scales()[0].item() == np.float32(0.1)

    def test_they_are_not_taken_for_others(self, compiled_kernel: str) -> None:
        """Grids of another dtype, type of zero points or axis are kept apart."""
        x = from_numpy(NUMBERS[:5, :5].copy())
        grids: list[tuple[Any, ...]] = [
            (POINTS // 2, 1, quint8),
            (POINTS // 2, 0, quint8),
            (POINTS // 2, 1, qint8),
            ((POINTS // 2).long(), 1, quint8),
            ((POINTS // 2).float(), 1, quint8),
        ]
        for points, axis, dtype in grids * 2:
            q = pyqref.quantize_per_channel(x, CHANNELS, points, axis, dtype)
            assert (q.dtype, q.q_per_channel_axis()) == (dtype, axis)
            is_float = q.qscheme() is pyqref.per_channel_affine_float_qparams
            assert is_float == points.dtype.is_floating_point

    def test_another_input_is_refused_as_ever(self, compiled_kernel: str) -> None:
        pyqref.quantize_per_channel(INPUTS["usual"](), CHANNELS, POINTS, 1, quint8)
        for other in (pyqref.zeros(2, 4), pyqref.zeros(5)):
            with pytest.raises(ValueError, match=r"length of scales must equal|axis must be in"):
                pyqref.quantize_per_channel(other, CHANNELS, POINTS, 1, quint8)

    @pytest.mark.parametrize("zero_points", [np.float32([1, 2]), np.array([1, 2])], ids=str)
    def test_not_with_a_scheme_that_was_asked_for(
        self, compiled_kernel: str, zero_points: np.ndarray
    ) -> None:
        """Whole floats may stand for integers where somebody says so, and the other way round."""
        scales, integers = np.float32([0.5, 0.25]), np.uint8([[1], [2]])
        floating = zero_points.dtype.kind != "f"
        asked = pyqref.per_channel_affine_float_qparams if floating else pyqref.per_channel_affine
        pyqref.make_per_channel(integers, scales, zero_points, 0, quint8, asked)
        given = from_numpy(scales), from_numpy(zero_points), 0, quint8
        assert pyqref.quantize_per_channel(pyqref.ones(2, 3), *given).qscheme() is not asked

    def test_not_in_another_order_of_bytes(self, compiled_kernel: str) -> None:
        swapped = np.array([0.25], ">f4")
        same_bytes, point = from_numpy(swapped.view("<f4")), pyqref.zeros(1, dtype=pyqref.int64)
        pyqref.quantize_per_channel(pyqref.ones(1), swapped, point, 0, quint8)
        with pytest.raises(ValueError, match="subnormal"):
            pyqref.quantize_per_channel(pyqref.ones(1), same_bytes, point, 0, quint8)
