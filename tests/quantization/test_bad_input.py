"""Whatever is passed: an answer, or an error that names what is wrong.

The error is a TypeError, a ValueError or a RuntimeError, with a message.
"""

from __future__ import annotations

import enum
import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import utils

WRONG = (TypeError, ValueError, RuntimeError)
FEW = settings(
    max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


def model() -> nn.Module:
    found = q.QuantWrapper(nn.Sequential(nn.Linear(3, 2), nn.ReLU())).eval()
    found.qconfig = q.default_qconfig
    return found


def prepared() -> nn.Module:
    found = q.prepare(model())
    found(pyqref.tensor([[0.0, 1.0, -1.0]]))
    return found


def observed() -> Any:
    observer = q.MinMaxObserver()
    observer(pyqref.tensor([0.0, 1.0]))
    return observer


#: Values of every kind that may stand in a wrong place.
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 300, 2**40, 0.5, -0.0, float("nan"), float("inf")),
    *("", "0", "module.0", "no such", b"bytes", (), [], {}, {1}, object()),
    *([1.0, 2.0], (3, 4), {"module.0": q.default_qconfig}, {nn.Linear: q.default_qconfig}),
    *({"module.0": 3}, {nn.Linear: nn.Linear}, {"a": {"b": 1}}, {nn.Linear}, [["0", "1"]]),
    *(pyqref.quint8, pyqref.qint8, pyqref.qint32, pyqref.float32, pyqref.float16, pyqref.quint4x2),
    *(pyqref.per_tensor_affine, pyqref.per_channel_symmetric, pyqref.per_tensor_symmetric),
    *(q.default_qconfig, q.default_dynamic_qconfig, q.default_qat_qconfig, q.default_observer),
    *(q.MinMaxObserver, q.FakeQuantize, nn.Linear, nn.ReLU, len, print, lambda *args: args),
    np.ones((2, 3)),
    np.int64(3),
]
MAKERS: list[Any] = [
    model,
    prepared,
    observed,
    lambda: nn.Linear(2, 2),
    lambda: nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()),
    lambda: q.FakeQuantize(),
    lambda: pyqref.ones(2, 3),
    lambda: pyqref.ones(0),
    lambda: pyqref.tensor(1.0),
    lambda: pyqref.tensor([1, 2]),
    lambda: pyqref.full((2,), float("nan")),
    lambda: pyqref.quantize_per_tensor(pyqref.ones(2, 3), 0.1, 0, pyqref.quint8),
]
anything = st.one_of(st.sampled_from(VALUES), st.sampled_from(MAKERS).map(lambda make: make()))

FUNCTIONS = {
    name: getattr(q, name)
    for name in q.__all__
    if inspect.isfunction(getattr(q, name)) and not name.startswith("prepare_fx")
}
# getattr_from_fqn is documented to raise AttributeError, as getattr does.
UTILS = {name: getattr(utils, name) for name in utils.__all__ if name != "getattr_from_fqn"}
CLASSES = {
    name: getattr(q, name)
    for name in q.__all__
    if inspect.isclass(getattr(q, name))
    and not issubclass(getattr(q, name), Warning | Exception)
    and not issubclass(getattr(q, name), enum.Enum)
    and not inspect.isabstract(getattr(q, name))
    and name not in ("Coverage", "CoverageRow")  # answers, which users do not make
}


def outcome(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Call; an error must be of the three kinds and say something."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except WRONG as error:
            message = str(error).strip()
    if not message:
        pytest.fail(f"{function!r} raised without a message")
    return None


def arguments(data: Any, function: Any) -> tuple[list[Any], dict[str, Any]]:
    """Draw all the positional arguments that are needed, and some others by name."""
    found = list(inspect.signature(function).parameters.values())
    required, named = [], {}
    for each in found:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if each.default is each.empty:
            required.append(data.draw(anything, label=each.name))
        elif data.draw(st.booleans()):
            named[each.name] = data.draw(anything, label=each.name)
    return required, named


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(data=st.data())
def test_functions(name: str, data: Any, capsys: Any) -> None:
    args, kwargs = arguments(data, FUNCTIONS[name])
    outcome(FUNCTIONS[name], *args, **kwargs)


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(data=st.data())
def test_functions_with_a_good_first_argument(name: str, data: Any, capsys: Any) -> None:
    """One wrong argument behind a right one."""
    args, kwargs = arguments(data, FUNCTIONS[name])
    if args:
        args[0] = data.draw(st.sampled_from(MAKERS[:5]))()
    outcome(FUNCTIONS[name], *args, **kwargs)


@pytest.mark.parametrize("name", UTILS)
@FEW
@given(data=st.data())
def test_utils(name: str, data: Any, capsys: Any) -> None:
    args, kwargs = arguments(data, UTILS[name])
    outcome(UTILS[name], *args, **kwargs)


@pytest.mark.parametrize("name", CLASSES)
@FEW
@given(data=st.data())
def test_classes(name: str, data: Any, capsys: Any) -> None:
    """Making one, and using what was made."""
    args, kwargs = arguments(data, CLASSES[name])
    made = outcome(CLASSES[name], *args, **kwargs)
    if made is None:
        return
    assert isinstance(repr(made), str)
    if isinstance(made, nn.Module):
        outcome(made, data.draw(anything))
    if hasattr(made, "calculate_qparams"):
        outcome(made.calculate_qparams)
