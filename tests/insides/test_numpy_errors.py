"""Operations warn of nothing, and leave what NumPy warns of elsewhere as it was."""

from __future__ import annotations

from contextvars import Context
from decimal import getcontext, localcontext
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref._insides.numpy_errors import quiet, way_to_ignore


def test_quiet_ends_with_the_block() -> None:
    """The setting ends with the block, also after an error, and inside another setting."""
    with np.errstate(all="raise"):
        with quiet():
            assert np.isinf(np.float32([1.0]) / 0)
        with pytest.raises(KeyError), quiet():
            raise KeyError
        with pytest.raises(FloatingPointError):
            np.float32([1.0]) / 0


def test_numpy_is_told_wherever_it_keeps_the_setting() -> None:
    """A context in which it leaves nothing stands for a NumPy that keeps the setting elsewhere."""

    class Empty:
        def run(self, *args: Any, **kwargs: Any) -> None:
            pass

        def items(self) -> list[Any]:
            return []

    before = np.geterr()
    for context in (Context(), Empty()):
        errors, ignored = way_to_ignore(context)
        token = errors.set(ignored)
        assert {"ignore"} == set(np.geterr().values())
        errors.reset(token)
        assert before == np.geterr()


def test_operations_and_their_gradients_are_quiet() -> None:
    """1 / 0 is inf, and its gradient -inf; an error in between changes no setting."""
    before = np.geterr()
    x = pyqref.zeros(1, requires_grad=True)
    with pytest.raises(RuntimeError, match="size of tensor"):
        pyqref.ones(2) + pyqref.ones(3)
    (1 / x).backward()
    assert [-np.inf] == x.grad.tolist()
    assert before == np.geterr()


def test_a_function_sees_the_context_of_its_caller() -> None:
    """Both ways run where the caller set its context variables, such as decimal's."""
    seen = []

    class Doubled(pyqref.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            seen.append(getcontext().prec)
            return 2 * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            seen.append(getcontext().prec)
            return 2 * grad

    with localcontext() as context:
        context.prec = 7
        Doubled.apply(pyqref.ones(1, requires_grad=True)).backward()
    assert [7, 7] == seen
