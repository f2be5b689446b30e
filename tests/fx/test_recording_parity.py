"""The form in which a call is recorded is torch's."""

from __future__ import annotations

import builtins
import inspect
import warnings
from typing import Any

import pytest

import pyqref

NAMES = sorted(name for name in pyqref.nn.functional.__all__ if "_with_indices" not in name)
# torch's has an argument more or less, or another name.
DIFFERENT = {"l1_loss", "logsigmoid", "threshold"}


def _record(library: Any, name: str, required: list[str]) -> list[Any]:
    graph = library.fx.Graph()
    tracer = library.fx.proxy.GraphAppendingTracer(graph) if library is not pyqref else None
    proxies = [library.fx.Proxy(graph.placeholder(f"arg_{each}"), tracer) for each in required]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(library.nn.functional, name)(*proxies)
    nodes = [node for node in graph.nodes if node.op != "placeholder"]
    return [(n.op, n.name, str(n.args), {k: str(v) for k, v in n.kwargs.items()}) for n in nodes]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIFFERENT])
def test_functional_calls(name: str) -> None:
    """Calls are recorded as written, also with all optional arguments by name."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    if not hasattr(torch.nn.functional, name):
        pytest.fail(f"torch has no {name}")
    signature = inspect.signature(getattr(pyqref.nn.functional, name))
    required = [p.name for p in signature.parameters.values() if p.default is p.empty]
    assert _record(torch, name, required) == _record(pyqref, name, required)


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are given out as torch gives them, whatever was asked for before."""
    monkeypatch.delattr(builtins, "_", raising=False)  # left by a doctest, and torch avoids it
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    import random

    from pyqref.fx.naming import Namespace

    source = random.Random(0)
    wishes = ["x", "conv", "relu_", "sum", "x_1", "x_2", "a.b", "conv_2", "for", "1", "", "_"]
    wishes += ["__", "input_1", "sum_1", "a_b_1", "x_01", "x_10", "for_1", "conv2d", "a..b"]
    for _ in range(300):
        sequence = source.choices(wishes, k=12)
        theirs, ours = torch.fx.graph._Namespace(), Namespace()
        assert [theirs.create_name(each, None) for each in sequence] == [
            ours.create_name(each) for each in sequence
        ]
