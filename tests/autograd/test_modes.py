"""The modes switch recording on and off."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref


def _recorded(x: Any) -> bool:
    return bool((x * 2).requires_grad)


def test_no_grad_and_back() -> None:
    """The innermost block decides; leaving restores."""
    x = pyqref.ones(1, requires_grad=True)
    with pyqref.no_grad():
        assert not _recorded(x)
        with pyqref.enable_grad():
            assert _recorded(x)
        assert not _recorded(x)
    assert _recorded(x)


def test_an_error_restores_too() -> None:
    """no_grad ends with its block however that ends."""
    with pytest.raises(KeyError), pyqref.no_grad():
        raise KeyError
    assert pyqref.is_grad_enabled()


def test_set_grad_enabled_works_at_once() -> None:
    """A call holds until the next call; a block holds until its end."""
    pyqref.set_grad_enabled(False)
    assert not pyqref.is_grad_enabled()
    pyqref.set_grad_enabled(True)
    with pyqref.set_grad_enabled(False):
        assert not pyqref.is_grad_enabled()
    assert pyqref.is_grad_enabled()


@pytest.mark.parametrize("mode", [pyqref.no_grad, pyqref.inference_mode])
def test_as_decorators(mode: Any) -> None:
    """The modes decorate a function with and without brackets."""
    x = pyqref.ones(1, requires_grad=True)
    assert not mode()(_recorded)(x)
    assert not mode(_recorded)(x)


def test_inference_mode_can_be_off() -> None:
    """inference_mode(False) records."""
    with pyqref.inference_mode(False):
        assert _recorded(pyqref.ones(1, requires_grad=True))


def test_grad_of_results() -> None:
    """autograd.grad leaves the grad attributes alone."""
    x = pyqref.ones(2, requires_grad=True)
    y = x * 3
    of_x, of_y = pyqref.autograd.grad(y.sum(), [x, y])
    assert [3.0, 3.0] == of_x.tolist()
    assert [1.0, 1.0] == of_y.tolist()
    assert x.grad is None


def test_grad_of_an_unused_input() -> None:
    """An error, None or zeros, as asked."""
    x, unused = pyqref.ones(2, requires_grad=True), pyqref.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used"):
        pyqref.autograd.grad(x.sum(), unused)
    assert (None,) == pyqref.autograd.grad(x.sum(), unused, allow_unused=True)
    (zeros,) = pyqref.autograd.grad(x.sum(), unused, materialize_grads=True)
    assert [0.0, 0.0, 0.0] == zeros.tolist()


def test_backward_of_several_tensors() -> None:
    """Their gradients are added."""
    x = pyqref.ones(1, requires_grad=True)
    pyqref.autograd.backward([x * 2, x * 3], [pyqref.ones(1), pyqref.ones(1)])
    assert [5.0] == x.grad.tolist()
