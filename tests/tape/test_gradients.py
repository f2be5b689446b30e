"""The backward of every operation of the tape against central differences.

Inputs keep away from kinks and poles, so the bounds of ``gradcheck`` (1e-5 absolute, far
above the 1e-9 or so of differences in double precision) leave no room for a wrong formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.autograd import gradcheck

RNG = np.random.default_rng(7)


def _leaf(array: Any) -> Any:
    return pyqref.tensor(np.asarray(array, dtype=np.float64), requires_grad=True)


def _normal(*shape: int) -> Any:
    return _leaf(RNG.standard_normal(shape))


def _positive(*shape: int) -> Any:
    return _leaf(0.3 + RNG.random(shape))


def _apart(*shape: int) -> Any:
    """Different numbers at distances far above the step, none of them zero."""
    return _leaf(RNG.permutation(np.arange(np.prod(shape)) * 0.37 - 1.1).reshape(shape))


SMOOTH = ["neg", "square", "exp", "expm1", "exp2", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
SMOOTH += ["sigmoid", "erf", "erfc", "atan"]
POSITIVE = ["log", "log1p", "log2", "log10", "sqrt", "rsqrt", "reciprocal"]
UNARY: dict[str, Callable[..., Any]] = dict.fromkeys(SMOOTH, _normal)
UNARY |= dict.fromkeys(POSITIVE, _positive)
UNARY |= {"abs": _apart, "relu": _apart, "floor": _apart, "round": _apart, "sign": _apart}


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_array(name: str) -> None:
    """The derivative is that of the function."""
    assert gradcheck(getattr(pyqref, name), UNARY[name](3, 2))


@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "nearest", "midpoint"])
def test_quantiles(dim: int | None, interpolation: str) -> None:
    """The gradient goes to the neighbours of each quantile."""
    q = pyqref.tensor([0.0, 0.3, 1.0], dtype=pyqref.float64)

    def of(x: Any) -> Any:
        return pyqref.quantile(x, q, dim, interpolation=interpolation)

    assert gradcheck(of, _apart(5, 3))
    one = pyqref.quantile(_apart(5, 3), 0.3, dim, True, interpolation=interpolation)
    assert one.requires_grad
    assert 2 == one.ndim


def test_logit_inside_at_and_beyond_its_bounds() -> None:
    """``1 / (x (1 - x))``; beyond, nan without ``eps`` and 0 with it. As in torch."""
    for eps, beyond in ((None, "nan"), (0.1, "0.0")):
        x = _leaf([0.5, 0.25, -1.0, 2.0])
        pyqref.logit(x, eps).sum().backward()
        assert ["4.0", "5.33333", beyond, beyond] == [f"{each:.6}" for each in x.grad.tolist()]


def test_inverse_sine_and_cosine() -> None:
    """The derivatives inside (-1, 1)."""
    x = _leaf([-0.7, -0.1, 0.4, 0.8])
    assert gradcheck(pyqref.asin, x)
    assert gradcheck(pyqref.acos, x)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": pyqref.add,
    "sub": pyqref.sub,
    "mul": pyqref.mul,
    "div": pyqref.div,
    "pow": pyqref.pow,
    "maximum": pyqref.maximum,
    "minimum": pyqref.minimum,
    "atan2": pyqref.atan2,
    "remainder": pyqref.remainder,
    "fmod": pyqref.fmod,
    "hypot": pyqref.hypot,
    "logaddexp": pyqref.logaddexp,
    "where": lambda a, b: pyqref.where(pyqref.tensor([True, False]), a, b),
    "lerp": lambda a, b: pyqref.lerp(a, b, 0.3),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("shapes", [((3, 2), (3, 2)), ((3, 2), (2,)), ((3, 1), (1, 2)), ((), (2,))])
def test_function_of_two_arrays_with_broadcasting(name: str, shapes: Any) -> None:
    """Gradients are summed over the axes along which an operand was repeated."""
    a = _leaf(2.13 + np.sort(RNG.random(shapes[0]), axis=None).reshape(shapes[0]))
    b = _leaf(0.41 + 0.2 * RNG.random(shapes[1]))
    assert gradcheck(BINARY[name], (a, b))


@pytest.mark.parametrize("exponent", [2, 3, 0.5, -0.5, -1, -2, 1.7, 0])
def test_power_of_a_number(exponent: float) -> None:
    """The gradient is right, also where the power is computed as products or roots."""
    assert gradcheck(lambda x: x**exponent, _positive(4))


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, **kw: x.sum(**kw),
    "mean": lambda x, **kw: x.mean(**kw),
    "prod": lambda x, **kw: x.prod(**kw),
    "var": lambda x, **kw: x.var(**kw),
    "std": lambda x, **kw: x.std(**kw),
    "amax": lambda x, **kw: x.amax(**kw),
    "amin": lambda x, **kw: x.amin(**kw),
    "norm": lambda x, **kw: x.norm(**kw),
    "norm1": lambda x, **kw: x.norm(1, **kw),
    "norm3": lambda x, **kw: x.norm(3, **kw),
    "norm_inf": lambda x, **kw: x.norm(float("inf"), **kw),
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("options", [{}, {"dim": 1}, {"dim": (0, 2), "keepdim": True}])
def test_reduction(name: str, options: dict[str, Any]) -> None:
    """Over all axes, over one, over several that stay with length 1."""
    assert gradcheck(lambda x: REDUCTIONS[name](x, **options), _apart(2, 3, 2))


ALONG: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(1),
    "min": lambda x: x.min(0, keepdim=True),
    "max_all": lambda x: x.max(),
    "median": lambda x: x.median(),
    "msort": lambda x: x.msort(),
    "logsumexp": lambda x: x.logsumexp(1),
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(0),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1),
    "sort": lambda x: x.sort(1, descending=True),
    "topk": lambda x: x.topk(2, dim=0),
    "cummax": lambda x: x.cummax(1)[0],
}


@pytest.mark.parametrize("name", ALONG)
def test_function_along_an_axis(name: str) -> None:
    """Gradients go to the elements that were chosen."""
    assert gradcheck(ALONG[name], _apart(3, 4))


SHAPES: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: x.reshape(4, 6),
    "view": lambda x: x.view(-1),
    "flatten": lambda x: x.flatten(1),
    "unflatten": lambda x: x.unflatten(2, (2, 2)),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 2),
    "expand": lambda x: x.unsqueeze(1).expand(2, 5, 3, 4),
    "squeeze": lambda x: x[:1].squeeze(),
    "select": lambda x: x.select(1, -1),
    "narrow": lambda x: x.narrow(2, 1, 2),
    "slice": lambda x: x[:, ::2, 1:],
    "as_strided": lambda x: x.as_strided((3, 3), (1, 2), 1),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "flip": lambda x: x.flip(0, 2),
    "rot90": lambda x: x.rot90(1, (0, 2)),
    "roll": lambda x: x.roll((1, 2), (0, 2)),
    "repeat": lambda x: x.repeat(2, 1, 1, 2),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(1),
    "cat": lambda x: pyqref.cat([x, 2 * x], 1),
    "stack": lambda x: pyqref.stack([x, 2 * x], -1),
    "split": lambda x: x.split(2, 2),
    "unfold": lambda x: x.unfold(2, 3, 1),
    "clone": lambda x: x.clone(),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(),
    "movedim": lambda x: x.movedim(0, 2),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape_function(name: str) -> None:
    """Gradients go back to where the elements came from."""
    assert gradcheck(lambda x: SHAPES[name](x * 1), _normal(2, 3, 4))


CHOICES: dict[str, Callable[[Any], Any]] = {
    "index": lambda x: x[pyqref.tensor([0, 2, 0])],
    "index_two": lambda x: x[pyqref.tensor([0, 2]), pyqref.tensor([1, 1])],
    "mask": lambda x: x[pyqref.tensor([True, False, True])],
    "index_select": lambda x: x.index_select(1, pyqref.tensor([3, 0, 3])),
    "gather": lambda x: x.gather(1, pyqref.tensor([[0, 0], [1, 3], [2, 2]])),
    "take": lambda x: x.take(pyqref.tensor([0, 5, 5])),
    "masked_select": lambda x: x.masked_select(pyqref.tensor([True, False, True, True])),
    "masked_fill": lambda x: x.masked_fill(pyqref.tensor([True, False, True, True]), 2.0),
    "scatter": lambda x: (2 * x).scatter(1, pyqref.tensor([[0], [1], [2]]), x[:, :1]),
    "scatter_add": lambda x: x.scatter_add(0, pyqref.tensor([[0, 0, 1, 2]]), x[:1] * 3),
    "index_add": lambda x: x.index_add(0, pyqref.tensor([1, 1]), x[:2] * 2),
    "index_put": lambda x: x.index_put((pyqref.tensor([0, 2]),), x[1] * 3),
    "clamp": lambda x: x.clamp(-0.5, 1.0),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choice_of_elements(name: str) -> None:
    """An element chosen twice gets both gradients; one that was overwritten gets none."""
    assert gradcheck(CHOICES[name], _apart(3, 4))


PRODUCTS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "matrix_matrix": (pyqref.matmul, [(3, 4), (4, 2)]),
    "matrix_vector": (pyqref.matmul, [(3, 4), (4,)]),
    "vector_matrix": (pyqref.matmul, [(4,), (4, 2)]),
    "vector_vector": (pyqref.matmul, [(4,), (4,)]),
    "stacks": (pyqref.matmul, [(2, 3, 4), (2, 4, 2)]),
    "stack_matrix": (pyqref.matmul, [(2, 3, 4), (4, 2)]),
    "matrix_stack": (pyqref.matmul, [(3, 4), (2, 4, 2)]),
    "stack_vector": (pyqref.matmul, [(2, 3, 4), (4,)]),
    "addmm": (lambda a, b, c: pyqref.addmm(a, b, c, beta=0.5, alpha=2), [(2,), (3, 4), (4, 2)]),
    "outer": (pyqref.outer, [(3,), (2,)]),
    "einsum": (lambda a, b: pyqref.einsum("bij,bkj->ik", a, b), [(2, 3, 4), (2, 2, 4)]),
    "einsum_sum": (lambda a, b: pyqref.einsum("ijk,jl->i", a, b), [(2, 3, 4), (3, 2)]),
    "einsum_diagonal": (lambda a: pyqref.einsum("ii->i", a), [(3, 3)]),
    "tensordot": (lambda a, b: pyqref.tensordot(a, b, 2), [(2, 3, 4), (3, 4, 2)]),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_product(name: str) -> None:
    """Gradients of all operands."""
    function, shapes = PRODUCTS[name]
    assert gradcheck(function, tuple(_normal(*shape) for shape in shapes))


def test_gradcheck_finds_a_wrong_derivative() -> None:
    """A derivative that is twice too large is refused, and the Jacobians are shown."""

    class Wrong(pyqref.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0"):
        gradcheck(Wrong.apply, _normal(2))
    assert not gradcheck(Wrong.apply, _normal(2), raise_exception=False)


def test_gradcheck_wants_double_precision() -> None:
    """Differences in single precision would prove nothing."""
    with pytest.raises(ValueError, match="inputs must be float64"):
        gradcheck(pyqref.exp, pyqref.ones(2, requires_grad=True))


def test_a_rounded_quotient_has_the_gradient_zero() -> None:
    """It is constant between its steps, for both operands."""
    a = pyqref.tensor([7.0, -7.0], requires_grad=True)
    b = pyqref.tensor([2.0], requires_grad=True)
    quotient = a // b
    assert [3.0, -4.0] == quotient.tolist()
    quotient.sum().backward()
    assert [0.0, 0.0] == a.grad.tolist()
    assert [0.0] == b.grad.tolist()


def test_product_over_no_elements() -> None:
    """Its gradient has no elements either."""
    x = pyqref.zeros(0, 3, 2, requires_grad=True)
    x.prod(1).sum().backward()
    assert (0, 3, 2) == x.grad.shape
