"""Parts that the cases of fx share: small models, and graphs as text alike in both libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np


def plain(text: str) -> str:
    """A graph or its code without the places where the libraries keep their functions."""
    text = re.sub(r"target=[\w.]*\.(\w+)\](?=\(args)", r"target=\1]", text)
    text = re.sub(r"\b(?:torch|pyqref)\.(?:\w+\.)*(\w+)", r"\1", text)
    text = re.sub(r"\b(?:math_|math\.)(\w+)", r"\1", text)
    text = text.replace("_operator_abs", "operator.abs")
    # torch writes some indices as x[(slice(1, None, None), Ellipsis)], pyqref all as x[1:, ...]
    text = re.sub(r"\[\((.*?)\)\](?=;|$)", r"[\1]", text, flags=re.MULTILINE)
    return re.sub(r"(?<== )(\w+\[.*?\])(?=;|$)", _index, text, flags=re.MULTILINE)


def _index(found: re.Match[str]) -> str:
    inner = re.sub(r"slice\((.*?), (.*?), None\)", r"\1:\2", found[1])
    inner = re.sub(r"slice\((.*?), (.*?), (\d+)\)", r"\1:\2:\3", inner)
    return inner.replace("None:", ":").replace(":None", ":").replace("Ellipsis", "...")


def describe(torch: Any, model: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Graph, code, names of the state, and whether the traced model gives the same result."""
    traced = torch.fx.symbolic_trace(model)
    traced.graph.lint()
    code = "\n".join(line for line in traced.code.splitlines() if "wrap(" not in line)
    return {
        "graph": plain(str(traced.graph)),
        "code": plain(code).strip(),
        "state": " ".join(traced.state_dict()),
        "same": equal(model(*inputs), traced(*inputs)),
    }


def equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    if not hasattr(a, "detach"):
        return bool(a == b)
    return bool(np.array_equal(a.detach().numpy(), b.detach().numpy()))


def normal(torch: Any, *shape: int, seed: int = 0) -> Any:
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(numbers.astype(np.float32))


def module_of(torch: Any, forward: Callable[..., Any], **members: Any) -> Any:
    """A module of a class of its own, with these members."""
    forward.__annotations__ = {}
    model = type("Model", (torch.nn.Module,), {"forward": forward})()
    for name, value in members.items():
        setattr(model, name, value)
    return model.eval()


def raised(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"
