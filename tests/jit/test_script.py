"""``script`` and ``trace`` copy a model: what is shared, what is not, what the copy can do."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
from jit.models import KINDS, X, net

import pyqref
from pyqref import jit, nn


class Methods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.factor = 3

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.factor if not jit.is_scripting() else x

    @jit.export
    def twice(self, x: Any) -> Any:
        return 2 * x

    @jit.ignore
    def ignored(self, x: Any) -> Any:
        return x

    @jit.unused
    def unused(self, x: Any) -> Any:
        return x


@pytest.mark.parametrize("make", [jit.script, lambda m: jit.trace(m, pyqref.ones(1, 2))])
def test_a_copy_shares_parameters_only(make: Any) -> None:
    """Attributes and structure that change later stay in the model; numbers are the model's own."""
    model = Methods()
    scripted = make(model)
    assert isinstance(scripted, jit.ScriptModule)
    assert "Methods" == scripted.original_name
    assert list(model.state_dict()) == list(scripted.state_dict())
    assert ["", "layer"] == [name for name, _ in scripted.named_modules()]
    assert scripted.layer.weight is model.layer.weight
    before = scripted(pyqref.ones(1, 2))
    model.factor = 5
    model.extra = nn.Linear(1, 1)
    assert pyqref.equal(before, scripted(pyqref.ones(1, 2)))
    assert 3 == scripted.factor
    assert not hasattr(scripted, "extra")
    with pyqref.no_grad():
        model.layer.weight.zero_()
        model.layer.bias.zero_()
    assert 0 == scripted(pyqref.ones(1, 2)).abs().sum().item()
    model.layer = nn.Linear(2, 2)
    assert 0 == scripted(pyqref.ones(1, 2)).abs().sum().item()


def test_a_copy_has_methods_modes_and_training() -> None:
    """Its own mode; marked methods; gradients; further attributes; another copy."""
    model = Methods()
    scripted = jit.script(model)
    assert 2.0 == scripted.twice(pyqref.ones(1)).item()
    assert 1.0 == scripted.ignored(pyqref.ones(1)).item() == scripted.unused(pyqref.ones(1)).item()
    scripted.eval()
    assert (False, False, True) == (scripted.training, scripted.layer.training, model.training)
    scripted.factor = 7
    assert (7, 3) == (scripted.factor, model.factor)
    scripted(pyqref.ones(1, 2)).sum().backward()
    assert model.layer.weight.grad is not None
    deep = copy.deepcopy(scripted)
    with pyqref.no_grad():
        scripted.layer.weight.zero_()
    assert deep.layer.weight.abs().sum().item() > 0
    assert deep._model.layer is deep.layer
    assert "original_name=Methods" in repr(scripted)
    scripted.load_state_dict(deep.state_dict())
    assert pyqref.equal(scripted.layer.weight, deep.layer.weight)
    assert jit.script(scripted) is scripted


def test_running_statistics_are_the_models_own() -> None:
    """A model and its copy share buffers, just as they share parameters."""
    model = net()
    scripted = jit.script(model)
    model(X)
    assert 1 == scripted.bn.num_batches_tracked.item()


def test_containers_and_hooks() -> None:
    """A scripted Sequential is indexed and walked; a hook on the copy runs once."""
    scripted = jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert 2 == len(scripted) == len(list(scripted))
    assert isinstance(scripted[1], nn.ReLU)
    calls: list[int] = []
    scripted.register_forward_hook(lambda *_: calls.append(1))
    scripted(pyqref.ones(1, 2))
    assert [1] == calls


def test_functions_classes_and_what_is_neither() -> None:
    """A function is called as it is; a class stays itself; a class of modules, a number do not."""

    @jit.script
    def double(x: Any) -> Any:
        return 2 * x

    assert isinstance(double, jit.ScriptFunction)
    assert (2, "double") == (double(1), double.name)
    assert int is jit.script(int)
    with pytest.raises(RuntimeError, match="script an instance"):
        jit.script(nn.Linear)
    with pytest.raises(TypeError, match="must be a module or a function, got int"):
        jit.script(5)
    with pytest.raises(RuntimeError, match="an input of type str cannot be traced"):
        jit.trace(nn.ReLU(), "text")


def test_the_old_style_of_scripts() -> None:
    """A class derived from ScriptModule, with script_method; it can be saved too."""

    class Old(jit.ScriptModule):
        __constants__ = ("factor",)

        def __init__(self) -> None:
            super().__init__()
            self.factor = 2

        @jit.script_method
        def forward(self, x: Any) -> Any:
            return self.factor * x

    assert 2.0 == Old()(pyqref.ones(1)).item()


def test_is_tracing_during_the_example() -> None:
    """``is_tracing`` is true while ``trace`` runs the model, and not after."""
    seen: list[bool] = []

    class Asks(nn.Module):
        def forward(self, x: Any, y: Any = None) -> Any:
            seen.append(jit.is_tracing())
            return x

    traced = jit.trace(Asks(), (pyqref.ones(1), pyqref.ones(1)))
    traced(pyqref.ones(1))
    jit.trace(Asks(), example_kwarg_inputs={"x": pyqref.ones(1)})
    assert [True, False, True] == seen


def test_frozen_copies() -> None:
    """``freeze`` wants evaluation mode; the frozen parameters want no gradient, the model's do."""
    scripted = jit.script(net())
    with pytest.raises(RuntimeError, match="call eval"):
        jit.freeze(scripted)
    for frozen in (jit.freeze(jit.script(net().eval())), jit.optimize_for_inference(scripted)):
        assert not any(each.requires_grad for each in frozen.parameters())
        assert pyqref.equal(net().eval()(X), frozen(X))
    assert all(each.requires_grad for each in scripted.parameters())


@pytest.mark.parametrize("kind", ["float", "converted", "graph", "dynamic"])
def test_copies_as_torch(kind: str) -> None:
    """A copy of every kind gives the same numbers."""
    make, x = KINDS[kind]
    model = make()
    assert pyqref.equal(model(x), jit.script(model)(x))
    assert pyqref.equal(model(x), jit.trace(model, x)(x))


def test_live_torch_shares_the_same_things() -> None:
    """A model shares with its scripted and traced copies the same things as in torch."""
    torch = pytest.importorskip("torch", minversion="2.13")

    def facts(namespace: Any) -> list[Any]:
        own, found = namespace.nn, []
        model = own.Sequential(own.Linear(2, 2), own.BatchNorm1d(2))
        x = namespace.ones(4, 2)
        for made in (namespace.jit.script(model), namespace.jit.trace(model.eval(), x)):
            with namespace.no_grad():
                model[0].weight.fill_(3.0)
            found += [made.state_dict()["0.weight"].tolist(), list(made.state_dict())]
            found += [[name for name, _ in made.named_modules()], made.original_name]
            found += [isinstance(made, namespace.jit.ScriptModule), tuple(made(x).shape)]
            made.eval()
            found += [made.training, namespace.jit.is_scripting(), namespace.jit.is_tracing()]
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch: deprecated
        assert facts(torch) == facts(pyqref)
