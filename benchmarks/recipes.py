"""How a network of the zoo is quantized, by the same calls in both libraries.

Nothing here imports a library: ``space`` is ``pyqref`` or ``torch``.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["observed", "quantized", "training_step"]


def _fx(space: Any) -> Any:
    return importlib.import_module(f"{space.__name__}.ao.quantization.quantize_fx")


def observed(space: Any, model: Any, inputs: tuple[Any, ...], histogram: bool = True) -> Any:
    """The network with observers; with histograms unless those of the ends are asked for."""
    ao = space.ao.quantization
    mapping = ao.get_default_qconfig_mapping("x86")
    if not histogram:
        activation = ao.MinMaxObserver.with_args(reduce_range=True)
        qconfig = ao.QConfig(activation, ao.default_per_channel_weight_observer)
        mapping = ao.QConfigMapping().set_global(qconfig)
    return _fx(space).prepare_fx(model, mapping, inputs)


def quantized(space: Any, model: Any, inputs: tuple[Any, ...], dynamic: bool, engine: str) -> Any:
    """The network with integers: dynamic by its modules, or static by its graph."""
    ao, nn = space.ao.quantization, space.nn
    space.backends.quantized.engine = engine
    if dynamic:
        kinds = dict.fromkeys((nn.Linear, nn.LSTM, nn.GRU), ao.default_dynamic_qconfig)
        kinds[nn.EmbeddingBag] = ao.float_qparams_weight_only_qconfig
        return ao.quantize_dynamic(model, kinds)
    mapping = ao.get_default_qconfig_mapping(engine)
    with space.no_grad():
        prepared = _fx(space).prepare_fx(model, mapping, inputs)
        prepared(*inputs)
        return _fx(space).convert_fx(prepared)


def training_step(space: Any, model: Any, inputs: tuple[Any, ...]) -> Any:
    """Give the function that makes a step of quantization-aware training."""
    space.backends.quantized.engine = "fbgemm"
    mapping = space.ao.quantization.get_default_qat_qconfig_mapping("x86")
    mapping.set_object_type(space.nn.Embedding, None)  # tables of words take another qconfig
    model = _fx(space).prepare_qat_fx(model.train(), mapping, inputs)
    optimizer = space.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)

    def step() -> Any:
        optimizer.zero_grad()
        loss = model(*inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step
