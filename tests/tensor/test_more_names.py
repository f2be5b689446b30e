"""Typed tensors, histograms, buffers, in-place forms, the inverse error function, assertions."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import init

TYPED = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "ByteTensor": "uint8",
    "CharTensor": "int8",
    "ShortTensor": "int16",
    "IntTensor": "int32",
    "LongTensor": "int64",
    "BoolTensor": "bool",
}


@pytest.mark.parametrize("name", TYPED)
def test_typed_tensors(name: str) -> None:
    """Made from elements, sizes, arrays; recognised by their type alone."""
    kind, dtype = getattr(pyqref, name), getattr(pyqref, TYPED[name])
    made = kind([[0, 1], [1, 0]])
    assert (dtype, [[0, 1], [1, 0]]) == (made.dtype, made.tolist())
    assert (dtype, (2, 3)) == (kind(2, 3).dtype, tuple(kind(2, 3).shape))
    assert [(0,), (4,), (2, 2)] == [tuple(t.shape) for t in (kind(), kind(4), kind(made.shape))]
    assert [0, 1] == kind(np.array([0.0, 1.0])).tolist()
    assert isinstance(made, kind)
    assert not isinstance([0], kind)
    others = [each for each in TYPED if each != name]
    assert not any(isinstance(made, getattr(pyqref, each)) for each in others)
    with pytest.raises(TypeError, match=rf"expected {name} \(got .*use tensor.to\({dtype}\)"):
        kind(getattr(pyqref, others[0])([1]))
    assert kind(made.to(dtype)).tolist() == made.tolist()


def test_erfinv() -> None:
    """The quantile of the normal distribution, in double to a few units, and its derivative."""
    chances = np.concatenate([np.linspace(0.001, 0.999, 999), 2.0 ** -np.arange(2, 50)])
    expected = np.array([NormalDist().inv_cdf(each) for each in chances])
    found = pyqref.erfinv(pyqref.from_numpy(2 * chances - 1)).numpy() * math.sqrt(2)
    # ``2 p - 1`` is rounded: near an end the relative error of its distance to 1 counts.
    conditions = 2.0**-53 / np.minimum(chances, 1 - chances)
    assert (np.abs(expected - found) <= 2.0**-49 + 2 * conditions).all()
    x = pyqref.linspace(-0.9, 0.9, 19, dtype=pyqref.float64).requires_grad_()
    assert pyqref.autograd.gradcheck(pyqref.erfinv, (x,))
    ends = pyqref.erfinv(pyqref.tensor([-1.0, 1.0, 2.0, math.nan]))
    assert "[-inf, inf, nan, nan]" == str(ends.tolist())


def test_histogram() -> None:
    """Bins are half open but the last; weights, densities and given edges."""
    x = pyqref.tensor([[0.0, 1.0, 1.5], [2.0, math.nan, 4.0]])
    hist, edges = pyqref.histogram(x, 4, range=(0.0, 4.0))
    assert ([1.0, 2.0, 1.0, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0]) == (hist.tolist(), edges.tolist())
    weight = pyqref.tensor([[1.0, 2.0, 4.0], [8.0, 16.0, 32.0]])
    given = pyqref.tensor([0.0, 1.0, 2.0])
    assert [1.0, 14.0] == x.histogram(given, weight=weight).hist.tolist()
    density = pyqref.histogram(x, pyqref.tensor([0.0, 1.0, 4.0]), density=True)
    assert np.allclose([0.2, 0.8 / 3], density.hist.numpy(), rtol=2.0**-22)
    assert str(density).startswith("pyqref.return_types.histogram(\nhist=tensor(")


def test_frombuffer() -> None:
    """Memory is shared, and read from an offset on."""
    memory = bytearray(range(12))
    whole = pyqref.frombuffer(memory, dtype=pyqref.uint8)
    part = pyqref.frombuffer(memory, dtype=pyqref.int16, count=2, offset=4)
    assert (list(range(12)), [4 + 256 * 5, 6 + 256 * 7]) == (whole.tolist(), part.tolist())
    part[0] = 1
    assert [1, 0] == list(memory[4:6])
    assert [1] == pyqref.frombuffer(b"\x01", dtype=pyqref.int8).add_(0).tolist()


IN_PLACE: dict[str, tuple[Any, ...]] = {
    "tril_": (),
    "triu_": (1,),
    "cumsum_": (0,),
    "cumprod_": (1,),
    "deg2rad_": (),
    "rad2deg_": (),
    "erfc_": (),
    "erfinv_": (),
    "exp2_": (),
    "logit_": (0.25,),
    "hypot_": (pyqref.ones(2, 2),),
    "xlogy_": (pyqref.ones(2, 2) * 2,),
    "greater_": (0.25,),
    "greater_equal_": (0.25,),
    "less_": (0.25,),
    "less_equal_": (0.25,),
    "not_equal_": (0.25,),
    "swapaxes_": (0, 1),
    "swapdims_": (0, 1),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_forms(name: str) -> None:
    """The tensor itself has the values of the other form, and gradients go through."""
    values = [[0.25, 0.5], [0.125, 0.75]]
    x = pyqref.tensor(values)
    expected = getattr(x, name.removesuffix("_"))(*IN_PLACE[name]).float()
    assert getattr(x, name)(*IN_PLACE[name]) is x
    assert expected.tolist() == x.tolist()


def test_addbmm_in_place() -> None:
    """``addbmm_`` adds the sum of products to the matrix."""
    x, batch = pyqref.ones(2, 2), pyqref.ones(3, 2, 2)
    assert [[7.0, 7.0], [7.0, 7.0]] == x.addbmm_(batch, batch).tolist()


def test_diff_with_ends() -> None:
    """Values before and after count as neighbours."""
    x, one = pyqref.tensor([[1, 3], [4, 9]]), pyqref.zeros(2, 1, dtype=pyqref.int64)
    assert [[1, 2, -3], [4, 5, -9]] == pyqref.diff(x, prepend=one, append=one + 0).sub(
        pyqref.tensor([[0, 0, 0], [0, 0, 0]])
    ).tolist()


def test_sizes_by_name() -> None:
    """``rand(size=...)`` draws as ``rand(...)`` does."""
    for function in (pyqref.rand, pyqref.randn):
        pyqref.manual_seed(1)
        expected = function(2, 3)
        pyqref.manual_seed(1)
        assert pyqref.equal(expected, function(size=(2, 3)))
    assert (2, 3) == tuple(pyqref.zeros(size=(2, 3)).shape)


def test_assertions_are_recorded() -> None:
    """In a graph they are nodes that stay, and hold for every call."""

    def checked(x: Any) -> Any:
        pyqref._assert(x.shape[0] == 2, "two rows")
        pyqref._check(x.shape[1] == 1, lambda: "one column")
        return x + 1

    traced = pyqref.fx.symbolic_trace(checked)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    assert [[2.0], [2.0]] == traced(pyqref.ones(2, 1)).tolist()
    with pytest.raises(AssertionError, match="two rows"):
        traced(pyqref.ones(1, 1))
    with pytest.raises(RuntimeError, match="one column"):
        traced(pyqref.ones(2, 2))


def test_old_names() -> None:
    """Names that torch keeps for scripts of long ago."""
    for name in ("constant", "normal", "uniform", "xavier_normal", "kaiming_uniform"):
        assert getattr(init, f"{name}_") is getattr(init, name)
    assert pyqref.nn.NLLLoss is pyqref.nn.NLLLoss2d
    assert pyqref.nn.utils.clip_grad_norm_ is pyqref.nn.utils.clip_grad_norm


def test_functional_call() -> None:
    """Gradients go to the given tensors; tied ones change together; the module stays."""
    model = pyqref.nn.Sequential(pyqref.nn.Linear(1, 1), pyqref.nn.Linear(1, 1))
    model[1].weight = model[0].weight
    weight = pyqref.tensor([[3.0]], requires_grad=True)
    zero = pyqref.zeros(1)
    given = ({"0.weight": weight}, {"0.bias": zero, "1.bias": zero})
    before = model[0].weight
    result = pyqref.func.functional_call(model, given, (pyqref.ones(1, 1),))
    result.sum().backward()
    assert ([[9.0]], [[6.0]]) == (result.tolist(), weight.grad.tolist())
    assert model[0].weight is before is model[1].weight
    with pytest.raises(RuntimeError, match=r"unexpected keys \['two'\], missing"):
        pyqref.func.functional_call(model, {"two": zero}, (zero,), strict=True)
    with pytest.raises(ValueError, match="multiple dictionaries"):
        pyqref.func.functional_call(model, ({"a": zero}, {"a": zero}), (zero,))


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: pyqref.histogram(pyqref.ones(2), 0), RuntimeError, "bins must be > 0, got 0"),
        (lambda: pyqref.histogram(pyqref.ones(2).int(), 1), RuntimeError, "floating point"),
        (lambda: pyqref.histogram(pyqref.ones(2), 2, range=1), TypeError, "two numbers, got 1"),
        (
            lambda: pyqref.histogram(pyqref.ones(2), pyqref.tensor([1.0, 0.0])),
            RuntimeError,
            "must rise",
        ),
        (
            lambda: pyqref.histogram(pyqref.ones(2), 2, weight=pyqref.ones(3)),
            RuntimeError,
            r"weight must have the shape .* got \[3\]",
        ),
        (lambda: pyqref.frombuffer(3, dtype=pyqref.int8), TypeError, "buffer protocol, got 3"),
        (lambda: pyqref.frombuffer(b"", dtype=pyqref.int8), ValueError, "must not be 0"),
        (lambda: pyqref.frombuffer(b"abc", dtype=pyqref.int16), ValueError, "multiple of"),
        (
            lambda: pyqref.frombuffer(b"ab", dtype=pyqref.int8, count=3),
            ValueError,
            "not be greater than actual",
        ),
        (lambda: pyqref.frombuffer(b"ab", dtype=pyqref.int8, offset=2), ValueError, "offset"),
    ],
)
def test_errors(action: Callable[[], Any], error: type[Exception], message: str) -> None:
    """Impossible arguments are refused with their value."""
    with pytest.raises(error, match=message):
        action()


def test_as_torch() -> None:
    """Values of torch: to the bit where they are sums of integers, otherwise a few units."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        x, unit = rng.standard_normal(1000).astype(dtype), np.finfo(dtype).eps
        theirs, ours = torch.from_numpy(x), pyqref.from_numpy(x)
        for options in ({}, {"range": (-1.0, 2.0)}):
            expected, actual = torch.histogram(theirs, 17, **options), ours.histogram(17, **options)
            assert expected.hist.tolist() == actual.hist.tolist()
            # An edge is one product and one sum.
            assert np.abs(expected.bin_edges.numpy() - actual.bin_edges.numpy()).max() <= 4 * unit
        inside = np.clip(x, -0.999, 0.999)
        expected = torch.erfinv(torch.from_numpy(inside)).numpy()
        found = pyqref.erfinv(pyqref.from_numpy(inside)).numpy()
        assert (np.abs(expected - found) <= 4 * unit * np.abs(expected)).all()
    for name in TYPED:
        made = getattr(torch, name)([0, 1])
        assert str(made.dtype)[6:] == TYPED[name]
