"""Modules that cannot be traced run their own Python code here."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from interop.test_from_torch import BOUND, close

import pyqref
from pyqref.interop import UnsupportedError, from_torch

torch = pytest.importorskip("torch", minversion="2.13")
from interop import running_models as models  # noqa: E402

X = np.random.default_rng(3).standard_normal((2, 4)).astype(np.float32)


def both(make: Any) -> tuple[Any, Any]:
    torch.manual_seed(1)
    theirs = make().eval()
    return theirs, from_torch(theirs)


@pytest.mark.parametrize("make", models.EXAMPLES, ids=lambda make: make.__name__)
def test_constructs(make: Any) -> None:
    """Each gives what it gives in torch; so do its copies, pickled or not."""
    theirs, ours = both(make)
    assert list(theirs.state_dict()) == list(ours.state_dict())
    expected = theirs(torch.from_numpy(X.copy()))
    copies = [ours, copy.deepcopy(ours)]
    if make is not models.Outer:  # a hook is a function, and pickle takes those by name
        copies.append(pickle.loads(pickle.dumps(ours)))
    for each in copies:
        close(expected, each(pyqref.from_numpy(X.copy())))


def test_arguments_by_name() -> None:
    """``**kwargs`` reach the code of the original."""
    theirs, ours = both(models.Keywords)
    expected = theirs(torch.from_numpy(X), factor=3.0, shift=-1.0)
    close(expected, ours(pyqref.from_numpy(X), factor=3.0, shift=-1.0))


def test_is_a_class_of_its_own() -> None:
    """Its class has the name, the methods and the attributes of the original."""
    theirs, ours = both(models.Outer)
    assert repr(theirs) == repr(ours)
    assert isinstance(ours.inner.norm, pyqref.nn.LayerNorm)
    assert type(ours.inner) is not models.Inner
    assert models.Inner.__name__ == type(ours.inner).__name__
    assert pyqref.float32 is from_torch(models.Structured()).config.dtype


def test_trains() -> None:
    """Gradients reach the parameters, and are those of torch."""
    theirs, ours = both(models.Chunks)
    theirs.train()(torch.from_numpy(X)).sum().backward()
    ours.train()(pyqref.from_numpy(X)).sum().backward()
    expected, actual = theirs.linear.weight.grad.numpy(), ours.linear.weight.grad.numpy()
    assert float(np.abs(expected - actual).max()) <= BOUND * float(np.abs(expected).max())


def test_what_is_missing_is_named_with_its_line() -> None:
    """A call that certainly runs is refused; one under a condition when it runs."""
    with pytest.raises(UnsupportedError, match=r"calls torch\.fft\.fft.*running_models\.py:\d+"):
        from_torch(models.Missing())
    ours = from_torch(models.Seldom())
    assert [1.0] == ours(pyqref.ones(1)).tolist()
    with pytest.raises(NotImplementedError, match=r"torch\.fft\.fft is not.*running_models\.py:"):
        ours(pyqref.ones(3))


def test_a_wrapped_function_stays_one_node() -> None:
    """A function that ``torch.fx.wrap`` names is not looked into when the result is traced."""
    traced = pyqref.fx.symbolic_trace(from_torch(models.Wrapped()))
    names = [getattr(node.target, "__name__", node.target) for node in traced.graph.nodes]
    assert ["x", "pick", "mul", "output"] == names
    assert [4.0] == traced(pyqref.ones(1)).tolist()


def test_parametrizations_are_worked_out() -> None:
    """The weight that a norm or a parametrization gives is kept, and a warning says so."""
    utils = torch.nn.utils
    theirs = torch.nn.Sequential(
        utils.parametrizations.weight_norm(torch.nn.Linear(4, 4)),
        utils.parametrizations.spectral_norm(torch.nn.Linear(4, 4)),
    ).eval()
    with pytest.warns(UserWarning, match="worked out once and left behind at 0, 1"):
        ours = from_torch(theirs)
    close(theirs(torch.from_numpy(X)), ours(pyqref.from_numpy(X)))
    assert ["0.bias", "0.weight", "1.bias", "1.weight"] == sorted(ours.state_dict())
    assert hasattr(theirs[0], "parametrizations")


def test_bfloat16_is_exact_in_float32() -> None:
    """Every number of bfloat16 is one of float32."""
    theirs = torch.nn.Linear(4, 4).bfloat16()
    with pytest.warns(UserWarning, match="of type bfloat16 are kept, exactly, as float32"):
        ours = from_torch(theirs)
    assert np.array_equal(theirs.weight.detach().float().numpy(), ours.weight.detach().numpy())


def test_registries_grow() -> None:
    """A table of the user's module that has grown since is read anew."""
    models.LAYERS.pop("extra", None)
    both(models.Structured)[1](pyqref.from_numpy(X))
    models.LAYERS["gelu"] = torch.nn.Tanh
    try:
        theirs, ours = both(models.Structured)
        close(theirs(torch.from_numpy(X)), ours(pyqref.from_numpy(X)))
    finally:
        models.LAYERS["gelu"] = torch.nn.GELU
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from_torch(models.Structured())
