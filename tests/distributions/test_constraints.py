"""Which numbers and matrices are in a set."""

from __future__ import annotations

import pyqref
from pyqref.distributions import constraints


def test_numbers() -> None:
    """Each by itself; nan is in none."""
    x = pyqref.tensor([-1.0, 0.0, 2.0, float("nan")])
    assert [False, False, True, False] == constraints.positive.check(x).tolist()
    assert [False, True, True, False] == constraints.nonnegative.check(x).tolist()
    assert [True, True, True, False] == constraints.real.check(x).tolist()


def test_positive_definite() -> None:
    """Symmetric matrices whose eigenvalues are positive."""
    x = pyqref.tensor(
        [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]
    )
    assert [True, False, False] == constraints.positive_definite.check(x).tolist()


def test_a_gradient_of_ones_own() -> None:
    """``register_autograd``: the context carries what ``setup_context`` keeps."""
    cube = pyqref.library.register("constraints_test::cube", lambda x, power=3: x**power)
    pyqref.library.register_autograd(
        cube,
        lambda ctx, grad: (grad * ctx.saved_tensors[0] * 100, None),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
    )
    x = pyqref.tensor([2.0], requires_grad=True)
    assert [8.0] == cube(x).tolist()
    cube(x, power=2).backward()
    assert [200.0] == x.grad.tolist()
