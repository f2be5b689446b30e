"""Observers, fake quantizers and quantized layers of ``torch``, and their twins here."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from pyqref import nn
from pyqref.nn.quantizable import LSTM, LSTMCell
from pyqref.nn.quantizable.modules.rnn import _LSTMLayer, _LSTMSingleLayer
from pyqref.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from pyqref.quantization import QConfig
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.fake_quantize.fixed_qparams import FixedQParamsFakeQuantize
from pyqref.quantization.observer import FixedQParamsObserver
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.observer.partial import PartialWrapper

from .._typing import Module
from .arguments import arguments_of
from .arrays import is_torch, to_value

__all__ = ["holds_its_state", "loaded_layer", "make_quantization_part", "to_qconfig"]

_LEAVES = (
    "torch.ao.nn.quantized.modules",
    "torch.ao.nn.quantized.dynamic.modules",
    "torch.ao.nn.intrinsic.quantized",
)
#: Layers of these packages that are made of others.
_TREES = {"FloatFunctional", "FXFloatFunctional", "MultiheadAttention"}
_LSTM_PARTS = (LSTM, LSTMCell, _LSTMLayer, _LSTMSingleLayer)
#: What the parts of a quantizable LSTM are set to.
_SETTINGS = (
    *("input_size", "hidden_size", "num_layers", "hidden_state_dtype", "cell_state_dtype"),
    *("initial_hidden_state_qparams", "initial_cell_state_qparams"),
)


def holds_its_state(source: object) -> bool:
    """Return True if a quantized layer of ``torch`` is taken over by its whole state dict."""
    cls = type(source)
    whole = cls.__module__.startswith(_LEAVES) and cls.__name__ not in _TREES
    return whole and not (cls.__name__ == "LSTM" and "dynamic" not in cls.__module__)


def loaded_layer(twin: Any, source: Any) -> Module:
    """A quantized layer with the weights and the grid of the original.

    Parameters
    ----------
    twin
        A class of this package.
    source
        The layer of ``torch``.
    """
    known: dict[str, Any] = {}
    for name in ("bias", "weight"):
        if callable(getattr(source, name, None)):
            known[name] = getattr(source, name)() is not None
    if "bias" in known:
        known["bias_"] = known["bias"]
    for name, number in (("scale", float), ("zero_point", int)):
        for prefix in ("", "output_"):
            value = getattr(source, prefix + name, getattr(source, name, None))
            if value is not None:
                known[prefix + name] = number(value)
    kept = getattr(source, "dtype", None) or getattr(
        getattr(source, "_packed_params", None), "dtype", None
    )
    if kept is not None:
        known["dtype"] = to_value(kept)
    if "weight" in inspect.signature(twin).parameters:  # a norm, whose weight is a float
        known["weight"], known["bias"] = to_value(source.weight), to_value(source.bias)
    layer = twin(**arguments_of(twin, source, known))
    state = source.state_dict()
    values = OrderedDict((key, to_value(each)) for key, each in state.items())
    values._metadata = state._metadata  # type: ignore[attr-defined]
    layer.load_state_dict(values)
    return layer


def make_quantization_part(twin: type, source: Any, children: Mapping[str, Any]) -> Module | None:
    """An observer, a fake quantizer or a layer that has one; None for any other class.

    Parameters
    ----------
    twin
        A class of this package.
    source
        The module of ``torch``.
    children
        What became of its children.
    """
    if issubclass(twin, FakeQuantizeBase):
        return _fake_quantizer(twin, source, children["activation_post_process"])
    if issubclass(twin, ObserverBase):
        return _observer(twin, source)
    if issubclass(twin, ReferenceQuantizedModule):
        return _reference_layer(twin, source)
    if issubclass(twin, _LSTM_PARTS):
        return _assembled(twin, source)
    if "weight_fake_quant" in children:
        return _trained_layer(twin, source, children)
    return None


def _assembled(twin: Any, source: Any) -> Any:
    """A part of a quantizable LSTM, with its settings; what it is made of comes afterwards."""
    part: Any = twin.__new__(twin)
    nn.Module.__init__(part)
    for name in ("bias", "split_gates", "bidirectional", "batch_first", "dropout", *_SETTINGS):
        if hasattr(source, name):
            setattr(part, name, to_value(getattr(source, name)))
    return part


def _observer(twin: Any, source: Any) -> Any:
    """An observer; a range that was reduced once is not reduced again."""
    options = _observer_arguments(twin, source)
    reduced = "quant_max" in options and options.pop("reduce_range", False)
    observer = twin(**options)
    if reduced:
        observer.reduce_range = True
    return observer


def _observer_arguments(twin: type, source: Any) -> dict[str, Any]:
    """Return the arguments with which an observer was made."""
    known: dict[str, Any] = {"dtype": to_value(source.dtype)}
    for name, number in (("eps", float), ("scale", float), ("zero_point", int)):
        if getattr(source, name, None) is not None:
            known[name] = number(getattr(source, name))
    found = arguments_of(twin, source, known)
    if not getattr(source, "has_customized_qrange", True):
        found.pop("quant_min", None)
        found.pop("quant_max", None)
    return found


def _fake_quantizer(twin: Any, source: Any, observer: Any) -> Any:
    """A fake quantizer around an observer that is made already."""
    if issubclass(twin, FixedQParamsFakeQuantize):
        options = _observer_arguments(FixedQParamsObserver, source.activation_post_process)
        return twin(FixedQParamsObserver.with_args(**options))
    options = {"dtype": observer.dtype, "qscheme": observer.qscheme}
    channels = len(source.scale) if source.ch_axis != -1 else -1
    if channels != -1:
        options["ch_axis"] = source.ch_axis
    options |= {"quant_min": source.quant_min, "quant_max": source.quant_max}
    if issubclass(twin, _LearnableFakeQuantize):
        return twin(
            type(observer),
            channel_len=channels,
            use_grad_scaling=source.use_grad_scaling,
            **options,
        )
    if getattr(source, "is_dynamic", False):
        options["is_dynamic"] = True
    return twin(type(observer), **options)


def _trained_layer(twin: type, source: Any, children: Mapping[str, Any]) -> Any:
    """A layer for quantization aware training, with a fake quantizer of its weight."""

    def weight(**_: Any) -> Any:
        return children["weight_fake_quant"]

    known: dict[str, Any] = {
        "qconfig": QConfig(activation=nn.Identity, weight=weight),
        "bias": source.bias is not None,
    }
    if "bn" in children:
        known |= {"eps": source.bn.eps, "momentum": source.bn.momentum}
    layer = twin(**arguments_of(twin, source, known))
    layer.__dict__.pop("qconfig", None)
    return layer


def _reference_layer(twin: type, source: Any) -> Any:
    """A reference layer with the grids of its weights."""
    grids = {
        name.removesuffix("_qscheme"): _grid(source, name.removesuffix("_qscheme"))
        for name in vars(source)
        if name.endswith("_qscheme")
    }
    single = list(grids) == ["weight"]
    known: dict[str, Any] = (
        {"weight_qparams": grids["weight"]} if single else {"weight_qparams_dict": grids}
    )
    bias = getattr(source, "bias", None)
    known["bias"] = known["bias_"] = bias is not None and bias is not False
    return twin(**arguments_of(twin, source, known))


def _grid(source: Any, name: str) -> dict[str, Any]:
    """Scheme, dtype, scale and zero point of one weight of a reference layer."""
    grid = {part: to_value(getattr(source, f"{name}_{part}")) for part in ("qscheme", "dtype")}
    for part in ("scale", "zero_point"):
        if grid["qscheme"] is not None:
            grid[part] = to_value(getattr(source, f"{name}_{part}"))
    if grid["qscheme"] is not None and grid["qscheme"].is_per_channel:
        grid["axis"] = int(getattr(source, f"{name}_axis"))
    return grid


def to_qconfig(qconfig: Any, value: Callable[[Any], Any]) -> QConfig | None:
    """The qconfig with observers of this package.

    Parameters
    ----------
    qconfig
        One of ``torch``, or None.
    value
        Translates classes and arguments.

    Raises
    ------
    TypeError
        One of its observers is not here.
    """
    if qconfig is None:
        return None
    return QConfig(*(_recipe(each, value) for each in qconfig))


def _recipe(recipe: Any, value: Callable[[Any], Any]) -> Any:
    """Class or recipe of an observer."""
    made = PartialWrapper(value(recipe.p)) if is_torch(recipe, "_PartialWrapper") else value(recipe)
    first: Any = made
    while isinstance(first, PartialWrapper | functools.partial):
        first = first.p if isinstance(first, PartialWrapper) else first.func
    if not (isinstance(first, type) and issubclass(first, nn.Module)):
        raise TypeError(f"its qconfig makes {first!r}")
    return made
