"""The reference layers: rounded weights in float, states, and what they are lowered to."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.quantizable import fill, sixteenths
from parity.cases.quantized_modules import activation, module, numbers, tensor
from parity.harness import Bound, parity_case

_GATES = Bound("sums of up to 8 products, sigmoid and tanh, over 4 steps", absolute=2.0**-19)


def grids(torch: Any, rows: int, axis: int = 0) -> dict[str, dict[str, Any]]:
    """A grid per tensor and one per channel."""
    return {
        "tensor": {
            "qscheme": torch.per_tensor_affine,
            "dtype": torch.qint8,
            "scale": 2.0**-6,
            "zero_point": 3,
        },
        "channel": {
            "qscheme": torch.per_channel_affine,
            "dtype": torch.qint8,
            "scale": torch.from_numpy(np.linspace(0.004, 0.02, rows).astype(np.float32)),
            "zero_point": torch.zeros(rows, dtype=torch.int32),
            "axis": axis,
        },
    }


def integers(tensors: list[Any]) -> np.ndarray:
    """The integers of quantized tensors, one after the other."""
    return np.concatenate([each.int_repr().numpy().ravel() for each in tensors])


def state(layer: Any) -> dict[str, Any]:
    entries = layer.state_dict()
    return {"keys": " ".join(entries), **entries}


@parity_case()
def linear(torch: Any) -> dict[str, Any]:
    """Rounded weights, state, default grid, and the static and dynamic layers made of it."""
    reference = module(torch, "ao.nn.quantized.reference")
    results: dict[str, Any] = {}
    torch.backends.quantized.engine = "fbgemm"
    for name, grid in grids(torch, 5).items():
        layer = reference.Linear.from_float(fill(torch, torch.nn.Linear(7, 5)), grid)
        static = module(torch, "ao.nn.quantized").Linear.from_reference(layer, 0.05, 80)
        dynamic = module(torch, "ao.nn.quantized.dynamic").Linear.from_reference(layer)
        results[name] = {
            "weight": layer.get_weight(),
            "quantized": layer.get_quantized_weight(),
            "state": state(layer),
            "static": static(activation(torch, 1, 4, 7)),
            "dynamic": dynamic(tensor(torch, 2, 4, 7)),
            "texts": [repr(layer), repr(static), repr(dynamic)],
        }
    exact = grids(torch, 5)["tensor"]
    layer = reference.Linear.from_float(fill(torch, torch.nn.Linear(7, 5)), exact)
    results["y"] = layer(sixteenths(torch, 3, 4, 7))
    results["default"] = {
        key: value for key, value in reference.Linear(2, 2).state_dict().items() if "weight_" in key
    }
    return results


@parity_case()
def convolutions(torch: Any) -> dict[str, Any]:
    reference = module(torch, "ao.nn.quantized.reference")
    quantized = module(torch, "ao.nn.quantized")
    torch.backends.quantized.engine = "fbgemm"
    results: dict[str, Any] = {}
    for kind in ("Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d"):
        dimensions = int(kind[-2])
        axis = int("Transpose" in kind)
        float_layer = fill(torch, getattr(torch.nn, kind)(4, 3, 2, stride=2, padding=1))
        for name, grid in grids(torch, 3, axis).items():
            layer = getattr(reference, kind).from_float(float_layer, grid)
            size = (4 if dimensions < 3 else 2,) * dimensions
            if name == "tensor":
                results[kind] = layer(sixteenths(torch, 4, 1, 4, *size))
                static = getattr(quantized, kind).from_reference(layer, 0.05, 80)
                results[kind + "-static"] = static(activation(torch, 5, 1, 4, *size)).int_repr()
                results[kind + "-texts"] = " ".join(
                    [repr(layer), repr(static), *layer.state_dict()]
                )
            results[f"{kind}-{name}"] = layer.get_quantized_weight().int_repr()
    return results


@parity_case()
def embeddings(torch: Any) -> dict[str, Any]:
    reference = module(torch, "ao.nn.quantized.reference")
    grid = {
        "qscheme": torch.per_channel_affine_float_qparams,
        "dtype": torch.quint8,
        "scale": torch.from_numpy(np.linspace(0.01, 0.02, 6).astype(np.float32)),
        "zero_point": torch.from_numpy(np.linspace(60.2, 70.9, 6).astype(np.float32)),
        "axis": 0,
    }
    table = reference.Embedding.from_float(fill(torch, torch.nn.Embedding(6, 3)), grid)
    bag = reference.EmbeddingBag.from_float(
        fill(torch, torch.nn.EmbeddingBag(6, 3, mode="sum")), grid
    )
    indices = torch.tensor([1, 5, 0, 1])
    return {
        "rows": table(indices),
        "bags": bag(indices, torch.tensor([0, 2])),
        "texts": [repr(table), repr(bag)],
        "state": state(table),
    }


def both(result: Any) -> tuple[Any, ...]:
    """Results of a cell, one or two."""
    return result if isinstance(result, tuple) else (result,)


@parity_case(bounds={"*float*": _GATES})
def cells(torch: Any) -> dict[str, Any]:
    reference = module(torch, "ao.nn.quantized.reference")
    dynamic = module(torch, "ao.nn.quantized.dynamic")
    results: dict[str, Any] = {}
    torch.backends.quantized.engine = "fbgemm"
    for kind, gates in (("RNNCell", 1), ("LSTMCell", 4), ("GRUCell", 3)):
        cell = fill(torch, getattr(torch.nn, kind)(4, 2))
        for name, grid in grids(torch, 2 * gates).items():
            layer = getattr(reference, kind).from_float(
                cell, {"weight_ih": grid, "weight_hh": grid, "is_decomposed": False}
            )
            result = layer(tensor(torch, 6, 3, 4))
            lowered = getattr(dynamic, kind).from_reference(layer)
            low = lowered(tensor(torch, 6, 3, 4))
            results[f"{kind}-{name}"] = {
                "float": numbers(dict(enumerate([*both(result), *both(low)]))),
                "ih": layer.get_quantized_weight_ih().int_repr(),
                "hh": layer.get_weight_hh(),
                "texts": repr(layer) + " ".join(layer.state_dict()),
            }
    return results


@parity_case(bounds={"*float*": _GATES})
def layers(torch: Any) -> dict[str, Any]:
    reference = module(torch, "ao.nn.quantized.reference")
    results: dict[str, Any] = {}
    for kind, gates in (("LSTM", 4), ("GRU", 3)):
        source = fill(torch, getattr(torch.nn, kind)(4, 2, 2, bidirectional=True))
        names = [name for name, _ in source.named_parameters() if name.startswith("weight")]
        for name, grid in grids(torch, 2 * gates).items():
            every = dict.fromkeys(names, grid)
            layer = getattr(reference, kind).from_float(source, {**every, "is_decomposed": False})
            output, states = layer(tensor(torch, 7, 4, 3, 4))
            states = states if isinstance(states, tuple) else (states,)
            found = layer.get_quantized_weight_bias_dict()
            results[f"{kind}-{name}"] = {
                "float": numbers({"output": output, **dict(enumerate(states))}),
                "weights": integers([found[each] for each in names]),
                "texts": " ".join([repr(layer), *sorted(found), *layer.state_dict()]),
            }
    return results


@parity_case()
def converted(torch: Any) -> dict[str, Any]:
    """convert(..., is_reference=True)."""
    nn, quantization = torch.nn, module(torch, "ao.quantization")
    results = {}
    for name in ("default_weight_observer", "default_per_channel_weight_observer"):
        model = nn.Sequential(
            fill(torch, nn.Conv2d(3, 4, 2)),
            nn.ReLU(),
            nn.Flatten(),
            fill(torch, nn.Linear(16, 3)),
        ).eval()
        model.qconfig = quantization.QConfig(
            activation=quantization.default_observer, weight=getattr(quantization, name)
        )
        prepared = quantization.prepare(model)
        prepared(sixteenths(torch, 8, 2, 3, 3, 3))
        made = quantization.convert(prepared, is_reference=True)
        results[name] = {
            "repr": repr(made),
            "keys": " ".join(made.state_dict()),
            "weight": made[0].get_quantized_weight(),
            "linear": made[3].get_weight(),
        }
    return results
