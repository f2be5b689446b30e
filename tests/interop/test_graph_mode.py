"""Models that were taken over from torch enter graph mode, and give torch's numbers there."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from pyqref.ao.quantization import quantize_fx

import pyqref
from pyqref.interop import from_torch

torch = pytest.importorskip("torch", minversion="2.13")
torch.set_num_threads(1)
import torch.ao.quantization.quantize_fx  # noqa: E402
from interop import graph_models as models  # noqa: E402

RNG = np.random.default_rng(5)


def array(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype(np.float32)


IMAGES, ROWS, MORE = array(2, 3, 8, 8), array(2, 4, 6), array(2, 4, 6)
FOUR = array(2, 4, 6, 6)
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "ResNet": ((IMAGES,), {}),
    "Branches": ((IMAGES,), {}),
    "Shuffle": ((FOUR,), {}),
    "Attention": ((ROWS, MORE), {"bias": array(4, 4)}),
    "Several": ((ROWS, MORE), {"scale": array(6)}),
    "Structures": (((ROWS, MORE), {"x": MORE}), {}),
}


def tensors(namespace: Any, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return namespace.from_numpy(value.copy())
    if isinstance(value, dict):
        return {key: tensors(namespace, each) for key, each in value.items()}
    if isinstance(value, tuple):
        return tuple(tensors(namespace, each) for each in value)
    return value


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [each for part in value for each in flat(part)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    return [value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)]


def converted(namespace: Any, fx: Any, model: Any, name: str, qat: bool) -> tuple[Any, list[Any]]:
    """The converted graph's operations, and what the model gives."""
    args, kwargs = tensors(namespace, CASES[name])
    q = namespace.ao.quantization
    get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
    prepare = fx.prepare_qat_fx if qat else fx.prepare_fx
    prepared = prepare(model.train(qat), get("x86"), args)
    prepared(*args, **kwargs)
    result = fx.convert_fx(prepared.eval())
    names = [getattr(n.target, "__name__", n.target) for n in result.graph.nodes]
    return sorted(map(str, names)), flat(result(*args, **kwargs))


@pytest.mark.parametrize("qat", [False, True], ids=["static", "training"])
@pytest.mark.parametrize("name", CASES)
def test_graph_mode_gives_the_numbers_of_torch(name: str, qat: bool) -> None:
    """Prepared, calibrated and converted on both sides: the same nodes, the same results."""
    torch.manual_seed(1)
    theirs = getattr(models, name)().eval()
    ours = from_torch(theirs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes, expected = converted(torch, torch.ao.quantization.quantize_fx, theirs, name, qat)
    actual_nodes, actual = converted(pyqref, quantize_fx, ours, name, qat)
    assert nodes == actual_nodes
    for his, mine in zip(expected, actual, strict=True):
        assert his.shape == mine.shape
        assert float(np.abs(his - mine).max()) <= 1e-5 * max(1.0, float(np.abs(his).max()))


@pytest.mark.parametrize("given", [{}, {"shift": None}, {"deep": True, "shift": None}], ids=str)
def test_options_are_fixed_as_in_any_model(given: dict[str, Any]) -> None:
    """``concrete_args``; an optional input that is not fixed counts as given, as in torch."""
    torch.manual_seed(1)
    ours = from_torch(models.Switch().eval())
    if "deep" not in given:
        with pytest.raises(pyqref.fx.TraceError, match=r"concrete_args=\{'deep': "):
            pyqref.fx.symbolic_trace(ours, given)
    traced = pyqref.fx.symbolic_trace(ours, {"deep": False, **given})
    x, shift = (pyqref.from_numpy(each) for each in (ROWS, MORE))
    call = (x, given.get("shift", shift), given.get("deep", False))
    prepared = quantize_fx.prepare_fx(
        traced, pyqref.ao.quantization.get_default_qconfig_mapping(), call
    )
    assert pyqref.equal(ours(*call), prepared(*call))
    assert quantize_fx.convert_fx(prepared)(*call).shape == x.shape


def test_the_forward_has_the_signature_of_the_original() -> None:
    """Names, kinds and defaults; copies keep it, with weights of their own and the mode."""
    ours = from_torch(models.Switch().eval())
    for each in (ours, copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert "(x, shift=None, deep=False)" == str(inspect.signature(each.forward))
        assert ours.state_dict().keys() == each.state_dict().keys()
        x = pyqref.from_numpy(ROWS)
        assert pyqref.equal(ours(x, deep=True), each(x, deep=True))
        assert each.train().linear.training
        assert not each.eval().linear.training
    assert "(*args, **kwargs)" == str(inspect.signature(from_torch(models.Several()).forward))


def test_tensors_that_are_made_of_sizes() -> None:
    """``arange`` and ``zeros`` of a traced size are made whenever the model runs."""
    from interop.models import Creating

    ours = from_torch(Creating().eval())
    traced = pyqref.fx.symbolic_trace(ours)
    for width in (2, 3):
        x = pyqref.ones(2, width)
        assert pyqref.equal(ours(x)[0], traced(x)[0])
