"""Pruning, lengths and directions, spectral norms: their equations and what they refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.nn.utils import parametrizations, parametrize, prune


def layer(*rows: list[float]) -> nn.Linear:
    made = nn.Linear(len(rows[0]), len(rows))
    made.weight = nn.Parameter(pyqref.tensor(rows))
    return made


def test_masks_add_up() -> None:
    """A second pruning counts what is left: half of four, then half of two."""
    made = layer([1.0, -2.0, 3.0, -4.0])
    masks = []
    for _ in range(2):
        prune.l1_unstructured(made, "weight", 0.5)
        masks.append(made.weight_mask.tolist())
    assert [[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 0.0, 1.0]]] == masks
    prune.remove(made, "weight")
    assert [[0.0, 0.0, 0.0, -4.0]] == made.weight.tolist()
    assert isinstance(made.weight, nn.Parameter)
    assert not prune.is_pruned(made)


def test_training_goes_on_with_what_is_left() -> None:
    """The gradient of what is pruned is zero; the next call has the new weight."""
    made = prune.custom_from_mask(layer([1.0, 2.0]), "weight", pyqref.tensor([[1, 0]]))
    optimizer = pyqref.optim.SGD(made.parameters(), lr=0.5)
    made(pyqref.ones(1, 2)).sum().backward()
    assert [[1.0, 0.0]] == made.weight_orig.grad.tolist()
    optimizer.step()
    made(pyqref.ones(1, 2))
    assert [[0.5, 0.0]] == made.weight.tolist()


def test_a_pruned_model_is_quantized() -> None:
    """After remove, the zeros of the weight are zeros of the quantized weight."""
    model = nn.Sequential(nn.Linear(8, 4)).eval()
    prune.l1_unstructured(model[0], "weight", 0.5)
    prune.remove(model[0], "weight")
    zeros = model[0].weight == 0
    quantized = pyqref.quantization.quantize_dynamic(model)
    assert (quantized[0].weight().dequantize()[zeros] == 0).all()


def test_global_pruning_compares_all() -> None:
    """The smallest of two layers together, where single layers would lose as many each."""
    first, second = layer([1.0, 2.0]), layer([3.0, 0.5])
    prune.global_unstructured(
        [(first, "weight"), (second, "weight")], prune.L1Unstructured, amount=2
    )
    assert ([[0.0, 1.0]], [[1.0, 0.0]]) == (first.weight_mask.tolist(), second.weight_mask.tolist())


def test_prune_without_a_module() -> None:
    """``prune`` gives a tensor and changes none."""
    t = pyqref.tensor([1.0, 4.0, -2.0, 3.0])
    assert [0.0, 4.0, 0.0, 3.0] == prune.L1Unstructured(2).prune(t).tolist()
    assert [1.0, 0.0, -2.0, 0.0] == prune.L1Unstructured(2).prune(
        t, importance_scores=-1 / t
    ).tolist()


def test_length_and_direction() -> None:
    """``g * v / norm(v)``: doubling g doubles the weight, scaling v changes nothing."""
    made = nn.utils.weight_norm(layer([3.0, 4.0], [0.0, 2.0]))
    assert [[5.0], [2.0]] == made.weight_g.tolist()
    with pyqref.no_grad():
        made.weight_g.mul_(2)
        made.weight_v.mul_(4)
    made(pyqref.ones(1, 2))
    assert [[6.0, 8.0], [0.0, 4.0]] == made.weight.tolist()


@pytest.mark.parametrize("kind", ["hook", "parametrization"])
def test_spectral_norm_is_one(kind: str) -> None:
    """After many turns the largest singular value is one."""
    rng = np.random.default_rng(0)
    made = layer(*rng.standard_normal((4, 6)).tolist())
    module = nn.utils if kind == "hook" else parametrizations
    module.spectral_norm(made, n_power_iterations=200)
    made(pyqref.ones(1, 6))
    largest = np.linalg.svd(made.weight.detach().numpy(), compute_uv=False)[0]
    # u . W v has some 30 roundings of float32.
    assert abs(1 - largest) <= 32 * 2.0**-24


def test_copies_of_parametrized_modules() -> None:
    """A copy has a class, parameters and properties of its own; pickle is refused with advice."""
    made = parametrizations.weight_norm(layer([3.0, 4.0]))
    copied = copy.deepcopy(made)
    parametrize.remove_parametrizations(made, "weight")
    assert type(made) is nn.Linear
    assert parametrize.is_parametrized(copied, "weight")
    assert [[3.0, 4.0]] == copied.weight.tolist()
    copied.weight = pyqref.tensor([[0.0, 2.0]])
    assert ([[2.0]], [[3.0, 4.0]]) == (
        copied.parametrizations.weight.original0.tolist(),
        made.weight.tolist(),
    )
    with pytest.raises(RuntimeError, match=r"remove_parametrizations\(\) first"):
        copied.__getstate__()


class Half(nn.Module):
    """Halves the shape."""

    def forward(self, x: Any) -> Any:
        """The first row."""
        return x[:1]


LAYER = layer([1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: prune.remove(LAYER, "weight"), ValueError, "has to be pruned before"),
        (lambda: prune.identity(LAYER, "wait"), AttributeError, "it has: weight, bias"),
        (lambda: prune.l1_unstructured(LAYER, "weight", 1.5), ValueError, "amount=1.5 should"),
        (lambda: prune.l1_unstructured(LAYER, "weight", -1), ValueError, "non-negative integer"),
        (lambda: prune.l1_unstructured(LAYER, "weight", 5), ValueError, "to prune=4"),
        (lambda: prune.l1_unstructured(LAYER, "weight", "all"), TypeError, "number, got str"),
        (lambda: prune.ln_structured(LAYER, "bias", 1, 2, 0), ValueError, "dim > 1; got 1"),
        (lambda: prune.ln_structured(LAYER, "weight", 1, 2, 2), IndexError, "Invalid index 2"),
        (
            lambda: prune.custom_from_mask(LAYER, "bias", pyqref.ones(3)),
            ValueError,
            r"shape \(2,\), got \(3,\)",
        ),
        (
            lambda: prune.global_unstructured(
                [(LAYER, "weight")], prune.LnStructured, amount=1, n=1
            ),
            TypeError,
            'Only "unstructured"',
        ),
        (lambda: nn.utils.remove_weight_norm(LAYER), ValueError, "weight_norm of 'weight' not"),
        (lambda: nn.utils.remove_spectral_norm(LAYER), ValueError, "spectral_norm of 'weight' not"),
        (
            lambda: nn.utils.weight_norm(nn.utils.weight_norm(layer([1.0]))),
            RuntimeError,
            "call remove_weight_norm first",
        ),
        (
            lambda: nn.utils.spectral_norm(nn.utils.spectral_norm(layer([1.0]))),
            RuntimeError,
            "call remove_spectral_norm first",
        ),
        (
            lambda: parametrize.register_parametrization(LAYER, "wait", Half()),
            ValueError,
            "parametrized element with name 'wait'",
        ),
        (
            lambda: parametrize.register_parametrization(layer([1.0], [2.0]), "weight", Half()),
            ValueError,
            r"\(2, 1\) became pyqref.float32 \(1, 1\)",
        ),
        (
            lambda: parametrize.remove_parametrizations(LAYER, "weight"),
            ValueError,
            "does not have a parametrization on weight",
        ),
        (lambda: parametrizations.weight_norm(LAYER, "wait"), ValueError, "name 'wait'"),
        (lambda: parametrizations.spectral_norm(LAYER, "wait"), ValueError, "buffer 'wait'"),
    ],
)
def test_errors(action: Callable[[], Any], error: type[Exception], message: str) -> None:
    """Impossible arguments are refused, and the layer stays as it was."""
    with pytest.raises(error, match=message):
        action()
    assert ["weight", "bias"] == list(LAYER.state_dict())
