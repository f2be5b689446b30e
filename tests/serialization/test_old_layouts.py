"""State dicts in layouts of former releases of torch load, here as in torch 2.13."""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref

State = OrderedDict[str, Any]


def packed_into(version: int) -> Callable[[State], State]:
    """``nn.quantized.Linear`` before version 3 of its packed weight."""

    def change(state: State) -> State:
        weight, bias = state.pop("_packed_params._packed_params")
        dtype = state.pop("_packed_params.dtype")
        where = "" if version == 1 else "_packed_params."
        state[f"{where}weight"], state[f"{where}bias"] = weight, bias
        if version == 2:
            state["_packed_params.dtype"] = dtype
        return state

    return change


def without(*ends: str) -> Callable[[State], State]:
    """Without the entries whose keys end so."""
    return lambda state: OrderedDict(
        (key, each) for key, each in state.items() if not key.endswith(ends)
    )


def renamed(**names: str) -> Callable[[State], State]:
    """Put other words into the keys of a state."""

    def change(state: State) -> State:
        made: State = OrderedDict()
        for key, each in state.items():
            for old, new in names.items():
                key = key.replace(old.replace("__", "."), new)
            made[key] = each
        return made

    return change


def without_dimensions(state: State) -> State:
    """Scales and zero points as numbers, not as lists of one."""
    return OrderedDict(
        (key, each if key.endswith("enabled") else each.reshape(())) for key, each in state.items()
    )


def linear(lib: Any) -> Any:
    layer = lib.nn.quantized.Linear(3, 2)
    weight = lib.from_numpy(np.float32([[1, -2, 3], [4, 5, -6]]))
    layer.set_weight_bias(
        lib.quantize_per_tensor(weight, 0.5, 0, lib.qint8), lib.from_numpy(np.float32([1, 2]))
    )
    layer.scale, layer.zero_point = 0.25, 7
    return layer


def seen(name: str, **options: Any) -> Callable[[Any], Any]:
    def make(lib: Any) -> Any:
        observer = getattr(lib.ao.quantization, name)(**options)
        observer(lib.from_numpy(np.float32([[-1, 2], [3, 4]])))
        return observer

    return make


def conv_bn(lib: Any) -> Any:
    layer = lib.nn.intrinsic.qat.ConvBn2d(
        1, 2, 1, qconfig=lib.ao.quantization.get_default_qat_qconfig("qnnpack")
    )
    layer(lib.from_numpy(np.ones((2, 1, 3, 3), np.float32)))
    return layer


#: What is made, its version, and how its state is brought into an old layout.
LAYOUTS: dict[str, tuple[Callable[[Any], Any], int | None, Callable[[State], State]]] = {
    "linear 1": (linear, 1, packed_into(1)),
    "linear 2": (linear, 2, packed_into(2)),
    "observer 1": (seen("MinMaxObserver"), 1, without("eps")),
    "average 1": (seen("MovingAverageMinMaxObserver"), None, without("eps")),
    "histogram 1": (seen("HistogramObserver", bins=16), 1, without("eps")),
    "batch norm 1": (
        lambda lib: lib.nn.BatchNorm2d(2),
        1,
        without("num_batches_tracked"),
    ),
    "conv bn 1": (
        conv_bn,
        1,
        renamed(bn__weight="gamma", bn__bias="beta", bn__=""),
    ),
    "fixed": (
        lambda lib: lib.ao.quantization.default_fixed_qparams_range_0to1_fake_quant(),
        3,
        without_dimensions,
    ),
}


def plain(value: Any) -> Any:
    """A value of either library as NumPy arrays and lists."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if hasattr(value, "int_repr") and value.is_quantized:
        return [value.int_repr().tolist(), value.q_scale(), value.q_zero_point()]
    if hasattr(value, "detach"):
        return value.detach().numpy().reshape(-1).tolist()
    return str(value).partition(".")[2]


def old_state(lib: Any, name: str) -> tuple[Any, State]:
    """A module, and its state in the old layout."""
    make, version, change = LAYOUTS[name]
    made = make(lib)
    new = made.state_dict()
    state = change(OrderedDict(new))
    state._metadata = OrderedDict(  # type: ignore[attr-defined]
        (path, {} if version is None else {"version": version}) for path in new._metadata
    )
    return made, state


def loaded(lib: Any, name: str, state: State) -> dict[str, Any]:
    fresh = LAYOUTS[name][0](lib)
    for key, each in fresh.state_dict().items():
        if hasattr(each, "fill_") and not key.endswith("eps"):
            each.fill_(1)
    fresh.load_state_dict(copy.copy(state))
    return {key: plain(each) for key, each in fresh.state_dict().items()}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_old_layouts(name: str) -> None:
    """The state that comes out is the one that went in; torch takes the same dictionary."""
    made, state = old_state(pyqref, name)
    expected = {key: plain(each) for key, each in made.state_dict().items()}
    lost = [key for key in expected if name == "batch norm 1" and key.endswith("tracked")]
    found = loaded(pyqref, name, state)
    assert {key: each for key, each in expected.items() if key not in lost} == {
        key: each for key, each in found.items() if key not in lost
    }
    torch = pytest.importorskip("torch", minversion="2.13")
    _, state = old_state(torch, name)
    theirs = loaded(torch, name, state)
    assert list(expected) == list(theirs)


@pytest.mark.parametrize(
    "kind", ["MinMaxObserver", "MovingAverageMinMaxObserver", "HistogramObserver"]
)
def test_ranges_before_any_data(kind: str) -> None:
    """They had no elements before release 1.8; today they are the empty range."""
    observer = getattr(pyqref.ao.quantization, kind)()
    state = observer.state_dict()
    state["min_val"] = state["max_val"] = pyqref.zeros(0)
    fresh = seen(kind)(pyqref)
    fresh.load_state_dict(state)
    assert (float("inf"), float("-inf")) == (fresh.min_val.item(), fresh.max_val.item())
    assert () == tuple(fresh.min_val.shape)
