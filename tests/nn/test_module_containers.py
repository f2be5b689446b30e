"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict, and the shape modules."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import pyqref
from pyqref import nn


def chain(count: int) -> list[nn.Module]:
    return [nn.Flatten(index) for index in range(count)]


def test_sequential_calls_in_order() -> None:
    """Each module gets the result of the one before."""
    model = nn.Sequential(nn.Unflatten(0, (2, 3)), nn.Flatten(0))
    assert (6,) == tuple(model(pyqref.zeros(6)).shape)


def test_sequential_of_ordered_dict() -> None:
    """An OrderedDict gives the names."""
    model = nn.Sequential(OrderedDict(a=nn.Identity(), b=nn.Flatten()))
    assert ["a", "b"] == list(model._modules)
    assert ["b"] == list(model[1:]._modules)
    assert model.a is model[0]


def test_sequential_edits() -> None:
    """Items, slices, insertion, deletion and arithmetic, as for a list."""
    modules = chain(4)
    model = nn.Sequential(*modules)
    assert modules[-1] is model[-1]
    assert modules[1:3] == list(model[1:3])
    del model[1]
    assert ["0", "1", "2"] == list(model._modules)
    model.insert(1, modules[1])
    assert modules == list(model)
    assert modules[3] is model.pop(3)
    model.append(modules[3]).extend([nn.Identity()])
    assert 5 == len(model)
    del model[-1]
    assert modules * 2 == list(model + model)
    assert modules * 3 == list(model * 3) == list(3 * model)
    model *= 2
    assert modules * 2 == list(model)
    model += nn.Sequential(nn.Identity())
    assert 9 == len(model)
    model[0] = nn.Identity()
    assert "Identity()" == repr(model[0])


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: nn.Sequential(3), TypeError),
        (lambda: nn.Sequential()[0], IndexError),
        (lambda: nn.Sequential() + nn.ModuleList(), ValueError),
        (lambda: nn.Sequential() * 0, ValueError),
        (lambda: nn.Sequential() * 1.5, TypeError),
        (lambda: nn.Sequential().insert(2, nn.Identity()), IndexError),
        (lambda: nn.Sequential().insert(0, 3), AssertionError),
        (lambda: nn.ModuleList([3]), TypeError),
        (lambda: nn.ModuleList(chain(2))[2], IndexError),
        (lambda: nn.ModuleList().extend(3), TypeError),
        (lambda: nn.ModuleDict({"a": 3}), TypeError),
        (lambda: nn.ModuleDict(3), TypeError),
        (lambda: nn.ModuleDict([3]), TypeError),
        (lambda: nn.ModuleDict([("a", nn.Identity(), 3)]), ValueError),
        (lambda: nn.ModuleDict({"keys": nn.Identity()}), KeyError),
        (lambda: nn.ParameterList()[0], IndexError),
        (lambda: nn.ParameterList(3), TypeError),
        (lambda: nn.ParameterList()(3), RuntimeError),
        (lambda: nn.ParameterDict()["a"], KeyError),
        (lambda: nn.ParameterDict({3: pyqref.ones(1)}), TypeError),
        (lambda: nn.ParameterDict({"keys": pyqref.ones(1)}), KeyError),
        (lambda: nn.ParameterDict().popitem(), KeyError),
        (lambda: nn.ParameterDict()(3), RuntimeError),
        (lambda: nn.Unflatten("a", (1,)), TypeError),
        (lambda: nn.Unflatten(0, 3), TypeError),
        (lambda: nn.Unflatten(0, (1.5,)), TypeError),
    ],
)
def test_errors(action, error) -> None:
    """A container refuses items that it cannot hold or does not have."""
    with pytest.raises(error):
        action()


def test_module_list() -> None:
    """Items, slices and edits; the parent sees the members."""
    modules = chain(3)
    members = nn.ModuleList(modules)
    assert modules[::2] == list(members[::2])
    assert isinstance(members[:1], nn.ModuleList)
    del members[0:2]
    assert ["0"] == list(members._modules)
    members += modules[:2]
    members.insert(0, nn.Identity())
    assert 4 == len(members)
    assert modules[1] in members
    assert 5 == len(members + nn.ModuleList([nn.Identity()]))
    with pytest.raises(NotImplementedError):
        members(3)


def test_module_list_repr_joins_equal_neighbours() -> None:
    """Equal neighbours are printed once with their number."""
    members = nn.ModuleList([nn.Identity(), nn.Identity(), nn.Flatten()])
    expected = "ModuleList(\n  (0-1): 2 x Identity()\n  (2): Flatten(start_dim=1, end_dim=-1)\n)"
    assert expected == repr(members)
    assert "ModuleList()" == repr(nn.ModuleList())


def test_module_dict() -> None:
    """A dictionary of modules in order of insertion."""
    members = nn.ModuleDict({"b": nn.Identity()})
    members["a"] = nn.Flatten()
    members.update([("b", nn.Flatten(0))])
    assert ["b", "a"] == list(members) == list(members.keys())
    assert 0 == members["b"].start_dim
    assert "a" in members
    assert 2 == len(members) == len(members.values()) == len(list(members.items()))
    members.pop("a")
    del members["b"]
    assert 0 == len(members)
    members["c"] = nn.Identity()
    members.clear()
    assert "ModuleDict()" == repr(members)


def test_parameter_list() -> None:
    """Tensors become parameters; other values are kept."""
    members = nn.ParameterList([pyqref.zeros(2, 3), "text"])
    members.append(pyqref.ones(1))
    members += [nn.Parameter(pyqref.ones(4))]
    assert ["0", "2", "3"] == [name for name, _ in members.named_parameters()]
    assert "text" == members[1]
    assert 2 == len(members[2:])
    assert 4 == len(list(members))
    members[1] = pyqref.zeros(1)
    assert 4 == len(list(members.parameters()))
    assert members[-1] is members[3]


def test_parameter_dict() -> None:
    """A dictionary of parameters in order of insertion."""
    members = nn.ParameterDict({"b": pyqref.zeros(2)})
    members["a"] = nn.Parameter(pyqref.ones(1))
    assert ["b", "a"] == list(members) == list(members.keys())
    assert ["a", "b"] == list(reversed(members))
    assert ["b", "a"] == list(members.state_dict())
    assert members.get("c") is None
    assert "x" == members.setdefault("c", "x")
    assert ("c", "x") == members.popitem()
    merged = members | {"d": pyqref.zeros(1)}
    assert ["b", "a", "d"] == list(merged)
    assert ["b", "a"] == list(members.copy())
    assert ["d", "b", "a"] == list({"d": pyqref.zeros(1)} | members)
    members |= {"e": 3}
    assert 3 == members.pop("e")
    del members["a"]
    assert 1 == len(members) == len(members.items()) == len(members.values())
    members.clear()
    assert [] == list(members.parameters())
    assert ["p", "q"] == list(nn.ParameterDict.fromkeys("pq", 1))


def test_parameter_container_repr() -> None:
    """One line for each member."""
    two = nn.ParameterList([pyqref.zeros(2, 3), 5])
    expected = (
        "ParameterList(\n"
        "    (0): Parameter containing: [pyqref.float32 of size 2x3]\n"
        "    (1): Object of type: int\n"
        ")"
    )
    assert expected == repr(two)


def test_identity_takes_anything() -> None:
    """Its arguments mean nothing."""
    x = pyqref.ones(1)
    assert x is nn.Identity(1, 2, three=3)(x)


def test_unflatten() -> None:
    """One dimension becomes several; printed as in torch."""
    module = nn.Unflatten(1, (2, -1))
    assert (5, 2, 3) == tuple(module(pyqref.zeros(5, 6)).shape)
    assert "Unflatten(dim=1, unflattened_size=(2, -1))" == repr(module)
