"""Input-weight equalization of graph mode, under torch's private names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from parity.harness import parity_case


def numbers(*shape: int, seed: int = 0) -> Any:
    """Return random eighths, of which sums are exact, the same for both libraries."""
    eighths = np.random.default_rng((seed, *shape)).integers(-16, 17, shape)
    return (eighths / 8).astype(np.float32)


def unlike(*shape: int, seed: int = 0) -> Any:
    """Return numbers whose columns, at axis 1, differ in size."""
    sizes = np.float32(4) ** np.arange(-1, shape[1] - 1, dtype=np.float32)
    return numbers(*shape, seed=seed) * sizes.reshape(-1, *[1] * (len(shape) - 2))


def filled(torch: Any, model: Any) -> Any:
    """The model with the same parameters and buffers in both libraries."""
    for i, (_, each) in enumerate([*model.named_parameters(), *model.named_buffers()]):
        each.data = torch.from_numpy(numbers(*each.shape, seed=i))
    return model.eval()


def functions(torch: Any) -> Any:
    """Two linear functions with a ReLU between them, whose weights are buffers."""

    class Functions(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            for name, shape in {"w": (4, 3), "b": (4,), "v": (2, 4)}.items():
                self.register_buffer(name, torch.zeros(*shape))

        def forward(self, x: Any) -> Any:
            linear = torch.nn.functional.linear
            return linear(torch.nn.functional.relu(linear(x, self.w, self.b)), self.v)

    return Functions()


def models(torch: Any) -> dict[str, tuple[Any, tuple[int, ...]]]:
    nn = torch.nn
    return {
        "one": (nn.Sequential(nn.Linear(3, 4)), (9, 3)),
        "chain": (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (9, 3)),
        "conv": (nn.Sequential(nn.Conv2d(3, 4, 2), nn.Conv2d(4, 2, 1)), (2, 3, 5, 5)),
        "hardswish": (nn.Sequential(nn.Linear(3, 4), nn.Hardswish(), nn.Linear(4, 2)), (9, 3)),
        "functions": (functions(torch), (9, 3)),
    }


def equalized(torch: Any, model: Any, x: Any, qconfig: Any) -> dict[str, Any]:
    """Prepare, calibrate and convert; the names of the nodes, factors, grids and integers."""
    equalize = import_module(f"{torch.__name__}.ao.quantization.fx._equalize")
    graph_mode = import_module(f"{torch.__name__}.ao.quantization.quantize_fx")
    mapping = torch.ao.quantization.QConfigMapping
    columns = mapping().set_global(equalize.default_equalization_qconfig)
    prepared = graph_mode.prepare_fx(
        model, mapping().set_global(qconfig), (x,), _equalization_config=columns
    )
    prepared(x[:5])
    prepared(x[5:] * 2)
    nodes = [node.name for node in prepared.graph.nodes]
    reference = graph_mode.convert_to_reference_fx(prepared)
    found = {"prepared": " ".join(nodes)}
    found["reference"] = " ".join(
        node.name for node in reference.graph.nodes if node.op != "get_attr"
    )
    for name, each in reference.named_buffers():
        if "equalization" in name or "scale_" in name or "zero_point_" in name:
            found[name] = each
    for path, each in reference.named_modules():
        if hasattr(each, "get_quantized_weight"):
            found[f"{path}.weight"] = each.get_quantized_weight().int_repr()
            found[f"{path}.bias"] = each.bias.detach()
    return found


@parity_case(conventions="torch")
def equalized_models(torch: Any) -> dict[str, Any]:
    found = {}
    qconfig = torch.ao.quantization.default_qconfig
    for name, (model, shape) in models(torch).items():
        x = torch.from_numpy(unlike(*shape))
        results = equalized(torch, filled(torch, model), x, qconfig)
        found |= {f"{name}.{key}": value for key, value in results.items()}
    return found


@parity_case(conventions="torch")
def equalized_with_histograms(torch: Any) -> dict[str, Any]:
    model, shape = models(torch)["chain"]
    x = torch.from_numpy(unlike(*shape))
    qconfig = torch.ao.quantization.get_default_qconfig("fbgemm")
    return equalized(torch, filled(torch, model), x, qconfig)


@parity_case()
def factors_of_columns(torch: Any) -> dict[str, Any]:
    equalize = import_module(f"{torch.__name__}.ao.quantization.fx._equalize")
    columns, weight = unlike(9, 5), numbers(4, 5)
    columns[:, 0] = weight[:, 1] = 0
    inputs, weights = equalize._InputEqualizationObserver(), equalize._WeightEqualizationObserver()
    inputs(torch.from_numpy(columns))
    weights(torch.from_numpy(weight))
    found = {"scale": equalize.calculate_equalization_scale(inputs, weights)}
    for i, each in enumerate((*inputs.get_input_minmax(), *weights.get_weight_col_minmax())):
        found[f"range{i}"] = each
    inputs.set_equalization_scale(found["scale"])
    for i, each in enumerate(inputs.calculate_scaled_minmax()):
        found[f"scaled{i}"] = each
    return found
