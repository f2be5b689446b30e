"""Valid constructions and calls of every quantized, fused, trained and reference layer."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bad_input.engine import Entry, floats, qint8, quint8

import pyqref
from pyqref import nn
from pyqref import quantization as q

PACKAGES = (
    "nn.quantized",
    "nn.quantized.dynamic",
    "nn.quantized.reference",
    "nn.quantizable",
    "nn.intrinsic",
    "nn.intrinsic.qat",
    "nn.intrinsic.quantized",
    "nn.intrinsic.quantized.dynamic",
    "nn.qat",
    "nn.qat.dynamic",
)
_SHAPES = {1: (1, 2, 5), 2: (1, 2, 5, 5), 3: (1, 2, 4, 4, 4)}

#: Constructor arguments by their names.
_VALUES: dict[str, Any] = {
    "in_channels": 2, "out_channels": 4, "kernel_size": 2, "stride": 1, "padding": 0,
    "output_padding": 0, "dilation": 1, "groups": 1, "bias": True, "bias_": True,
    "padding_mode": "zeros", "in_features": 3, "out_features": 2, "num_features": 2, "eps": 1e-5,
    "momentum": 0.1, "input_size": 3, "hidden_size": 2, "input_dim": 3, "hidden_dim": 2,
    "num_layers": 1, "batch_first": False, "dropout": 0.0, "bidirectional": False,
    "embed_dim": 4, "num_heads": 2, "num_embeddings": 4, "embedding_dim": 4,
    "scale": 0.5, "zero_point": 1, "output_scale": 0.5, "output_zero_point": 1,
    "num_groups": 2, "num_channels": 2, "negative_slope": 0.1, "alpha": 1.5, "p": 0.5, "dim": 1,
    "num_parameters": 1, "inplace": False, "freeze_bn": False, "nonlinearity": "tanh",
    "reduce_range": True, "qconfig": q.default_qat_qconfig,
}  # fmt: skip
_LARGE = {"2**31", "2**40", "huge pair"}


def layers() -> dict[str, type]:
    """Every public class, by package and name, but for float layers that are there as they are."""
    found = {}
    for package in PACKAGES:
        module = importlib.import_module(f"pyqref.{package}")
        for name in module.__all__:
            cls = getattr(module, name)
            if isinstance(cls, type) and not cls.__module__.startswith("pyqref.nn.modules."):
                found[f"{package}.{name}"] = cls
    return found


def spatial_of(name: str) -> int:
    return next((each for each in (1, 2, 3) if f"{each}d" in name), 2)


def _float_part(name: str, kind: str) -> nn.Module:
    spatial = spatial_of(name)
    parts: dict[str, Callable[[], nn.Module]] = {
        "conv": lambda: getattr(nn, f"Conv{spatial}d")(2, 4, 2),
        "bn": lambda: getattr(nn, f"BatchNorm{spatial}d")(4),
        "batch_norm": lambda: getattr(nn, f"BatchNorm{spatial}d")(2),
        "relu": nn.ReLU,
        "linear": lambda: nn.Linear(3, 2),
        "leaky_relu": nn.LeakyReLU,
        "tanh": nn.Tanh,
        "add": nn.Identity,
    }
    if kind == "bn" and "Linear" in name:
        return nn.BatchNorm1d(2)
    return parts[kind]()


def construction(name: str, cls: type) -> dict[str, Any]:
    """Valid arguments of a constructor."""
    short = name.rpartition(".")[2]
    if ".intrinsic." in name and name.count(".") == 2 and ".qat" not in name:
        parts = inspect.signature(cls).parameters
        return {each: _float_part(short, each) for each in parts}
    if short in ("LSTM", "GRU") and "quantizable" not in name and name != "nn.quantized.LSTM":
        return {"input_size": 3, "hidden_size": 2, "num_layers": 1, "bidirectional": False}
    chosen = {}
    for each, parameter in inspect.signature(cls).parameters.items():
        if each in _VALUES:
            chosen[each] = _VALUES[each]
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            chosen[each] = {
                "normalized_shape": (3,),
                "weight": floats(3) if short == "LayerNorm" else floats(2),
                "bias": floats(3) if short == "LayerNorm" else floats(2),
                "dtype": pyqref.quint8,
            }[each]
    if ".qat." in name and "Conv" in short and "Bn" in short:
        chosen["bias"] = False
    if "Norm" in short and ".quantized" in name and "Batch" not in short:
        chosen["bias"] = floats(3) if short == "LayerNorm" else floats(2)
    if "Embedding" in short and "qat" in name:
        chosen["qconfig"] = q.float_qparams_weight_only_qconfig
        chosen["qconfig"] = q.default_embedding_qat_qconfig
    if "qat.dynamic" in name:
        chosen["qconfig"] = q.default_dynamic_qat_qconfig
    return chosen


def quiet(cls: Any) -> Callable[..., Any]:
    """``cls`` without the warnings of dynamic convolutions and of empty weights."""

    def call(*args: Any, **given: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*prefer a static convolution", UserWarning)
            warnings.filterwarnings("ignore", "Initializing zero-element", UserWarning)
            return cls(*args, **given)

    return call


def built(name: str, cls: type) -> nn.Module:
    layer: nn.Module = quiet(cls)(**construction(name, cls)).eval()
    return layer


def observed(name: str, cls: Any) -> nn.Module:
    """A quantized layer that is made of an observed one."""
    given = inputs(name)
    layer = getattr(nn.quantizable, cls.__name__)(**construction(name, cls))
    layer.qconfig = q.default_qconfig
    layer = q.prepare(layer.eval())
    layer(*(each.dequantize() for each in given.values()))
    made: nn.Module = cls.from_observed(layer)
    return made


def inputs(name: str) -> dict[str, Any]:
    """Valid arguments of a call."""
    short = name.rpartition(".")[2]
    floating = ".quantized" not in name or "dynamic" in name or "reference" in name
    make: Any = floats if floating else quint8
    if short == "Quantize":
        return {"X": floats(2, 3)}
    if short == "DeQuantize":
        return {"X": quint8(2, 3)}
    if "Embedding" in short:
        indices = pyqref.tensor([0, 1, 1])
        return {"indices": indices} | ({"offsets": pyqref.tensor([0, 2])} if "Bag" in short else {})
    if short.endswith("Cell"):
        return {"input": floats(2, 3)}
    if short in ("LSTM", "GRU"):
        return {"input": make(4, 2, 3)}
    if short == "MultiheadAttention":
        x = make(3, 2, 4)
        return {"query": x, "key": x, "value": x}
    spatial = any(part in short for part in ("Conv", "BatchNorm", "BN", "InstanceNorm"))
    x = make(*_SHAPES[spatial_of(short)]) if spatial or short == "GroupNorm" else make(2, 3)
    if "ConvAdd" in short and ".quantized" in name:
        return {"input": x, "extra_input": quint8(1, 4, 4, 4)}
    return {"input": x}


def _calls(layer: nn.Module) -> Callable[..., Any]:
    return lambda **given: layer(*given.values())


_NO_FORWARD = {"FloatFunctional", "FXFloatFunctional", "QFunctional", "ConvAdd2d", "ConvAddReLU2d"}
#: Conversions that need nothing of what they convert.
_TAKES_ANY = {"DeQuantize", "Hardswish"}
_FROM_OBSERVED = {"nn.quantized.LSTM", "nn.quantized.MultiheadAttention"}


def constructors() -> list[Entry]:
    """Constructors of every layer that takes an argument."""
    found = []
    for name, cls in layers().items():
        valid = construction(name, cls)
        if not valid:
            continue
        parameters = inspect.signature(cls).parameters
        optional = {
            each for each in valid if each in parameters and parameters[each].default is None
        } | {"bias", "bias_", "weight", "qconfig"}
        kinds = {"operation": "any", "add": "any", "relu": "any", "qconfig": "any"}
        kinds |= dict.fromkeys(("kernel_size", "stride", "dilation"), "sizes")
        kinds |= {"padding": "any", "momentum": "any", "normalized_shape": "sizes"}
        entry = Entry(name, quiet(cls), valid, frozenset(optional), kinds)
        # Layers of these sizes are made where there is memory for them.
        large = {"2**31"} | ({"300"} if "3d" in name else set())
        found.append(replace(entry, skipped=frozenset(large)))
    return found


def forwards() -> list[Entry]:
    found = []
    for name, cls in layers().items():
        short = name.rpartition(".")[2]
        if short in _NO_FORWARD and name != "nn.intrinsic.quantized." + short:
            continue
        layer = observed(name, cls) if name in _FROM_OBSERVED else built(name, cls)
        valid = inputs(name)
        if isinstance(layer, nn.quantized.FloatFunctional):
            continue
        plain = not name.startswith(("nn.quantized", "nn.intrinsic.quantized"))
        plain = plain or "reference" in name
        kinds = {}
        if short in ("DeQuantize", "Dropout"):
            kinds = dict.fromkeys(valid, "tensor")
        found.append(
            Entry(f"{name}.{layer._get_name()}", _calls(layer), valid, kinds=kinds, plain=plain)
        )
    return found


def setters() -> list[Entry]:
    """``set_weight_bias`` of the layers that have one weight."""
    found = []
    for name, cls in layers().items():
        if not hasattr(cls, "set_weight_bias") or "GRU" in name or "LSTM" in name or "RNN" in name:
            continue
        layer: Any = built(name, cls)
        shape = tuple(layer.weight().shape)
        outputs = layer.bias().shape[0]
        found.append(
            Entry(
                f"{name}.set_weight_bias",
                layer.set_weight_bias,
                {"w": qint8(*shape), "b": floats(outputs)},
                frozenset({"b"}),
            )
        )
    return found


def _prepared(cls: Any) -> nn.Module:
    accepted = cls._FLOAT_MODULE
    return accepted[0] if isinstance(accepted, tuple) else accepted


def states() -> list[Entry]:
    """``load_state_dict`` of every layer, one key of its state an argument."""
    found = []
    for name, cls in layers().items():
        layer = built(name, cls)
        state = {key.replace(".", "__"): value for key, value in layer.state_dict().items()}
        if state and ".quantized" in name and "reference" not in name:
            kinds = dict.fromkeys(state, "any")
            found.append(Entry(f"{name}.load_state_dict", _loads(layer), state, kinds=kinds))
    return found


def _loads(layer: nn.Module) -> Callable[..., Any]:
    def load(**given: Any) -> None:
        layer.load_state_dict({key.replace("__", "."): value for key, value in given.items()})

    return load


def conversions() -> list[Entry]:
    """``from_float`` and ``from_reference``; no valid layer stands in the table: all must fail."""
    found = []
    for name, cls in layers().items():
        short = name.rpartition(".")[2]
        for method in ("from_float", "from_reference", "from_observed"):
            if hasattr(cls, method):
                found.append(
                    Entry(
                        f"{name}.{method}",
                        _first(getattr(cls, method)),
                        {"mod": None},
                        kinds={"mod": "any" if short in _TAKES_ANY else "module"},
                    )
                )
    return found


def _first(function: Any) -> Callable[..., Any]:
    parameters = list(inspect.signature(function).parameters)
    extra: tuple[Any, ...] = ()
    if "output_scale" in parameters or "scale" in parameters:
        extra = (0.5, 1)
    if "weight_qparams" in parameters or "weight_qparams_dict" in parameters:
        extra = ({},)
    return lambda mod: function(mod, *extra)


ENTRIES: list[Entry] = []
