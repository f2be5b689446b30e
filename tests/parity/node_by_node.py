"""Two prepared graphs run side by side, each node given what torch's nodes gave.

End to end, one last bit of a float sum can move a value over a rounding tie, and from there on
everything is another number. Node by node nothing is passed on: whatever differs, the node itself
did. Observers and fake quantizers see the same input and must give the same bits; a node that adds
floats is compared, as torch's is, with its result in double precision.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

import numpy as np

from pyqref.interop.arrays import to_value

__all__ = ["Local", "Roots", "run_node_by_node", "torch_roots"]


@dataclass
class Local:
    """Differences between nodes when no difference is passed on.

    ``exact`` counts the nodes whose results are the same bits, ``inexact`` names the others.
    ``ours`` and ``theirs`` are the largest distances from double precision over all float nodes,
    relative to the largest element of the result. ``statistics`` is the largest such distance of
    the running statistics of batch norms.
    """

    exact: int = 0
    inexact: dict[str, str] = field(default_factory=dict)
    ours: float = 0.0
    theirs: float = 0.0
    statistics: float = 0.0


@dataclass
class Roots:
    """How many square roots torch rounds otherwise than to the nearest float, of how many."""

    different: int = 0
    elements: int = 0


@contextlib.contextmanager
def torch_roots() -> Iterator[Roots]:
    """Let ``Tensor.sqrt`` of pyqref give what torch gives on this processor.

    torch leaves square roots of float tensors to a vector library, whose results need not be the
    nearest float; the scale by which a convolution's weight is folded for training has one.
    """
    import torch

    import pyqref

    roots, nearest = Roots(), pyqref.Tensor.sqrt

    def sqrt(input: Any) -> Any:
        value = torch.sqrt(torch.from_numpy(input.detach().numpy())).numpy()
        roots.different += int((value != nearest(input).detach().numpy()).sum())
        roots.elements += value.size
        return pyqref.from_numpy(value)

    with mock.patch.object(pyqref.Tensor, "sqrt", sqrt):
        yield roots


def run_node_by_node(ours: Any, theirs: Any, x: Any) -> Local:
    """Calibrate (or train, without a step) two equal prepared graphs on one batch.

    Afterwards our observers have seen what torch's saw, and our batch norms hold the running
    statistics of torch's.

    Parameters
    ----------
    ours, theirs
        Prepared ``GraphModule`` of pyqref and of torch, in training or evaluation mode alike.
    x
        The batch, a float32 array.
    """
    import torch

    import pyqref

    results, exact_results = _recorded(theirs, torch.from_numpy(x))
    local = Local()
    modules = dict(ours.named_modules(remove_duplicate=False))

    class Forced(pyqref.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            expected = next(order)
            value = super().run_node(n)
            if n.op in ("call_module", "call_function", "call_method"):
                found, reference, exact = value.numpy(), results[expected], exact_results[expected]
                if found.tobytes() == reference.tobytes():
                    local.exact += 1
                else:
                    called = modules[n.target] if n.op == "call_module" else n.target
                    local.inexact[n.name] = getattr(called, "__name__", type(called).__name__)
                if exact is not None:
                    local.ours = max(local.ours, _distance(found, exact))
                    local.theirs = max(local.theirs, _distance(reference, exact))
                value = pyqref.from_numpy(reference.copy())
            return value

    order = iter(range(len(results)))
    with pyqref.no_grad():
        Forced(ours).run(pyqref.from_numpy(x))
    statistics = dict(theirs.named_buffers())
    for path, buffer in ours.named_buffers():
        if path.endswith(("running_mean", "running_var")):
            value = statistics[path].numpy()
            local.statistics = max(local.statistics, _distance(buffer.numpy(), value))
            buffer.copy_(to_value(statistics[path]))
    return local


def _distance(found: Any, exact: Any) -> float:
    return float(np.abs(found - exact).max() / max(np.abs(exact).max(), 1e-30))


def _recorded(theirs: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """Return the results of torch's nodes, and those in double precision of nodes that add."""
    import torch

    modules = dict(theirs.named_modules(remove_duplicate=False))
    results, exact = [], []

    class Record(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            args, _ = self.fetch_args_kwargs_from_env(n)
            observes = n.op != "call_module" or hasattr(modules[n.target], "calculate_qparams")
            double = None if observes else _double(modules[n.target], args[0])
            value = super().run_node(n)
            exact.append(double)
            results.append(value.detach().numpy().copy() if hasattr(value, "numpy") else None)
            return value

    with torch.no_grad():
        Record(theirs).run(x)
    return results, exact


def _double(module: Any, x: Any) -> Any:
    """The result of a float module, its weight rounded as it is, all sums in double precision."""
    import torch

    module, functional = copy.deepcopy(module), torch.nn.functional
    if not hasattr(module, "weight_fake_quant"):
        return module.double()(x.double()).numpy()
    norm = getattr(module, "bn", None)
    factor = torch.ones(len(module.weight))
    if norm is not None:
        factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    column = [-1] + [1] * (module.weight.dim() - 1)
    weight = module.weight_fake_quant(module.weight * factor.reshape(column)).double()
    if module.weight.dim() == 2:
        return functional.linear(x.double(), weight, module.bias.double()).numpy()
    y = module._conv_forward(x.double(), weight, None)
    along = (1, -1, *column[2:])
    if norm is None:
        y = y + module.bias.double().reshape(along)
    else:
        y = functional.batch_norm(
            y / factor.double().reshape(along),
            *(None, None, norm.weight.double(), norm.bias.double()),
            training=True,
            eps=norm.eps,
        )
    return (functional.relu(y) if "ReLU" in type(module).__name__ else y).numpy()
