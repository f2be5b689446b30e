"""Static quantization of networks with norms, other activations, and a recurrent layer."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.scripts_static import kinds
from parity.eager_models import exact_values, fill, images, stored
from parity.harness import Bound, parity_case


def calibrated(torch: Any, model: Any, batches: list[Any]) -> Any:
    torch.backends.quantized.engine = "fbgemm"
    q = torch.ao.quantization
    model.eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    for x in batches:
        prepared(x)
    return q.convert(prepared)


@parity_case()
def activations_behind_a_convolution(torch: Any) -> dict[str, Any]:
    """Hardswish, ELU, LeakyReLU, ReLU6, Sigmoid, Tanh, PReLU: each behind its own convolution."""
    nn, q = torch.nn, torch.ao.quantization
    results = {}
    layers = (
        nn.Hardswish(),
        nn.ELU(),
        nn.LeakyReLU(0.1),
        nn.ReLU6(),
        nn.Sigmoid(),
        nn.Tanh(),
        nn.Hardsigmoid(),
    )
    for layer in layers:
        model = nn.Sequential(q.QuantStub(), nn.Conv2d(2, 3, 3), layer)
        fill(torch, model, exact_values)
        quantized = calibrated(torch, model, [images(torch, 1), images(torch, 2)])
        results[type(layer).__name__] = {
            "kinds": kinds(quantized),
            "output": quantized(images(torch, 3, 1)),
        }
    return results


@parity_case()
def norms_behind_a_convolution(torch: Any) -> dict[str, Any]:
    nn, q = torch.nn, torch.ao.quantization
    results = {}
    layers = (
        nn.BatchNorm2d(4),
        nn.GroupNorm(2, 4),
        nn.InstanceNorm2d(4, affine=True),
        nn.LayerNorm([4, 6, 6]),
    )
    for layer in layers:
        model = nn.Sequential(q.QuantStub(), nn.Conv2d(2, 4, 3), layer, q.DeQuantStub())
        fill(torch, model, exact_values)
        quantized = calibrated(torch, model, [images(torch, 1), images(torch, 2)])
        features = quantized[2](quantized[1](quantized[0](images(torch, 3, 1))))
        results[type(layer).__name__] = {"kinds": kinds(quantized), "features": features}
    return results


@parity_case(
    {
        "*scale*": Bound("ranges of sums in another order", relative=1e-5),
        "output": Bound("the same integers on a scale of such a range", relative=1e-5),
    }
)
def recurrent_layer_taken_apart(torch: Any) -> dict[str, Any]:
    """LSTM in a static model: ``prepare`` makes it quantizable, ``convert`` quantized."""
    nn, q = torch.nn, torch.ao.quantization

    class Tagger(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant = q.QuantStub()
            self.lstm = nn.LSTM(4, 5)
            self.head = nn.Linear(5, 3)
            self.dequant = q.DeQuantStub()

        def forward(self, x: Any) -> Any:
            states, _ = self.lstm(self.quant(x))
            return self.dequant(self.head(states))

    model = fill(torch, Tagger(), exact_values)
    rng = np.random.default_rng(0)
    batches = [
        torch.from_numpy((rng.integers(-8, 9, (4, 2, 4)) / 4).astype(np.float32)) for _ in range(3)
    ]
    quantized = calibrated(torch, model, batches[:2])
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        "output": quantized(batches[2]),
    }
