"""Pruning, lengths and directions, spectral norms: beside those of torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref

torch = pytest.importorskip("torch")
pytest.importorskip("torch.nn.utils.prune")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

# Norms and products of some 40 float32 numbers, of size about 1.
ROUNDING = 64 * 2.0**-24


def model(library: Any) -> Any:
    rng = np.random.default_rng(0)
    made = library.nn.Sequential(
        library.nn.Conv2d(3, 4, 3), library.nn.ConvTranspose2d(4, 5, 3), library.nn.Linear(9, 7)
    )
    state = {
        key: library.from_numpy(rng.standard_normal(tuple(value.shape)).astype(np.float32))
        for key, value in made.state_dict().items()
    }
    made.load_state_dict(state)
    library.manual_seed(3)
    return made


def twice(function: str, **options: Any) -> Callable[[Any], Any]:
    def prune(library: Any) -> Any:
        made, prunes = model(library), library.nn.utils.prune
        for layer, name in ((made[0], "weight"), (made[2], "weight")):
            for _ in range(2):
                getattr(prunes, function)(layer, name, **options)
        return made

    return prune


def scores(library: Any) -> Any:
    made, prunes = model(library), library.nn.utils.prune
    rising = library.arange(63.0).reshape(7, 9)
    prunes.l1_unstructured(made[2], "weight", 20, importance_scores=rising)
    prunes.ln_structured(made[2], "weight", 2, 1, 0, importance_scores=rising)
    prunes.random_unstructured(made[2], "bias", 0.5)
    return made


def together(library: Any) -> Any:
    made, prunes = model(library), library.nn.utils.prune
    pairs = [(made[0], "weight"), (made[2], "weight"), (made[2], "bias")]
    prunes.global_unstructured(pairs, prunes.L1Unstructured, amount=0.3)
    prunes.global_unstructured(pairs, prunes.RandomUnstructured, amount=10)
    return made


def removed(library: Any) -> Any:
    made, prunes = model(library), library.nn.utils.prune
    prunes.custom_from_mask(made[2], "weight", library.eye(9)[:7])
    prunes.identity(made[2], "bias")
    prunes.remove(made[2], "weight")
    return made


PRUNED: dict[str, Callable[[Any], Any]] = {
    "random": twice("random_unstructured", amount=0.3),
    "l1": twice("l1_unstructured", amount=0.3),
    "l1 count": twice("l1_unstructured", amount=5),
    "nothing": twice("l1_unstructured", amount=0),
    "random channels": twice("random_structured", amount=1, dim=0),
    "random inputs": twice("random_structured", amount=0.4, dim=1),
    "l2 channels": twice("ln_structured", amount=1, n=2, dim=0),
    "l1 inputs": twice("ln_structured", amount=0.4, n=1, dim=1),
    "largest": twice("ln_structured", amount=1, n=float("inf"), dim=-1),
    "scores": scores,
    "together": together,
    "removed": removed,
}


@pytest.mark.parametrize("name", PRUNED)
def test_pruning(name: str) -> None:
    """Masks, products and state dicts to the bit, also of random choices."""
    theirs, ours = PRUNED[name](torch), PRUNED[name](pyqref)
    expected, actual = theirs.state_dict(), ours.state_dict()
    assert list(expected) == list(actual)
    for key, value in expected.items():
        assert value.tolist() == actual[key].tolist(), key
    for index in (0, 2):
        assert theirs[index].weight.tolist() == ours[index].weight.tolist()
        kinds = [
            [type(hook).__name__ for hook in made[index]._forward_pre_hooks.values()]
            for made in (theirs, ours)
        ]
        assert kinds[0] == kinds[1]


def used(library: Any, change: Callable[[Any, Any], None]) -> dict[str, Any]:
    """Outputs and gradients in training and evaluation, and the state after them."""
    made = model(library)
    for layer in made:
        change(library, layer)
    rng = np.random.default_rng(5)
    x = library.from_numpy(rng.standard_normal((2, 3, 9, 9)).astype(np.float32))
    found = {}
    for mode in ("train", "eval"):
        getattr(made, mode)()
        y = made(x)
        found[mode] = y.detach().numpy()
        y.square().mean().backward()
    for key, value in made.named_parameters():
        found[f"grad of {key}"] = value.grad.numpy()
    for key, value in made.state_dict().items():
        found[key] = value.detach().numpy()
    return found


NORMALIZED: dict[str, Callable[[Any, Any], None]] = {
    "weight_norm": lambda library, layer: library.nn.utils.weight_norm(layer),
    "weight_norm of all": lambda library, layer: library.nn.utils.weight_norm(layer, dim=None),
    "weight_norm of inputs": lambda library, layer: library.nn.utils.weight_norm(layer, dim=1),
    "removed": lambda library, layer: library.nn.utils.remove_weight_norm(
        library.nn.utils.weight_norm(layer)
    ),
    "spectral_norm": lambda library, layer: library.nn.utils.spectral_norm(layer),
    "two turns": lambda library, layer: library.nn.utils.spectral_norm(
        layer, n_power_iterations=2, dim=1
    ),
    "spectral_norm removed": lambda library, layer: library.nn.utils.remove_spectral_norm(
        library.nn.utils.spectral_norm(layer)
    ),
    "parametrized weight_norm": lambda library, layer: (
        library.nn.utils.parametrizations.weight_norm(layer)
    ),
    "parametrized spectral_norm": lambda library, layer: (
        library.nn.utils.parametrizations.spectral_norm(layer)
    ),
    "parametrized spectral_norm of a bias": lambda library, layer: (
        library.nn.utils.parametrizations.spectral_norm(layer, "bias", dim=0)
    ),
    "two parametrizations": lambda library, layer: library.nn.utils.parametrizations.spectral_norm(
        library.nn.utils.parametrizations.weight_norm(layer)
    ),
    "taken away": lambda library, layer: library.nn.utils.parametrize.remove_parametrizations(
        library.nn.utils.parametrizations.weight_norm(layer), "weight"
    ),
}


@pytest.mark.parametrize("name", NORMALIZED)
def test_normalized_weights(name: str) -> None:
    """Outputs, gradients and states; the random first vectors are the same too."""
    expected, actual = used(torch, NORMALIZED[name]), used(pyqref, NORMALIZED[name])
    assert list(expected) == list(actual)
    for key, value in expected.items():
        size = max(1.0, float(np.abs(value).max()))
        assert np.abs(value - actual[key]).max() <= ROUNDING * size, key


class Exponential:
    """A parametrization in either library."""

    def __new__(cls, library: Any, inverse: bool) -> Any:
        class Exp(library.nn.Module):
            def forward(self, x: Any) -> Any:
                return x.exp()

        class WithInverse(Exp):
            def right_inverse(self, y: Any) -> Any:
                return y.log()

        return WithInverse() if inverse else Exp()


@pytest.mark.parametrize("inverse", [False, True])
def test_own_parametrization(inverse: bool) -> None:
    """Registered twice, assigned, removed: keys, values and class names."""

    def run(library: Any) -> list[Any]:
        parametrize = library.nn.utils.parametrize
        layer = library.nn.Linear(2, 1)
        with library.no_grad():
            layer.weight.copy_(library.tensor([[3.0, 4.0]]))
        found: list[Any] = [parametrize.is_parametrized(layer)]
        parametrize.register_parametrization(layer, "weight", Exponential(library, inverse))
        found += [layer.weight.tolist(), list(layer.state_dict()), type(layer).__name__]
        parametrize.register_parametrization(layer, "weight", library.nn.Sigmoid())
        found += [layer.weight.tolist(), parametrize.is_parametrized(layer, "bias")]
        found.append(parametrize.type_before_parametrizations(layer).__name__)
        found.append(repr(layer))
        with parametrize.cached():
            found.append(layer.weight is layer.weight)
        found.append(layer.weight is layer.weight)
        other = parametrize.transfer_parametrizations_and_params(layer, library.nn.Linear(2, 1))
        found += [other.weight.tolist(), list(other.state_dict())]
        parametrize.remove_parametrizations(layer, "weight")
        found += [layer.weight.tolist(), list(layer.state_dict()), type(layer).__name__]
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = run(torch)
    for one, other in zip(expected, run(pyqref), strict=True):
        if isinstance(one, list) and isinstance(one[0], list):
            assert np.allclose(one, other, rtol=8 * 2.0**-24, atol=0)
        else:
            assert one == other
