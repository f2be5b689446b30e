"""Hooks around calls, forward and backward."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import pyqref
from pyqref import nn
from pyqref.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class Double(nn.Module):
    def forward(self, x, *, plus=0):
        return x * 2 + plus


def test_pre_hook_replaces_arguments() -> None:
    """The result of a pre-hook becomes the arguments; None leaves them."""
    module = Double()
    module.register_forward_pre_hook(lambda m, args: None)
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    assert 8 == module(3)


def test_pre_hook_with_kwargs() -> None:
    """With kwargs, both are given and both returned."""
    module = Double()
    module.register_forward_pre_hook(lambda m, a, k: (a, {"plus": 5}), with_kwargs=True)
    assert 11 == module(3, plus=1)
    module.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="tuple of"):
        module(3)


def test_forward_hooks_in_order() -> None:
    """Hooks run in order; ``prepend`` puts one first; each sees the result so far."""
    module = Double()
    module.register_forward_hook(lambda m, args, out: out + 1)
    module.register_forward_hook(lambda m, args, out: out * 10, prepend=True)
    module.register_forward_hook(lambda m, args, kwargs, out: (out, kwargs), with_kwargs=True)
    assert (61, {"plus": 0}) == module(3, plus=0)


def test_handle_removes() -> None:
    """A removed hook is not called; removing twice is harmless."""
    module = Double()
    handle = module.register_forward_hook(lambda m, args, out: None or -1)
    assert -1 == module(3)
    handle.remove()
    handle.remove()
    assert 6 == module(3)
    with module.register_forward_hook(lambda m, args, out: 0):
        assert 0 == module(3)
    assert 6 == module(3)


def test_always_call() -> None:
    """A hook with ``always_call`` runs even if forward raises."""
    module = Double()
    calls = []
    module.register_forward_hook(lambda m, args, out: calls.append(out), always_call=True)
    module.register_forward_hook(lambda m, args, out: calls.append("never"))
    with pytest.raises(TypeError):
        module(object())
    assert [None] == calls


def test_always_call_after_a_pre_hook_that_raised() -> None:
    """The hook sees the arguments as the pre-hooks before it left them."""
    module = Double()
    calls = []
    module.register_forward_pre_hook(lambda m, args: args[0] + 1)
    module.register_forward_pre_hook(lambda m, args: 1 / 0)
    module.register_forward_hook(lambda m, args, out: calls.append(args), always_call=True)
    with pytest.raises(ZeroDivisionError):
        module(3)
    assert [(4,)] == calls


def test_always_call_that_raises_itself() -> None:
    """The error of the call is raised all the same, and the hooks behind run; so in torch."""
    module = Double()
    calls = []
    module.register_forward_hook(lambda m, args, out: {}[3], always_call=True)
    module.register_forward_hook(lambda m, args, out: calls.append(out), always_call=True)
    with pytest.warns(UserWarning, match="of Double raised KeyError: 3"), pytest.raises(TypeError):
        module(object())
    assert [None] == calls


def test_global_hooks() -> None:
    """Hooks of all modules run before a module's own."""
    calls = []
    module = Double()
    module.register_forward_hook(lambda m, args, out: calls.append("own"))
    with (
        register_module_forward_pre_hook(lambda m, args: calls.append("pre")),
        register_module_forward_hook(lambda m, args, out: calls.append("every")),
    ):
        module(3)
    module(3)
    assert ["pre", "every", "own", "own"] == calls


def test_hook_must_be_callable() -> None:
    """Something that cannot be called is refused at once."""
    with pytest.raises(TypeError, match="callable"):
        Double().register_forward_hook(3)


def test_full_backward_hook() -> None:
    """The hook gets the gradients of inputs and outputs, and may replace the first."""
    module = Double()
    seen = []

    def hook(m, grad_input, grad_output):
        seen.append((grad_input[0].tolist(), grad_output[0].tolist()))
        return (grad_input[0] * 10,)

    module.register_full_backward_hook(hook)
    x = pyqref.ones(2, requires_grad=True)
    (module(x) * 3).sum().backward()
    assert [([6.0, 6.0], [3.0, 3.0])] == seen
    assert [60.0, 60.0] == x.grad.tolist()


def test_full_backward_hook_without_input_gradient() -> None:
    """If no input wants a gradient the hook still runs, with None."""

    class Weighted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(pyqref.ones(2))

        def forward(self, x):
            return x * self.weight

    module = Weighted()
    seen = []
    module.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go[0].tolist())))
    module(pyqref.ones(2)).sum().backward()
    assert [((None,), [1.0, 1.0])] == seen
    assert [1.0, 1.0] == module.weight.grad.tolist()


def test_backward_pre_hook() -> None:
    """A pre-hook may replace the gradient of the output."""
    module = Double()
    module.register_full_backward_pre_hook(lambda m, grad_output: (grad_output[0] * 100,))
    x = pyqref.ones(2, requires_grad=True)
    module(x).sum().backward()
    assert [200.0, 200.0] == x.grad.tolist()


def test_backward_hook_wrong_number() -> None:
    """A hook that returns another number of gradients is an error."""
    module = Double()
    module.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    x = pyqref.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="returned 2 gradients, expected 1"):
        module(x).sum().backward()


def test_backward_hook_on_other_outputs() -> None:
    """A module that returns a dictionary is warned of: its hook never runs."""

    class Named(nn.Module):
        def forward(self, x):
            return {"x": x}

    module = Named()
    module.register_full_backward_hook(lambda m, gi, go: None)
    with pytest.warns(UserWarning, match="received dict from Named"):
        module(pyqref.ones(1, requires_grad=True))


def test_backward_hook_is_quiet_without_gradients() -> None:
    """Under no_grad nothing is recorded and no hook runs."""
    module = Double()
    module.register_full_backward_hook(lambda m, gi, go: pytest.fail("called"))
    with pyqref.no_grad():
        assert not module(pyqref.ones(1, requires_grad=True)).requires_grad


def test_backward_hook_keeps_named_tuples() -> None:
    """The type of a named tuple survives the hook's detour."""

    class Pair(NamedTuple):
        left: object
        right: object

    class Give(nn.Module):
        def forward(self, x):
            return Pair(x * 2, "text")

    module = Give()
    module.register_full_backward_hook(lambda m, gi, go: None)
    result = module(pyqref.ones(1, requires_grad=True))
    assert isinstance(result, Pair)
    assert "text" == result.right


def test_backward_hook_with_several_inputs_and_outputs() -> None:
    """Gradients stand at the places of their arguments; other arguments have None."""

    class Split(nn.Module):
        def forward(self, x, n, y):
            return x * n, y * n

    seen = []
    module = Split()
    module.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x, y = pyqref.ones(1, requires_grad=True), pyqref.ones(1)
    first, second = module(x, 3, y)
    (first + second).sum().backward()
    ((grad_input, grad_output),) = seen
    assert 3.0 == grad_input[0].item()
    assert (None, None) == grad_input[1:]
    assert [1.0] == grad_output[0].tolist()
