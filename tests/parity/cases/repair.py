"""Cross-layer equalization and bias correction, under torch's private names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from parity.harness import parity_case


def numbers(*shape: int, seed: int = 0) -> Any:
    """Return random numbers that are the same for both libraries."""
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


def private(torch: Any, name: str) -> Any:
    """A private module of ``ao.quantization``."""
    return import_module(f"{torch.__name__}.ao.quantization.{name}")


def filled(torch: Any, model: Any) -> Any:
    """The model with the same parameters in both libraries, channels of unequal size."""
    for i, parameter in enumerate(model.parameters()):
        values = numbers(*parameter.shape, seed=i)
        factors = np.float32(2.0) ** np.arange(-3, len(values) - 3).astype(np.float32)
        along = factors.reshape(-1, *[1] * (values.ndim - 1))
        parameter.data = torch.from_numpy(np.ascontiguousarray(values * along))
    return model.eval()


def parameters(model: Any) -> dict[str, Any]:
    return {name: each.detach().numpy().copy() for name, each in model.named_parameters()}


@parity_case()
def equalized_pair(torch: Any) -> dict[str, Any]:
    equalize = private(torch, "_equalize").cross_layer_equalization
    found = {}
    for name, layers in {
        "linear": (torch.nn.Linear(6, 7), torch.nn.Linear(7, 5, bias=False)),
        "conv": (torch.nn.Conv2d(3, 5, 3), torch.nn.Conv2d(5, 4, 2)),
    }.items():
        model = filled(torch, torch.nn.Sequential(*layers))
        equalize(*model)
        found |= {f"{name}.{key}": value for key, value in parameters(model).items()}
    return found


@parity_case()
def equalized_chain(torch: Any) -> dict[str, Any]:
    nn = torch.nn
    layers = nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Conv2d(5, 4, 2), nn.ReLU(), nn.Conv2d(4, 2, 1)
    model = filled(torch, nn.Sequential(*layers))
    return parameters(private(torch, "_equalize").equalize(model, [["0", "2"], ["2", "4"]], 1e-4))
