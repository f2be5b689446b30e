"""Looking inside: observers by path, recorded tensors, states saved and loaded."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
from parity.cases.scripts_static import kinds
from parity.eager_models import FUSED, exact_values, fill, images, residual_network, stored
from parity.harness import parity_case


def prepared_network(torch: Any, qconfig: Any) -> Any:
    torch.backends.quantized.engine = "fbgemm"
    q = torch.ao.quantization
    model = fill(torch, residual_network(torch).eval(), exact_values)
    model = q.fuse_modules(model, FUSED)
    model.qconfig = qconfig
    return q.prepare(model)


def arrays(state: Any) -> dict[str, np.ndarray]:
    """Return the entries of a state as float64 numbers."""
    return {
        key: np.asarray(value.numpy(), np.float64).ravel()
        for key, value in state.items()
        if hasattr(value, "numpy") and not value.is_quantized
    }


@parity_case()
def observers_by_path(torch: Any) -> dict[str, Any]:
    """``get_observer_dict``: which paths, and what each has seen."""
    prepared = prepared_network(torch, torch.ao.quantization.default_qconfig)
    for seed in (1, 2):
        prepared(images(torch, seed))
    steps = importlib.import_module(f"{torch.__name__}.ao.quantization.quantize")
    found: dict[str, Any] = {}
    steps._get_observer_dict(prepared, found)
    return {
        "paths": str(sorted(found)),
        "low": np.float64([found[path].min_val.item() for path in sorted(found)]),
        "high": np.float64([found[path].max_val.item() for path in sorted(found)]),
        "text": str(found["conv1.activation_post_process"]),
    }


@parity_case()
def recorded_tensors(torch: Any) -> dict[str, Any]:
    """``default_debug_qconfig`` and ``RecordingObserver.get_tensor_value``."""
    prepared = prepared_network(torch, torch.ao.quantization.default_debug_qconfig)
    for seed in (1, 2):
        prepared(images(torch, seed, 1))
    return {
        "quant": prepared.quant.activation_post_process.get_tensor_value(),
        "conv1": prepared.conv1.activation_post_process.get_tensor_value(),
        "head": prepared.head.activation_post_process.get_tensor_value(),
    }


@parity_case()
def state_of_observers(torch: Any) -> dict[str, Any]:
    """``get_observer_state_dict`` and ``load_observer_state_dict`` between two models."""
    observer = torch.ao.quantization.observer
    qconfig = torch.ao.quantization.default_qconfig
    first, second = (prepared_network(torch, qconfig) for _ in range(2))
    first(images(torch, 1))
    state = observer.get_observer_state_dict(first)
    observer.load_observer_state_dict(second, state)
    return {
        "keys": str(sorted(state)),
        "state": np.concatenate([arrays(state)[key] for key in sorted(arrays(state))]),
        "stored": stored(torch.ao.quantization.convert(second)),
    }


@parity_case()
def state_of_a_quantized_model(torch: Any) -> dict[str, Any]:
    """Saved, loaded into a model converted without calibration, and run."""
    q = torch.ao.quantization
    qconfig = q.default_per_channel_qconfig
    prepared = prepared_network(torch, qconfig)
    for seed in (1, 2):
        prepared(images(torch, seed))
    quantized = q.convert(prepared)
    file = io.BytesIO()
    torch.save(quantized.state_dict(), file)
    file.seek(0)
    # The usual way: prepare, convert, load. One batch is enough, its ranges are replaced.
    again = prepared_network(torch, qconfig)
    again(images(torch, 8))
    again = q.convert(again)
    again.load_state_dict(torch.load(file))
    x = images(torch, 3, 2)
    return {
        "keys": str(list(quantized.state_dict())),
        "kinds": kinds(again),
        "stored": stored(again),
        "equal": bool(torch.equal(quantized(x), again(x))),
        "output": again(x),
    }


@parity_case()
def printed(torch: Any) -> dict[str, Any]:
    """Record the text that ``print`` shows of observers, prepared and quantized layers."""
    q, nn = torch.ao.quantization, torch.nn
    model = nn.Sequential(q.QuantStub(), nn.ReLU(), q.DeQuantStub()).eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    prepared(torch.tensor([0.0, 127.0]))
    recipe = q.MinMaxObserver.with_args(reduce_range=True)
    return {
        "prepared": str(prepared),
        "quantized": str(q.convert(prepared)),
        "observer": str(recipe()),
        "histogram": str(q.HistogramObserver()),
    }
