"""Describe graphs of either library in the same words, and compare whole workflows."""

from __future__ import annotations

import copy
import importlib
import re
import types
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from parity.eager_models import exact_values, fill

__all__ = [
    "describe",
    "global_mapping",
    "graph_mode",
    "images",
    "model",
    "rows",
    "sequences",
    "workflow",
]


def graph_mode(torch: Any) -> Any:
    """``torch.ao.quantization.quantize_fx``."""
    return importlib.import_module(f"{torch.__name__}.ao.quantization.quantize_fx")


def target_name(target: Any) -> str:
    """Return the name of what a node calls, without the namespace of the library."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__name__", str(target))
    module = str(getattr(target, "__module__", "") or "")
    if module == "_operator":
        return f"operator.{name}"
    text = str(target)
    if text.startswith("quantized.") or ".ops.quantized" in module:
        return f"quantized.{name.split('.')[-1]}"
    return name


def argument(value: Any) -> Any:
    """An argument as text: nodes by name, types without namespace."""
    if isinstance(value, tuple | list):
        return f"[{', '.join(argument(each) for each in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {argument(v)}" for k, v in sorted(value.items())) + "}"
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"{float(value):.9g}"
    return re.sub(r"\b(torch|pyqref)\.", "", str(value))


def kind(module: Any) -> str:
    """The class of a module, with the package that tells namesakes apart."""
    places = ("intrinsic", "qat", "quantized", "reference", "dynamic", "quantizable")
    path = [each for each in type(module).__module__.split(".") if each in places]
    # float16 weights: the documentation has a NoopObserver, torch 2.13 a PlaceholderObserver.
    name = type(module).__name__.replace("NoopObserver", "PlaceholderObserver")
    return ".".join([*path, name])


def describe(model: Any) -> str:
    """The nodes of a graph module, one a line; observers numbered by identity."""
    lines = []
    shared: dict[int, int] = {}
    modules = dict(model.named_modules(remove_duplicate=False))
    for node in model.graph.nodes:
        line = f"{node.name} = {node.op} {target_name(node.target)} {argument(node.args)}"
        if node.kwargs:
            line += f" {argument(dict(node.kwargs))}"
        if node.op == "call_module":
            module = modules[node.target]
            line += f" :: {kind(module)}"
            if hasattr(module, "calculate_qparams"):
                line += f" #{shared.setdefault(id(module), len(shared))} {argument(module.dtype)}"
            inner = sorted(kind(each) for each in module.children())
            if inner and not hasattr(module, "calculate_qparams"):
                line += f" of {inner}"
        lines.append(line)
    return "\n".join(lines)


def numbers(model: Any) -> dict[str, Any]:
    """Scales, zero points and quantized weights of a graph module, by the path."""
    scales, zero_points, weights = [], [], []
    modules = dict(model.named_modules())
    paths = sorted({n.target for n in model.graph.nodes if n.op == "get_attr"})
    for path in paths:
        owner, _, name = path.rpartition(".")
        value = getattr(modules[owner], name, None)
        if hasattr(value, "is_quantized") and not value.is_quantized:
            chosen = zero_points if "zero_point" in name else scales
            chosen.append(np.asarray(value.detach().numpy(), np.float64).ravel())
    for path in sorted(modules):
        module = modules[path]
        if hasattr(module, "scale") and hasattr(module, "zero_point"):
            scales.append(np.float64([float(module.scale)]))
            zero_points.append(np.float64([float(module.zero_point)]))
        weight = getattr(module, "weight", None)
        own = isinstance(weight, types.MethodType) and not hasattr(module, "get_quantized_weight")
        if own and weight().is_quantized:
            weights.append(weight().int_repr().numpy().ravel().astype(np.int16))
    joined = {"scales": scales, "zero_points": zero_points, "weights": weights}
    return {name: np.concatenate(each) if each else np.zeros(0) for name, each in joined.items()}


def workflow(
    torch: Any,
    model: Any,
    example: tuple[Any, ...],
    *,
    mapping: Any = None,
    qat: bool = False,
    reference: bool = True,
    values: Callable[..., Any] = exact_values,
    inputs: Callable[[int], tuple[Any, ...]] | None = None,
    prepare_custom_config: Any = None,
    convert_custom_config: Any = None,
    convert_mapping: Any = None,
    backend_config: Any = None,
    run_converted: bool = True,
) -> dict[str, Any]:
    """Prepare, calibrate and convert a model; every graph, number and output.

    Parameters
    ----------
    torch
        The library.
    model
        The model, whose parameters are filled here.
    example
        Inputs for calibration, and for the comparison.
    mapping
        The QConfigMapping; the default one of x86 if None.
    qat
        Whether for training, without any training step.
    reference
        Whether also to convert to the reference model.
    run_converted
        Whether to run the lowered model, too; False where torch refuses to, or errs.
    """
    q, fx = torch.ao.quantization, graph_mode(torch)
    fill(torch, model, values)
    if mapping is None:
        get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
        mapping = get("x86")
    prepare = fx.prepare_qat_fx if qat else fx.prepare_fx
    options = {"backend_config": backend_config}
    prepared = prepare(
        model.train() if qat else model.eval(),
        mapping,
        example,
        prepare_custom_config=prepare_custom_config,
        **options,
    )
    found: dict[str, Any] = {"prepared": describe(prepared)}
    with torch.no_grad():
        prepared(*example)
        if inputs is not None:
            prepared(*inputs(1))
    if qat:
        prepared.eval()
    warnings.filterwarnings("ignore", message=".*is called more than once")
    if reference:
        model_ = fx.convert_to_reference_fx(
            copy.deepcopy(prepared),
            convert_custom_config=convert_custom_config,
            qconfig_mapping=convert_mapping,
            **options,
        )
        found["reference"] = describe(model_)
        found["reference_output"] = flat(model_(*example))
    converted = fx.convert_fx(
        prepared,
        convert_custom_config=convert_custom_config,
        qconfig_mapping=convert_mapping,
        **options,
    )
    found["converted"] = describe(converted)
    found["numbers"] = numbers(converted)
    found["keys"] = "\n".join(sorted(converted.state_dict()))
    if run_converted:
        found["output"] = flat(converted(*example))
        found["integers"] = integers(torch, converted, example)
    return found


def integers(torch: Any, converted: Any, example: tuple[Any, ...]) -> Any:
    """A checksum of the stored integers of every quantized value, in the order of the nodes."""
    found = []

    class Listen(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            value = super().run_node(n)
            if getattr(value, "is_quantized", False) is True:
                stored = np.ascontiguousarray(value.int_repr().numpy())
                found.append(zlib.crc32(repr(stored.shape).encode() + stored.tobytes()))
            return value

    Listen(converted).run(*example)
    return np.uint32(found)


def flat(value: Any) -> list[Any]:
    """Tensors in nested results, as a list of dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [each for item in value for each in flat(item)]
    return [{"": value}] if hasattr(value, "detach") else []


def rows(torch: Any, seed: int = 1, count: int = 4, width: int = 6) -> Any:
    """Multiples of 1/4 between -2 and 2."""
    x = np.random.default_rng(seed).integers(-8, 9, (count, width)) / 4
    return torch.from_numpy(x.astype(np.float32))


def images(torch: Any, seed: int = 1, *shape: int) -> Any:
    """Multiples of 1/4 between -2 and 2."""
    x = np.random.default_rng(seed).integers(-8, 9, shape or (2, 4, 6, 6)) / 4
    return torch.from_numpy(x.astype(np.float32))


def model(
    torch: Any, forward: Callable[..., Any], parameters: dict[str, Any] | None = None, **parts: Any
) -> Any:
    """A module of these parts, whose forward is a function of it and the inputs."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)
            for name, shape in (parameters or {}).items():
                setattr(self, name, torch.nn.Parameter(torch.zeros(*shape)))

        def forward(self, x: Any) -> Any:
            return forward(self, x)

    return Network()


def sequences(torch: Any) -> Any:
    return images(torch, 3, 3, 2, 6)


def global_mapping(torch: Any, qconfig: Any) -> Any:
    return torch.ao.quantization.QConfigMapping().set_global(qconfig)
