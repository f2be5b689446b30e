"""The C of the hardware track gives the integers of pyqref, all of them."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import arithmetic
from pyqref.nn import functional as F
from pyqref.numerics.fixed_point import bias_half_away, fixed_point_multiplier
from pyqref.ops import quantized as ops

PAGES = Path(__file__).parents[2] / "docs" / "hardware"
SOURCE = PAGES / "match_these_bits.c"
ENGINES = ("fbgemm", "qnnpack")
SEEDS = range(12)


class Layer(ctypes.Structure):
    _fields_ = (
        ("s_x", ctypes.c_double),
        ("s_y", ctypes.c_double),
        ("z_x", ctypes.c_int),
        ("z_y", ctypes.c_int),
        ("s_w", ctypes.c_void_p),
        ("bias", ctypes.c_void_p),
        ("per_channel", ctypes.c_int),
        ("relu", ctypes.c_int),
        ("engine", ctypes.c_int),
    )


def structure(*names: str) -> Any:
    fields = [(name, ctypes.c_int) for name in names]
    return type("Structure", (ctypes.Structure,), {"_fields_": fields})


Image = structure("channels", "height", "width")
Window = structure("kernel", "stride", "padding", "dilation", "groups")


class Grid(ctypes.Structure):
    _fields_ = (("scale", ctypes.c_double), ("zero_point", ctypes.c_int))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The file of the page, as strict C99, with no product and sum in one rounding by itself."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler: none of cc, gcc and clang is found")
    library = tmp_path_factory.mktemp("c") / "match_these_bits.so"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
    how = [compiler, *strict, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-lm"]
    subprocess.run(how, check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(autouse=True, params=ENGINES)
def engine(request: pytest.FixtureRequest) -> int:
    pyqref.backends.quantized.engine = request.param
    return ENGINES.index(request.param)


def tensor(rng: np.random.Generator, *shape: int) -> Any:
    integers = pyqref.from_numpy(rng.integers(0, 256, shape, dtype=np.uint8))
    given = float(rng.uniform(0.01, 0.1)), int(rng.integers(0, 256))
    return pyqref._make_per_tensor_quantized_tensor(integers, *given)


def array(values: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


def layer_of(
    rng: np.random.Generator, engine: int, x: Any, *shape: int
) -> tuple[Any, Any, Any, Layer, list[np.ndarray]]:
    """Weight, bias, grid of the output; the same as the C takes it, and what it points to.

    The scales make half of the outputs ties but for the last bits of the products, and half of the
    biases ties in units of the accumulator.
    """
    per_channel, outputs = bool(rng.integers(2)), shape[0]
    w = rng.integers(-127, 128, shape).astype(np.int8)
    s_y = float(rng.uniform(0.5, 2)) * x.q_scale() * shape[1]
    parts = rng.integers(1, 9, outputs if per_channel else 1)
    scales = s_y / (2 * shape[1] * parts * x.q_scale())
    if per_channel:
        zeros = pyqref.zeros(outputs, dtype=pyqref.int64)
        weight = pyqref._make_per_channel_quantized_tensor(
            pyqref.from_numpy(w), pyqref.from_numpy(scales), zeros, 0
        )
    else:
        weight = pyqref._make_per_tensor_quantized_tensor(pyqref.from_numpy(w), float(scales[0]), 0)
    bias = None
    if rng.integers(4):
        most = int(rng.choice([400, 40_000]))
        units = rng.integers(-most, most, outputs) / 2
        bias = (units * scales * x.q_scale()).astype(np.float32)
    z_y, relu = int(rng.integers(0, 256)), int(rng.integers(2))
    kept = [w, scales] if bias is None else [w, scales, bias]
    layer = Layer(
        x.q_scale(),
        s_y,
        x.q_zero_point(),
        z_y,
        array(scales),
        None if bias is None else array(bias),
        per_channel,
        relu,
        engine,
    )
    return weight, None if bias is None else pyqref.from_numpy(bias), (s_y, z_y), layer, kept


@pytest.mark.parametrize("seed", SEEDS)
def test_linear(compiled, engine, seed):
    """``eq-requantize-bias`` and ``eq-requantize``, with both multipliers, in every integer."""
    rng = np.random.default_rng(seed)
    x = tensor(rng, 200, 3)
    weight, bias, out, layer, kept = layer_of(rng, engine, x, 40, 3)
    run = ops.linear_relu if layer.relu else ops.linear
    expected = run(x, ops.linear_prepack(weight, bias), *out).int_repr().numpy()
    got = np.empty(expected.shape, np.uint8)
    given = x.int_repr().numpy()
    compiled.linear(ctypes.byref(layer), array(given), 200, 3, array(kept[0]), 40, array(got))
    assert np.array_equal(expected, got)
    assert np.unique(got).size > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_conv2d(compiled, engine, seed):
    """``eq-conv-accumulator``: stride, padding, dilation, groups, depthwise too."""
    rng = np.random.default_rng(seed)
    groups, stride, padding, dilation = (int(rng.choice(c)) for c in ((1, 2, 4), *[(1, 2)] * 3))
    x = tensor(rng, 1, 4, 9, 8)
    shape = 8, 4 // groups, 3, 3
    weight, bias, out, layer, kept = layer_of(rng, engine, x, *shape)
    several = [[each] * 2 for each in (stride, padding, dilation)]
    run = ops.conv2d_relu if layer.relu else ops.conv2d
    packed = ops.conv2d_prepack(weight, bias, *several, groups)
    expected = run(x, packed, *out).int_repr().numpy()
    got, given = np.zeros(expected.shape, np.uint8), x.int_repr().numpy()
    window = Window(3, stride, padding, dilation, groups)
    sizes = Image(4, 9, 8), array(kept[0]), window, array(got), Image(*expected.shape[1:])
    compiled.conv2d(ctypes.byref(layer), array(given), *sizes)
    assert np.array_equal(expected, got)


@pytest.mark.parametrize("seed", SEEDS)
def test_add(compiled, engine, seed):
    """``eq-quantized-add`` and ``eq-add-fixed-point``: all 65,536 pairs of integers."""
    rng = np.random.default_rng(seed)
    pairs = np.mgrid[0:256, 0:256].astype(np.uint8).reshape(2, -1)
    s_y, parts = float(rng.uniform(0.01, 0.1)), rng.integers(1, 9, 3)
    scales = s_y * parts[0] / (2 * parts[2]), s_y * parts[1] / (2 * parts[2]), s_y
    grids = [Grid(float(each), int(rng.integers(0, 256))) for each in scales]
    a, b = (
        pyqref._make_per_tensor_quantized_tensor(
            pyqref.from_numpy(each), grid.scale, grid.zero_point
        )
        for each, grid in zip(pairs, grids, strict=False)
    )
    expected = ops.add(a, b, grids[2].scale, grids[2].zero_point).int_repr().numpy()
    got, (left, right) = np.empty_like(expected), pairs.copy()
    given = array(left), grids[0], array(right), grids[1], left.size, array(got), grids[2]
    compiled.add(engine, *given)
    assert np.array_equal(expected, got)


@pytest.mark.parametrize("seed", SEEDS)
def test_average_pool(compiled, engine, seed):
    """``eq-quantized-mean`` of windows; even counts have many ties."""
    rng = np.random.default_rng(seed)
    kernel, stride, padding = 2 + seed % 2, 1 + seed // 2 % 2, seed // 4 % 2
    x = tensor(rng, 1, 3, 33, 30)
    count = bool(rng.integers(2))
    made = F.avg_pool2d(x, kernel, stride, padding, count_include_pad=count)
    expected, given = made.int_repr().numpy(), x.int_repr().numpy()
    got = np.empty(expected.shape, np.uint8)
    grid, window = Grid(x.q_scale(), x.q_zero_point()), Window(kernel, stride, padding, 1, 1)
    sizes = Image(3, 33, 30), grid, window, count, array(got), Image(*expected.shape[1:])
    compiled.average_pool(engine, array(given), *sizes)
    assert np.array_equal(expected, got)


def test_integers_only(compiled):
    """``eq-multiply-rounded-twice``: sums to integers of TFLite's reference, without a float."""
    rng = np.random.default_rng(0)
    m, e = ctypes.c_int32(), ctypes.c_int()
    compiled.prepare.argtypes = [ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    compiled.requantize_integer.restype = ctypes.c_uint8
    sums = np.concatenate([rng.integers(-(2**20), 2**20, 300), np.arange(-40, 41) * 4 + 2])
    for s_x, s_w, s_y in ((0.25, 0.5, 1.0), (0.02, 0.003, 0.05), (0.7, 0.9, 0.001)):
        unit = float(np.float32(s_x) * np.float32(s_w))
        compiled.prepare(unit / float(np.float32(s_y)), ctypes.byref(m), ctypes.byref(e))
        assert (m.value, e.value) == fixed_point_multiplier(unit / float(np.float32(s_y)))
        real = np.float32([0.3])
        bias = int(bias_half_away(real, s_x, s_w)[0])
        model, numbers = arithmetic.get("tflite"), (s_x, s_w, s_y, 77, 0, 255)
        expected = model.requantize(sums[:, None], real, *numbers)[:, 0]
        rest = m.value, e.value, 77, 0
        got = [compiled.requantize_integer(int(each), bias, *rest) for each in sums]
        assert expected.tolist() == got
    text = SOURCE.read_text(encoding="utf-8").split("uint8_t requantize_integer")[1]
    assert "float" not in text
    assert "double" not in text
