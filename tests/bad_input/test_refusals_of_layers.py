"""Calls of layers and schedules that are refused, each with the words that say why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref
from pyqref import nn, optim
from pyqref.nn.utils import parametrizations, parametrize, prune
from pyqref.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

ONES = pyqref.ones(2, 3)


def optimizer() -> optim.SGD:
    return optim.SGD([nn.Parameter(pyqref.ones(2))], lr=0.1)


class Turned(nn.Module):
    """A parametrization that goes back by ``back``."""

    def __init__(self, forth: Callable[[Any], Any], back: Callable[[Any], Any] | None = None):
        super().__init__()
        self.forth = forth
        if back is not None:
            self.right_inverse = back

    def forward(self, *x: Any) -> Any:
        return self.forth(*x)


def parametrized(*steps: nn.Module, unsafe: bool = False) -> nn.Module:
    layer = nn.Linear(2, 2)
    for step in steps:
        parametrize.register_parametrization(layer, "weight", step, unsafe=unsafe)
    return layer


class NoKind(prune.BasePruningMethod):
    """A pruning method of no kind."""

    PRUNING_TYPE = "half"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


def twice_stepped() -> None:
    """A schedule of one step that is stepped three times."""
    schedule = optim.lr_scheduler.OneCycleLR(optimizer(), 0.1, total_steps=1)
    for _ in range(3):
        schedule.optimizer.step()
        schedule.step()


CALLS: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # layers
    "sequential plus a number": (lambda: nn.Sequential() + 1, ValueError, "int is given"),
    "sequential plus a number, in place": (
        lambda: nn.Sequential().__iadd__(1),
        ValueError,
        "int is given",
    ),
    "shared memory": (lambda: nn.ReLU().share_memory(), RuntimeError, "in one process"),
    "to, unknown word": (lambda: nn.ReLU().to(color=1), TypeError, "keyword argument 'color'"),
    "instance norm, channels": (
        lambda: nn.InstanceNorm1d(4, affine=True)(pyqref.ones(2, 3, 5)),
        ValueError,
        "expected 4, got 3",
    ),
    "bilinear of nothing": (lambda: nn.Bilinear(0, 1, 1), ValueError, "in1_features must be > 0"),
    "parameters from a number": (
        lambda: nn.ParameterDict().update(1),
        TypeError,
        "iterable of key/value pairs",
    ),
    "triplet margin": (lambda: nn.TripletMarginLoss(margin=0), ValueError, "margin to be greater"),
    "gru projection": (
        lambda: nn.RNNBase("GRU", 2, 3, proj_size=2),
        ValueError,
        "only supported for LSTM",
    ),
    "dropout of truth": (lambda: nn.GRU(2, 3, dropout=True), ValueError, "dropout should be"),
    "no steps": (lambda: nn.GRU(2, 3)(pyqref.ones(0, 1, 2)), RuntimeError, "sequence length"),
    "unbatched state": (
        lambda: nn.GRU(2, 3)(pyqref.ones(4, 2), pyqref.ones(1, 1, 3)),
        RuntimeError,
        "hx should be 2-D but got 3-D",
    ),
    "embedding, other table": (
        lambda: nn.Embedding(2, 3, _weight=pyqref.ones(3, 2)),
        ValueError,
        r"expected \[2, 3\], got \[3, 2\]",
    ),
    "embedding, no table": (
        lambda: nn.Embedding.from_pretrained(pyqref.ones(3)),
        ValueError,
        "2-dimensional, got 1",
    ),
    "transformer's activation": (
        lambda: nn.TransformerEncoderLayer(4, 2, activation=3),
        TypeError,
        "activation must be",
    ),
    "softmax2d of a row": (lambda: nn.Softmax2d()(ONES), ValueError, "3D or 4D"),
    "no such parameter": (
        lambda: nn.ReLU().get_parameter("weight"),
        AttributeError,
        "ReLU has no attribute `weight`",
    ),
    "submodule without a name": (
        lambda: nn.Sequential().set_submodule("", nn.ReLU()),
        ValueError,
        "without a target name",
    ),
    "submodule of another kind": (
        lambda: nn.Sequential().set_submodule("0", 1),
        ValueError,
        "not an nn.Module, got int",
    ),
    "submodule where none is": (
        lambda: nn.Sequential().set_submodule("0", nn.ReLU(), strict=True),
        AttributeError,
        "no attribute `0`",
    ),
    "submodule over a number": (
        lambda: nn.Linear(1, 1).set_submodule("in_features", nn.ReLU()),
        AttributeError,
        "not an nn.Module",
    ),
    "parallel number": (lambda: nn.DataParallel(1), TypeError, "module must be a module"),
    # nn.utils
    "fold, other bias": (
        lambda: nn.utils.fuse_linear_bn_weights(
            pyqref.ones(2, 2), *(pyqref.ones(n) for n in (3, 2, 2)), 1e-5, *[pyqref.ones(2)] * 2
        ),
        ValueError,
        "one number for each row of linear_w, 2, got shape",
    ),
    "no parametrizations": (
        lambda: parametrize.ParametrizationList([], ONES),
        ValueError,
        "one or more modules",
    ),
    "parametrization, inverse of another dtype": (
        lambda: parametrized(Turned(lambda x: x, lambda x: x.double())),
        ValueError,
        "may not change the dtype",
    ),
    "parametrization, inverse of numbers": (
        lambda: parametrized(Turned(lambda *x: x[0], lambda x: (x, 1))),
        ValueError,
        "got int at 1",
    ),
    "parametrization, no inverse": (
        lambda: parametrized(Turned(lambda x: x, lambda x: 1)),
        ValueError,
        "Got int",
    ),
    "parametrization, a number": (
        lambda: parametrized(Turned(lambda x: 1)),
        ValueError,
        "must return a tensor. Got int",
    ),
    "second parametrization, a number": (
        lambda: parametrized(Turned(lambda x: x), Turned(lambda x: 1)),
        ValueError,
        "must return a tensor. Got int",
    ),
    "second parametrization, another shape": (
        lambda: parametrized(Turned(lambda x: x), Turned(lambda x: x[0])),
        ValueError,
        r"\(2, 2\) became torch.float32 \(2,\)|\(2, 2\) became pyqref.float32 \(2,\)",
    ),
    "parametrization, fewer values": (
        lambda: setattr(
            parametrized(Turned(lambda *x: x[0], lambda x: (x, x)[: 2 - (x == 0).all().item()])),
            "weight",
            pyqref.zeros(2, 2),
        ),
        ValueError,
        "must return 2 tensors, got 1",
    ),
    "parametrization of two, left": (
        lambda: parametrize.remove_parametrizations(
            parametrized(Turned(lambda *x: x[0], lambda x: (x, x))),
            "weight",
            leave_parametrized=False,
        ),
        ValueError,
        "Cannot leave unparametrized",
    ),
    "orthogonal, other shape": (
        lambda: setattr(parametrizations.orthogonal(nn.Linear(2, 2)), "weight", pyqref.ones(3, 3)),
        ValueError,
        r"of shape \(2, 2\), got \(3, 3\)",
    ),
    "spectral norm, no axis": (
        lambda: parametrizations.spectral_norm(nn.Linear(2, 2), dim=2),
        IndexError,
        "Dimension out of range",
    ),
    "spectral norm, no iterations": (
        lambda: parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0),
        ValueError,
        "to be positive",
    ),
    "old spectral norm, no iterations": (
        lambda: nn.utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0),
        ValueError,
        "to be positive",
    ),
    "old spectral norm, no bias": (
        lambda: nn.utils.spectral_norm(nn.Linear(2, 2, bias=False), "bias"),
        ValueError,
        "parameter `bias` is None",
    ),
    "pruning container of a number": (
        lambda: prune.PruningContainer().add_pruning_method(1),
        TypeError,
        "not a BasePruningMethod",
    ),
    "pruning, no kind": (
        lambda: NoKind.apply(prune.identity(nn.Linear(2, 2), "weight"), "weight"),
        ValueError,
        "PRUNING_TYPE must be",
    ),
    "pruning, scores of a number": (
        lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", 1, importance_scores=1),
        TypeError,
        "importance_scores must be a Tensor",
    ),
    "pruning, other scores": (
        lambda: prune.l1_unstructured(nn.Linear(2, 2), "weight", 1, importance_scores=ONES),
        ValueError,
        r"shape \(2, 2\), got \(2, 3\)",
    ),
    "global pruning of a number": (
        lambda: prune.global_unstructured(1, prune.L1Unstructured),
        TypeError,
        "pairs of module and name",
    ),
    "global pruning, scores": (
        lambda: prune.global_unstructured([], prune.L1Unstructured, importance_scores=1),
        TypeError,
        "must be a dictionary",
    ),
    "global pruning of nothing": (
        lambda: prune.global_unstructured([], prune.L1Unstructured),
        ValueError,
        "no parameters to prune",
    ),
    "padding to less": (
        lambda: pad_packed_sequence(pack_padded_sequence(ONES, [2, 2, 1]), total_length=1),
        ValueError,
        "total_length=1 and max sequence length being 2",
    ),
    "padding, no side": (
        lambda: pad_sequence([ONES], padding_side="top"),
        RuntimeError,
        "got 'top'",
    ),
    "padding of nothing": (lambda: pad_sequence([]), RuntimeError, "empty list of sequences"),
    # optim
    "schedule of a number": (
        lambda: optim.lr_scheduler.OneCycleLR(1, 0.1, total_steps=3),
        TypeError,
        "int is not an Optimizer",
    ),
    "cyclic schedule of a number": (
        lambda: optim.lr_scheduler.CyclicLR(1, 0.1, 0.2),
        TypeError,
        "int is not an Optimizer",
    ),
    "one cycle, no such curve": (
        lambda: optim.lr_scheduler.OneCycleLR(
            optimizer(), 0.1, total_steps=3, anneal_strategy="exp"
        ),
        ValueError,
        "'cos' or 'linear', got 'exp'",
    ),
    "one cycle, one step more": (twice_stepped, ValueError, "number of total steps is 1"),
    "chained schedules, a number": (
        lambda: optim.lr_scheduler.ChainedScheduler([1], optimizer()),
        TypeError,
        "scheduler 0 has no `optimizer`",
    ),
    "warm restarts, a half": (
        lambda: optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer(), 2, T_mult=1.5),
        ValueError,
        "T_mult must be an integer",
    ),
    "swa, no such curve": (
        lambda: optim.swa_utils.SWALR(optimizer(), 0.1, anneal_strategy="exp"),
        ValueError,
        "'cos' or 'linear'",
    ),
    "swa, half an epoch": (
        lambda: optim.swa_utils.SWALR(optimizer(), 0.1, anneal_epochs=0.5),
        ValueError,
        "anneal_epochs must be",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused_says_why(name: str) -> None:
    """The class and the words of an error."""
    call, kind, words = CALLS[name]
    with pytest.raises(kind, match=words):
        call()
