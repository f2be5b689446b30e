"""``autograd.functional``: Jacobians, and products with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.autograd.functional import jacobian, jvp, vjp

A = np.random.default_rng(0).standard_normal((3, 2)).astype(np.float32)


def linear(library: Any) -> Any:
    return lambda x: library.from_numpy(A) @ x


def two(x: Any, y: Any) -> tuple[Any, Any]:
    return (x * y).sum(0), x**2


def test_of_a_matrix() -> None:
    """The Jacobian of A x is A; v^T A and A v are the products."""
    x = pyqref.tensor([1.0, -2.0])
    f = linear(pyqref)
    np.testing.assert_array_equal(A, jacobian(f, x).numpy())
    v = pyqref.tensor([1.0, 0.0, -1.0])
    value, product = vjp(f, x, v)
    np.testing.assert_array_equal(f(x).numpy(), value.numpy())
    np.testing.assert_array_equal(A[0] - A[2], product.numpy())
    np.testing.assert_array_equal(A[:, 1], jvp(f, x, pyqref.tensor([0.0, 1.0]))[1].numpy())
    assert not x.requires_grad


def test_as_torch() -> None:
    """Shapes and numbers of nested results, of functions of two inputs with two outputs."""
    torch = pytest.importorskip("torch")
    found = []
    for library, functional in ((torch, torch.autograd.functional), (pyqref, None)):
        functional = functional or pyqref.autograd.functional
        x, y = (library.from_numpy(each) for each in (A, A[::-1].copy()))
        v = (library.ones(2), library.ones(3, 2))
        results = [
            functional.jacobian(two, (x, y)),
            functional.jacobian(linear(library), x[0]),
            functional.vjp(two, (x, y), v),
            functional.jvp(two, (x, y), (x, y)),
        ]
        found.append([each.detach().numpy() for result in results for each in flat(result)])
    for theirs, ours in zip(*found, strict=True):
        # Sums of at most 6 products of numbers below 4.
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=6 * 16 * 2.0**-24)


def flat(result: Any) -> list[Any]:
    return [x for each in result for x in flat(each)] if isinstance(result, tuple) else [result]


def test_refusals() -> None:
    """Errors name the function or input that has no derivative, and say what to do."""
    x = pyqref.tensor([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"pass a tensor of the shape \(2,\)"):
        vjp(lambda x: x, x)
    with pytest.raises(RuntimeError, match=r"v must have the shapes \[\(2,\)\], got \[\(3,\)\]"):
        vjp(lambda x: x, x, pyqref.ones(3))
    constant = pyqref.ones(2)
    assert [[0.0, 0.0], [0.0, 0.0]] == jacobian(lambda x: constant, x).tolist()
    with pytest.raises(RuntimeError, match="does not depend on input 0; leave strict out"):
        jacobian(lambda x: constant, x, strict=True)
    with pytest.raises(TypeError, match=r"inputs must be a floating point Tensor.*got list at 0"):
        jacobian(lambda x: x, [1.0])
    with pytest.raises(TypeError, match=r"func must return a Tensor.*\['float'\]"):
        jacobian(lambda x: 1.0, x)
    with pytest.raises(ValueError, match="strategy must be 'reverse-mode'"):
        jacobian(lambda x: x, x, strategy="forward-mode")
    with pytest.raises(RuntimeError, match="create_graph=True is not supported"):
        vjp(lambda x: x, x, pyqref.ones(2), create_graph=True)
