"""Faults that the random caller found: each kind is a sweep over its whole mechanism."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from fuzz.bits import frozen

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.numerics import embedding
from pyqref.ops import quantized as ops

COARSE = pyqref.PerTensorQuantizer(pyqref.quint8, 1e37, 128)
HUGE = pyqref.full((1, 2), 3e38)
CODES = np.uint8([[0, 1, 127], [128, 200, 255]])


def coarse(array: np.ndarray = CODES) -> pyqref.Tensor:
    """A quantized tensor whose real numbers are up to 1e39: infinite in float32."""
    return pyqref.make_quantized(array.copy(), COARSE)


ACTIVATIONS = ("relu", "relu6", "hardtanh", "leaky_relu", "elu", "celu", "selu", "gelu", "silu")
ACTIVATIONS += ("mish", "softplus", "softsign", "tanhshrink", "hardshrink", "softshrink")
ACTIVATIONS += ("hardsigmoid", "hardswish", "logsigmoid", "sigmoid", "tanh")


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("number", [-0.5, 0.5, 7.0])
def test_gradients_without_axes(name, number):
    """A tensor without axes has the gradient that one with an axis has, on every kernel."""
    found = []
    for kernel in ("reference", pyqref.kernels.in_use()):
        for given in (number, [number]):
            x = pyqref.tensor(given, requires_grad=True)
            with pyqref.kernels.use(kernel):
                getattr(F, name)(x).sum().backward()
            found.append(x.grad.reshape(1).tolist())
    assert [found[0]] * 4 == found


@pytest.mark.parametrize(
    "call",
    [
        lambda q: q.dequantize(),
        lambda q: q.lt(1),
        lambda q: q.std(),
        lambda q: q.mean(),
        lambda q: ops.add_scalar(q, 3e38),
        lambda q: ops.mul_scalar(q, -30.0),
        lambda q: F.softmax(q.dequantize(), 1),
        lambda q: ops.add(q, q, 1e37, 3),
        lambda q: ops.add_relu(q, q, 0.5, 3),
        lambda q: ops.mul(q, q, 1e37, 3),
        lambda q: ops.matmul(q, q.transpose(0, 1), 0.5, 3),
        lambda q: ops.cat([q, q], 0, 0.1, 3),
        lambda q: q.clone().fill_(1e39),
        lambda q: F.hardtanh(q, -1e39, 1e39),
        lambda q: ops.embedding_bag_4bit_prepack(pyqref.tensor([[-3e38, 3e38]])),
        lambda q: F.embedding(pyqref.tensor([0]), pyqref.full((1, 2), 3e38), max_norm=2.0),
        lambda q: pyqref.linspace(-3e38, 3e38, 5),
        lambda q: pyqref.arange(0, 3, 1.0, dtype=pyqref.float16),
        lambda q: nn.quantized.dynamic.Linear(2, 2, dtype=pyqref.float16)(HUGE),
    ],
)
@pytest.mark.parametrize("kernel", ["reference", "in use"])
def test_overflow_is_a_result(call, kernel):
    """Numbers beyond float32 become infinite and saturate; NumPy does not warn of them."""
    used = pyqref.kernels.in_use() if kernel == "in use" else kernel
    with pyqref.kernels.use(used), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert frozen(call(coarse())) is not None


def test_means_of_nothing_are_silent():
    """Statistics of a quantized tensor without elements are quantized nan, without a warning."""
    q = coarse(CODES[:0])
    expected = pyqref.quantize_per_tensor(pyqref.tensor(float("nan")), 1e37, 128, pyqref.quint8)
    assert [expected.int_repr().item()] * 2 == [
        each.int_repr().item() for each in (q.mean(), q.std())
    ]


@pytest.mark.parametrize("value", ["tanh", np.ones((2, 3), np.float32), [1.0, 2.0], 5])
@pytest.mark.parametrize(
    ("name", "given"),
    [
        *(("argsort", ()), ("flip", (0,)), ("fliplr", ()), ("flipud", ()), ("msort", ())),
        *(("roll", (1,)), ("rot90", ()), ("sort", ()), ("take", (pyqref.tensor([0]),))),
        *(("masked_select", (pyqref.tensor([True, False]),)), ("ravel", ())),
    ],
)
def test_only_tensors_are_arranged(name, given, value):
    """An argument that is no tensor is refused by name, and not converted."""
    with pytest.raises((TypeError, AttributeError), match=r"must be Tensor|no attribute"):
        getattr(pyqref, name)(value, *given)


@pytest.mark.parametrize("value", ["tanh", None, np.ones(2), [1.0]])
def test_only_tensors_and_numbers_are_looked_up(value):
    """A number stands for a tensor where torch takes one; nothing else does."""
    for call in (
        lambda: pyqref.isin(value, pyqref.ones(2)),
        lambda: pyqref.bucketize(value, pyqref.ones(2)),
        lambda: pyqref.searchsorted(pyqref.ones(2), value),
    ):
        with pytest.raises(TypeError, match="must be Tensor, not"):
            call()


@pytest.mark.parametrize("wrong", [{"norm_type": 1j}, {"max_norm": 1j}, {"max_norm": "1"}])
def test_norms_are_real(wrong):
    """A complex norm is refused, instead of losing its imaginary part."""
    given = {"max_norm": 1.0, **wrong}
    for function in (F.embedding, F.embedding_bag):
        with pytest.raises(TypeError, match=r"(max_norm|norm_type) must be a number"):
            function(pyqref.tensor([[0, 1]]), pyqref.ones(3, 2), **given)


def test_results_are_numbers():
    """An object that NumPy would put into an empty array of objects is refused."""
    with pytest.raises(TypeError, match="softplus"):
        F.softplus(pyqref.ones(0, 2), beta=pyqref.per_tensor_affine)


@pytest.mark.parametrize("count", [2**16 + 1, 2**24, 2.0**24, 2**40])
@pytest.mark.parametrize(
    "make",
    [
        lambda count: nn.RNN(3, 2, count),
        lambda count: nn.LSTM(3, 2, num_layers=count),
        lambda count: nn.GRU(3, 2, num_layers=count),
        lambda count: nn.quantizable.LSTM(3, 2, num_layers=count),
        lambda count: nn.quantized.dynamic.LSTM(3, 2, num_layers=count),
        lambda count: nn.quantized.dynamic.GRU(3, 2, num_layers=count),
        lambda count: nn.quantized.reference.LSTM(3, 2, num_layers=count),
        lambda count: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), count),
    ],
)
def test_stacks_are_bounded(make, count):
    """So many layers are refused before the first of them is made."""
    with pytest.raises(ValueError, match="num_layers must be at most 65536, got"):
        make(count)


def test_bins_are_bounded():
    """The search for a range refuses more bins than it could go through."""
    with pytest.raises(ValueError, match=r"nbins must be in \[1, 65536\].*got 1099511627776"):
        ops.embedding_bag_2bit_prepack(pyqref.ones(1, 2), optimized_qparams=True, nbins=2**40)


@pytest.mark.parametrize("row", [[1e8, 1e8 + 64], [-1e8 - 64, -1e8], [0.0, 1.0]])
def test_search_ends_where_float32_ends(row):
    """A step that float32 cannot add to an end of the range ends the search."""
    low, high = embedding.search_row_range(np.float32(row), 4, bins=2**16)
    assert row[0] <= low < high <= row[1]


def test_rows_of_no_bytes_are_unpacked():
    """A table without rows has none afterwards."""
    assert (0, 34) == embedding.unpack_bits(np.zeros((0, 17), np.uint8), 4).shape


def test_power_of_other_shapes():
    """The message names the sizes, for integers too."""
    a, b = pyqref.ones(4, 3, dtype=pyqref.int64), pyqref.ones(2, 3, dtype=pyqref.int16)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(4\).*tensor b \(2\)"):
        a.pow(b)


@pytest.mark.parametrize("value", [pyqref.int64, "a", {1}, 1j, 10**400, [1, "b"], [[1], [2, 3]]])
def test_only_numbers_are_assigned(value):
    """An assignment to a quantized tensor names what came, and writes nothing."""
    q = coarse()
    with pytest.raises((TypeError, ValueError), match="assigned values must be numbers, got"):
        q[0] = value
    assert CODES.tolist() == q.int_repr().tolist()


def test_one_number_is_filled_in():
    """A tensor of several numbers is refused by its shape."""
    with pytest.raises(RuntimeError, match=r"holds one, is wanted, got .*shape \(2,\)"):
        coarse().fill_(pyqref.ones(2))


@pytest.mark.parametrize("name", ["div", "floor_divide", "remainder", "fmod", "pow", "add", "mul"])
@pytest.mark.parametrize("dtype", [pyqref.int8, pyqref.int64, pyqref.float32])
def test_arithmetic_of_other_shapes(name, dtype):
    """The message names the sizes, whatever is computed of which dtype."""
    a, b = pyqref.ones(2, 8, dtype=dtype), pyqref.ones(1, 4, dtype=dtype)
    for options in (
        [{}] if name != "div" else [{"rounding_mode": each} for each in ("floor", "trunc")]
    ):
        with pytest.raises(RuntimeError, match=r"size of tensor a \(8\).*tensor b \(4\)"):
            getattr(pyqref, name)(a, b, **options)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "remainder", "fmod", "pow", "maximum"])
@pytest.mark.parametrize(("a", "b"), [(2**63 - 1, 17), (-(2**63), 17), (2**63 - 1, 2**63 - 1)])
def test_two_numbers_are_int64(name, a, b):
    """Two integers give what two tensors of int64 give, which wraps around."""
    expected = getattr(pyqref, name)(pyqref.tensor(a), pyqref.tensor(b))
    found = getattr(pyqref, name)(a, b)
    assert pyqref.int64 is found.dtype
    assert expected.item() == found.item()


@pytest.mark.parametrize("name", ["clamp_min", "clamp_max", "maximum", "minimum", "add", "mul"])
@pytest.mark.parametrize("value", [pyqref.qint8, pyqref.float32, "a", None])
def test_no_tensor_before_a_quantized_one(name, value):
    """A first argument that is no tensor is refused by name, a quantized dtype too."""
    with pytest.raises((TypeError, RuntimeError)) as found:
        getattr(pyqref, name)(value, coarse())
    assert "attribute" not in str(found.value)


def test_quantized_tensors_are_filled_with_numbers():
    """``full_like`` refuses complex numbers, and fills as ``fill_`` does."""
    with pytest.raises(TypeError, match="number, got 1j"):
        pyqref.full_like(coarse(), 1j)
    q = pyqref.quantize_per_tensor(pyqref.ones(3), 0.1, 7, pyqref.quint8)
    assert (
        q.clone().fill_(0.55).int_repr().tolist() == pyqref.full_like(q, 0.55).int_repr().tolist()
    )


@pytest.mark.parametrize("at", [0, slice(None), pyqref.tensor([0, 1]), pyqref.ones(2, 3) > 0])
def test_numbers_past_float32_are_assigned(at):
    """They count as infinite, and take the largest integer without a warning of NumPy."""
    q = pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 0.1, 7, pyqref.quint8)
    q[at] = 1e39
    assert 255 == q.int_repr().max().item()


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint32, pyqref.quint4x2])
@pytest.mark.parametrize("name", ["sum", "nansum", "prod", "mean", "cumsum", "cumprod", "softmax"])
def test_quantized_dtypes_of_results_are_refused(name, dtype):
    """A result is quantized only where scale and zero point are given."""
    place = () if name in ("sum", "nansum", "prod", "mean") else (0,)
    with pytest.raises(RuntimeError, match="needs a scale and a zero point"):
        getattr(pyqref, name)(pyqref.ones(3), *place, dtype=dtype)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("value", [1j, "a", None])
def test_powers_are_of_real_numbers(place, value):
    """``logspace`` names which of start, end and base is no real number."""
    given = [0.0, 1.0, 10.0]
    given[place] = value
    name = ("start", "end", "base")[place]
    with pytest.raises(TypeError, match=f"logspace: {name} must be a number, got"):
        pyqref.logspace(given[0], given[1], 3, given[2])


@pytest.mark.parametrize("dtype", [pyqref.int8, pyqref.int32, pyqref.int64])
def test_integer_powers(dtype):
    """Integers to negative powers are 1, -1 or 0, down to the smallest exponent; numbers too."""
    least = int(np.iinfo(dtype.numpy_dtype).min)
    exponents = pyqref.tensor([least, least + 1, -2, -1, 0, 1, 2], dtype=dtype)
    of = {
        0: [0, 0, 0, 0, 1, 0, 0],
        1: [1] * 7,
        -1: [1, -1, 1, -1, 1, -1, 1],
        2: [0] * 4 + [1, 2, 4],
    }
    for base, expected in of.items():
        assert expected == pyqref.pow(base, exponents).tolist()
        assert expected == pyqref.full((7,), base, dtype=dtype).pow(exponents).tolist()


def test_rows_that_leave_their_given_range():
    """Infinite steps are clamped like all others, without a warning of NumPy."""
    rows, ends = pyqref.tensor([[3e38, -3e38]]), pyqref.tensor([[-1.0, 1.0]])
    packed = ops.embedding_bag_byte_prepack_with_rowwise_min_max(rows, ends)
    assert [255, 0] == packed[0, :2].tolist()


@pytest.mark.parametrize("eps", [1j, "a", None, [1e-5]])
def test_eps_of_norms_is_named(eps):
    """Each norm says that eps is no number; the momentum of a running mean too."""
    x, one = pyqref.ones(2, 3, 4), pyqref.ones(3)
    calls = {
        "batch_norm": lambda **given: F.batch_norm(x, one, one, training=True, **given),
        "instance_norm": lambda **given: F.instance_norm(x, one.clone(), one.clone(), **given),
        "group_norm": lambda **given: F.group_norm(x, 3, **given),
        "layer_norm": lambda **given: F.layer_norm(x, (4,), **given),
        "rms_norm": lambda **given: F.rms_norm(x, (4,), **given),
    }
    for name, call in calls.items():
        for option in ("eps", "momentum") if name in ("batch_norm", "instance_norm") else ("eps",):
            if (name, eps) == ("rms_norm", None):
                continue  # by default that of the dtype
            with pytest.raises(TypeError, match=f"{name}: {option} must be a number, got"):
                call(**{option: eps})


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.float16])
@pytest.mark.parametrize("value", [1, "a", None])
def test_dynamic_quantization_takes_tensors(value, dtype):
    """Whatever the dtype, what is no tensor is refused by name."""
    with pytest.raises(TypeError, match="quantize_per_tensor_dynamic: input must be a tensor, got"):
        pyqref.quantize_per_tensor_dynamic(value, dtype, False)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_gradients_of_nothing(name):
    """A tensor without elements has a gradient of its shape, whose strides mean nothing."""
    x = pyqref.ones(0, 2, requires_grad=True)
    getattr(pyqref if name in ("sigmoid", "tanh") else F, name)(x).sum().backward()
    assert (0, 2) == x.grad.shape


PARAMETERS = {
    "softplus": ("beta", "threshold"),
    "threshold": ("threshold", "value"),
    "elu": ("alpha",),
}
PARAMETERS |= {
    "leaky_relu": ("negative_slope",),
    "hardshrink": ("lambd",),
    "threshold_": ("value",),
}


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("value", [(0, 63), [1.0], "a", 1j])
def test_parameters_of_activations_are_numbers(name, value):
    """Each is named, on every kernel; several numbers are none."""
    given = {"threshold": 0.0, "value": 0.0} if name.startswith("threshold") else {}
    for parameter in PARAMETERS[name]:
        for kernel in ("reference", pyqref.kernels.in_use()):
            with (
                pyqref.kernels.use(kernel),
                pytest.raises(TypeError, match=rf"{name}\(\): {parameter} must be a number, got"),
            ):
                getattr(F, name)(pyqref.ones(3, 1), **{**given, parameter: value})


@pytest.mark.parametrize("name", ["sum", "nansum", "prod", "cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [pyqref.uint8, pyqref.int8, pyqref.int16, pyqref.int32])
def test_sums_have_the_dtype_that_is_asked_for(name, dtype):
    """Narrow integers wrap around, as in torch; by default integers are summed as int64."""
    x = pyqref.tensor([100.0, 100.0])
    place = (0,) if name.startswith("cum") else ()
    found = getattr(pyqref, name)(x, *place, dtype=dtype)
    exact = 100 * 100 if name.endswith("prod") else 100 + 100
    assert dtype is found.dtype
    last = found.reshape(-1)[-1].item()
    assert np.array(exact).astype(dtype.numpy_dtype).item() == last
    assert pyqref.int64 is getattr(pyqref, name)(x.to(dtype), *place).dtype


@pytest.mark.parametrize("channels", [False, True])
def test_fake_quantization_by_a_huge_scale(channels):
    """Results past float32 are infinite, and NumPy says nothing; warnings are errors here."""
    x = pyqref.tensor([[np.inf, -np.inf, 1.0]])
    grid = pyqref.full((3,), 3e38), pyqref.full((3,), 200, dtype=pyqref.int32)
    if channels:
        y = pyqref.fake_quantize_per_channel_affine(x, *grid, 1, 0, 255)
    else:
        y = pyqref.fake_quantize_per_tensor_affine(x, grid[0][0], grid[1][0], 0, 255)
    assert not pyqref.isnan(y).any()


LIMITED = """
import resource, pyqref
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
x = pyqref.ones(4, 4)
for call in (
    lambda: pyqref.zeros(2**30),
    lambda: pyqref.zeros(2**29 - 2**10),
    lambda: pyqref.arange(2**28 - 2**10),
    lambda: x.repeat_interleave(2**26, 0),
    lambda: x.to(pyqref.float64).repeat_interleave(2**24, 0),
    lambda: pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8).repeat_interleave(2**27, 0),
    lambda: pyqref.randn(2**28 - 2**10),
    lambda: x[0, 0].expand(2**29) + 1,
):
    try:
        call()
    except RuntimeError as error:
        print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux limits addresses")
def test_memory_of_a_limited_process():
    """An array beyond the process's own limit is a RuntimeError, before or while it is made."""
    program = [sys.executable, "-c", LIMITED]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    said = done.stdout.splitlines()
    assert 8 == len(said), done.stdout + done.stderr
    assert all("this process may have" in each or "does not suffice" in each for each in said)
    assert "needs 4294967296 bytes, but this process may have 2147483648" in said[0]
