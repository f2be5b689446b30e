"""Module: attributes, errors, walking, modes, printing, copying."""

from __future__ import annotations

import copy
import pickle

import pytest

import pyqref
from pyqref import nn


class Scale(nn.Module):
    """One parameter, one buffer."""

    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.factor = nn.Parameter(pyqref.ones(size))
        self.register_buffer("count", pyqref.zeros(1))
        self.register_buffer("scratch", pyqref.zeros(1), persistent=False)

    def forward(self, x):
        return x * self.factor

    def extra_repr(self) -> str:
        return f"size={self.factor.shape[0]}"


class Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Scale()
        self.second = nn.Sequential(Scale(3), nn.Identity())


def test_attributes_are_registered_by_type() -> None:
    """A Parameter, a Module and a buffer go to their dictionaries, in order."""
    module = Scale()
    module.inner = nn.Identity()
    assert ["factor"] == list(module._parameters)
    assert ["count", "scratch"] == list(module._buffers)
    assert ["inner"] == list(module._modules)
    assert "factor" not in module.__dict__


def test_attribute_changes_kind() -> None:
    """A name that is assigned a value of another kind leaves its old dictionary."""
    module = Scale()
    module.count = nn.Parameter(pyqref.ones(1))
    assert "count" in module._parameters
    assert "count" not in module._buffers
    module.count = nn.Identity()
    assert "count" in module._modules
    assert "count" not in module._parameters
    module.count = None
    assert module.count is None


def test_plain_attribute_becomes_parameter() -> None:
    """A Parameter assigned over an ordinary attribute is registered."""
    module = nn.Module()
    module.weight = 3
    module.weight = nn.Parameter(pyqref.ones(1))
    assert ["weight"] == [name for name, _ in module.named_parameters()]


def test_buffer_may_be_replaced_by_tensor() -> None:
    """A tensor assigned to a buffer's name stays a buffer."""
    module = Scale()
    module.count = pyqref.ones(2)
    assert [1.0, 1.0] == module._buffers["count"].tolist()


def test_buffer_type() -> None:
    """A Buffer registers itself, persistent or not."""
    module = nn.Module()
    module.mean = nn.Buffer(pyqref.ones(2))
    module.scratch = nn.Buffer(pyqref.ones(2), persistent=False)
    assert isinstance(module.mean, nn.Buffer)
    assert not isinstance(pyqref.ones(1), nn.Buffer)
    assert ["mean", "scratch"] == [name for name, _ in module.named_buffers()]
    assert ["mean"] == list(module.state_dict())
    assert (0,) == tuple(nn.Buffer().shape)


def test_delete_attribute() -> None:
    """Deleting works for each kind, and then the attribute is gone."""
    module = Scale()
    del module.factor
    del module.scratch
    assert set() == module._non_persistent_buffers_set
    with pytest.raises(AttributeError, match="'Scale' object has no attribute 'factor'"):
        _ = module.factor


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda m: setattr(m, "factor", pyqref.ones(1)), TypeError, "as parameter 'factor'"),
        (lambda m: setattr(m, "count", 3), TypeError, "'int' as buffer 'count'"),
        (lambda m: setattr(m, "sub", 3), TypeError, "'int' as child module 'sub'"),
        (lambda m: m.register_parameter("p", 3), TypeError, "'int' object to parameter 'p'"),
        (lambda m: m.register_parameter("a.b", None), KeyError, "contain"),
        (lambda m: m.register_parameter("", None), KeyError, "empty"),
        (lambda m: m.register_parameter(3, None), TypeError, "should be a string. Got int"),
        (lambda m: m.register_parameter("forward", None), KeyError, "already exists"),
        (lambda m: m.register_buffer("factor", None), KeyError, "already exists"),
        (lambda m: m.register_buffer("b", 3), TypeError, "'int' object to buffer 'b'"),
        (lambda m: m.add_module("x", 3), TypeError, "int is not a Module subclass"),
        (lambda m: m.add_module("a.b", None), KeyError, "module name can"),
        (lambda m: m.missing, AttributeError, "'Scale' object has no attribute 'missing'"),
        (lambda m: delattr(m, "missing"), AttributeError, "missing"),
        (lambda m: m.train(3), ValueError, "expected to be boolean"),
        (lambda m: nn.Module(3), TypeError, "takes no arguments"),
        (lambda m: nn.Module()(3), NotImplementedError, "missing the required"),
        (lambda m: m.get_submodule("a.b"), AttributeError, "Scale has no attribute `a`"),
        (lambda m: m.get_submodule("factor"), AttributeError, "`factor` is not an nn.Module"),
        (lambda m: m.get_parameter("count"), AttributeError, "is not an nn.Parameter"),
        (lambda m: m.get_buffer("factor"), AttributeError, "`factor` is not a buffer"),
        (lambda m: m.set_submodule("", m), ValueError, "without a target name"),
        (lambda m: m.set_submodule("q", nn.Identity(), strict=True), AttributeError, "`q`"),
        (lambda m: m.to(pyqref.int8), TypeError, "only accepts floating point"),
        (lambda m: m.to("cuda"), RuntimeError, "CPU only"),
        (lambda m: m.cuda(), RuntimeError, "CPU only"),
        (lambda m: m.to(3.5), TypeError, "takes a device, a dtype or a tensor"),
    ],
)
def test_errors(action, error, message) -> None:
    """Wrong names, types and targets are refused, and the message says which."""
    module = Scale()
    module.sub = nn.Identity()
    with pytest.raises(error, match=message):
        action(module)


def test_assign_before_init() -> None:
    """Forgetting super().__init__() gives torch's message."""

    class Forgetful(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter(pyqref.ones(1))

    class ForgetfulToo(nn.Module):
        def __init__(self) -> None:
            self.inner = nn.Identity()

    with pytest.raises(AttributeError, match="cannot assign parameters before"):
        Forgetful()
    with pytest.raises(AttributeError, match="cannot assign module before"):
        ForgetfulToo()


def test_call_before_init() -> None:
    class Forgetful(nn.Module):
        def __init__(self) -> None:
            pass

    with pytest.raises(AttributeError, match=r"cannot call Forgetful before its Module.__init__"):
        Forgetful()(1)


def test_non_leaf_parameter() -> None:
    """The result of an operation cannot be a parameter."""
    module = nn.Module()
    with pytest.raises((TypeError, ValueError), match="parameter 'w'"):
        module.register_parameter("w", nn.Parameter(pyqref.ones(1)) * 2)


def test_named_walks() -> None:
    """Paths of modules, parameters and buffers, in the order of registration."""
    model = Pair()
    assert ["", "first", "second", "second.0", "second.1"] == [n for n, _ in model.named_modules()]
    assert ["first.factor", "second.0.factor"] == [n for n, _ in model.named_parameters()]
    assert ["x.first.count", "x.first.scratch"] == [
        name for name, _ in model.named_buffers(prefix="x")
    ][:2]
    assert [] == list(model.named_parameters(recurse=False))
    assert ["first", "second"] == [name for name, _ in model.named_children()]


def test_remove_duplicate() -> None:
    """A shared module and a shared parameter are listed once, or in every place."""
    model = Pair()
    model.third = model.first
    assert 5 == len(list(model.named_modules()))
    assert 6 == len(list(model.named_modules(remove_duplicate=False)))
    assert 2 == len(list(model.named_parameters()))
    assert 3 == len(list(model.named_parameters(remove_duplicate=False)))
    assert 2 == len(list(model.children()))


def test_get_and_set_submodule() -> None:
    """Dotted paths reach modules, parameters and buffers; a module can be put there."""
    model = Pair()
    assert model.second[0] is model.get_submodule("second.0")
    assert model is model.get_submodule("")
    assert model.second[0].factor is model.get_parameter("second.0.factor")
    assert model.first.count is model.get_buffer("first.count")
    new = nn.Identity()
    model.set_submodule("second.0", new)
    assert model.second[0] is new


def test_apply_visits_children_first() -> None:
    """``apply`` goes from the leaves to the root."""
    visited = []
    Pair().apply(lambda module: visited.append(type(module).__name__))
    assert ["Scale", "Scale", "Identity", "Sequential", "Pair"] == visited


def test_train_and_eval() -> None:
    """The mode reaches every module, and the module is returned."""
    model = Pair()
    assert model is model.eval()
    assert not any(module.training for module in model.modules())
    model.train()
    assert all(module.training for module in model.modules())


def test_zero_grad_and_requires_grad() -> None:
    """Gradients are dropped or zeroed; collecting them can be switched off."""
    model = Scale()
    model(pyqref.ones(2)).sum().backward()
    assert [1.0, 1.0] == model.factor.grad.tolist()
    model.zero_grad(set_to_none=False)
    assert [0.0, 0.0] == model.factor.grad.tolist()
    model.zero_grad()
    assert model.factor.grad is None
    assert model is model.requires_grad_(False)
    assert not model.factor.requires_grad


def test_conversion_keeps_the_parameter() -> None:
    """``double`` changes the elements of the same Parameter; integers stay."""
    model = Scale()
    model.register_buffer("steps", pyqref.zeros(1, dtype=pyqref.int64))
    factor = model.factor
    assert model is model.double()
    assert factor is model.factor
    assert pyqref.float64 is factor.dtype
    assert pyqref.int64 is model.steps.dtype
    assert pyqref.float16 is model.half().factor.dtype
    assert pyqref.float32 is model.to(pyqref.ones(1)).factor.dtype
    assert pyqref.float64 is model.to("cpu", pyqref.float64).factor.dtype


def test_memory_format() -> None:
    """Weights of four dimensions are laid out anew, others are left."""
    model = Scale()
    model.weight = nn.Parameter(pyqref.zeros(2, 3, 4, 4))
    model.to(memory_format=pyqref.channels_last)
    assert (48, 1, 12, 3) == tuple(model.weight.stride())


def test_repr() -> None:
    """Nested modules are indented by two, extra lines come first."""
    expected = (
        "Pair(\n"
        "  (first): Scale(size=2)\n"
        "  (second): Sequential(\n"
        "    (0): Scale(size=3)\n"
        "    (1): Identity()\n"
        "  )\n"
        ")"
    )
    assert expected == repr(Pair())


def test_dir_lists_members() -> None:
    """Tab completion sees parameters, buffers and submodules, no numbers."""
    assert {"factor", "count", "forward"} <= set(dir(Scale()))
    assert not any(name.isdigit() for name in dir(nn.Sequential(nn.Identity())))


def test_deepcopy_and_pickle() -> None:
    """Copies have the same state on other memory."""
    model = Pair()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert list(model.state_dict()) == list(other.state_dict())
        other.first.factor.data.fill_(7)
        assert [1.0, 1.0] == model.first.factor.tolist()
        assert isinstance(other.first.factor, nn.Parameter)


def test_registration_hook() -> None:
    """A hook sees every parameter that is registered anywhere."""
    from pyqref.nn.modules.hooks import register_module_parameter_registration_hook

    seen = []
    with register_module_parameter_registration_hook(lambda m, name, p: seen.append(name)):
        Scale()
    Scale()
    assert ["factor"] == seen
