"""Second arguments: states and weights of recurrent layers, operations, conversions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bad_input.engine import Entry, entry, floats, quint8
from bad_input.modules_table import built, construction, layers, observed, quiet

import pyqref
from pyqref import nn
from pyqref import quantization as q

_RECURRENT = ("LSTM", "GRU", "LSTMCell", "GRUCell", "RNNCell")


def _recurrent() -> list[tuple[str, Any]]:
    return [
        (name, observed(name, cls) if name == "nn.quantized.LSTM" else built(name, cls))
        for name, cls in layers().items()
        if name.rpartition(".")[2] in _RECURRENT
    ]


def states() -> list[Entry]:
    """The initial state of a recurrent layer, as a whole and in its two parts."""
    found = []
    for name, layer in _recurrent():
        short = name.rpartition(".")[2]
        make: Any = quint8 if name == "nn.quantized.LSTM" else floats
        x = make(2, 3) if short.endswith("Cell") else make(4, 2, 3)
        state = make(2, 2) if short.endswith("Cell") else make(1, 2, 2)
        if "LSTM" not in short:
            found.append(entry(name, _with_state(layer, x), hx=state, _optional=("hx",)))
            continue
        pair: dict[str, Any] = {"h": state, "c": state}
        optional = ("h", "c") if "quantized.dynamic" in name or "quantizable" in name else ()
        found.append(entry(f"{name}.hx", _with_pair(layer, x), **pair, _optional=optional))
        found.append(entry(name, _with_state(layer, x), hx=(state, state)))
    return found


def _with_state(layer: Any, x: Any) -> Callable[..., Any]:
    return lambda hx: layer(x, hx)


def _with_pair(layer: Any, x: Any) -> Callable[..., Any]:
    return lambda h, c: layer(x, (h, c))


def weights() -> list[Entry]:
    """``set_weight_bias`` of the dynamic recurrent layers."""
    found = []
    for name, layer in _recurrent():
        if not hasattr(layer, "set_weight_bias"):
            continue
        cell = name.endswith("Cell")
        weight, bias = layer._weight_bias()["weight"], layer._weight_bias()["bias"]
        optional, kinds = tuple(bias), dict.fromkeys(weight, "tensor")
        call = _sets_parts(layer) if cell else _sets(layer)
        found.append(
            entry(
                f"{name}.set_weight_bias",
                call,
                **weight,
                **bias,
                _optional=optional,
                _kinds=kinds,
            )
        )
        whole = {"weight": weight, "bias": bias} if cell else {**weight, **bias}
        kinds = {"weight_bias_dict": "module"}
        found.append(
            entry(
                f"{name}.set_weight_bias",
                layer.set_weight_bias,
                weight_bias_dict=whole,
                _kinds=kinds,
            )
        )
    return found


def _sets(layer: Any) -> Callable[..., Any]:
    return lambda **given: layer.set_weight_bias(given)


def _sets_parts(layer: Any) -> Callable[..., Any]:
    def call(**given: Any) -> None:
        parts: dict[str, dict[str, Any]] = {"weight": {}, "bias": {}}
        for key, value in given.items():
            parts[key.partition("_")[0]][key] = value
        layer.set_weight_bias(parts)

    return call


def functionals() -> list[Entry]:
    """The operations of the three classes of arithmetic, and their constructor."""
    found = []
    for cls in (nn.quantized.FloatFunctional, nn.quantized.FXFloatFunctional):
        found += _operations(cls(), floats)
    found += _operations(nn.quantized.QFunctional(), quint8)
    found.append(
        entry(
            "nn.quantized.QFunctional",
            nn.quantized.QFunctional,
            operation="add",
            _optional=("operation",),
        )
    )
    return found


def _operations(layer: Any, make: Any) -> list[Entry]:
    name = f"nn.quantized.{type(layer).__name__}"
    plain = make is floats
    found = []
    for operation in ("add", "mul", "add_relu"):
        kinds = {"x": "any", "y": "any"} if plain else {}
        valid: dict[str, Any] = {"x": make(2, 3), "y": make(2, 3)}
        call = getattr(layer, operation)
        found.append(Entry(f"{name}.{operation}", call, valid, kinds=kinds, plain=plain))
    kinds = {"x": "tensor", "y": "tensor"} if plain else {}
    valid = {"x": make(2, 3), "y": make(3, 2)}
    found.append(Entry(f"{name}.matmul", layer.matmul, valid, kinds=kinds, plain=plain))
    for operation in ("add_scalar", "mul_scalar"):
        call = getattr(layer, operation)
        kinds = {"x": "any", "y": "any"} if plain else {}
        valid = {"x": make(2, 3), "y": 2.0}
        found.append(Entry(f"{name}.{operation}", call, valid, kinds=kinds, plain=plain))
    valid = {"x": [make(2, 3), make(2, 3)], "dim": 1}
    found.append(Entry(f"{name}.cat", layer.cat, valid, kinds={"x": "any"}, plain=plain))
    return found


def grids() -> list[Entry]:
    """``weight_qparams`` of the reference layers, an entry of it an argument."""
    found = []
    for name, cls in layers().items():
        if "reference" not in name or not hasattr(cls, "from_float"):
            continue
        short = name.rpartition(".")[2]
        source = built(f"nn.{short}", getattr(nn, short))
        grid = {"qscheme": pyqref.per_tensor_affine, "dtype": pyqref.qint8, "scale": 0.5,
                "zero_point": 1, "axis": 0, "is_decomposed": False}  # fmt: skip
        kinds = {"qscheme": "any", "scale": "any", "zero_point": "any", "dtype": "dtype"}
        several = short in _RECURRENT
        call = _gridded(cls, source, several)
        found.append(entry(f"{name}.from_float", call, **grid, _kinds=kinds))
        argument = "weight_qparams_dict" if several else "weight_qparams"
        whole: Any = {argument: grid}
        if several:
            whole = {argument: dict.fromkeys(_names(source), grid)}
        found.append(
            entry(
                f"{name}.from_float",
                _second(cls.from_float, source),
                **whole,
                _optional=(argument,),
                _kinds={argument: "module"},
            )
        )
    return found


def _names(source: Any) -> list[str]:
    return [each for each, _ in source.named_parameters() if each.startswith("weight")]


def _gridded(cls: Any, source: Any, several: bool) -> Callable[..., Any]:
    def call(**grid: Any) -> Any:
        given = dict.fromkeys(_names(source), grid) if several else grid
        return cls.from_float(source, given)

    return call


def _second(function: Any, source: Any) -> Callable[..., Any]:
    return lambda **given: function(source, *given.values())


def qconfigs() -> list[Entry]:
    """``qconfig``, the second argument of the layers of quantization-aware training."""
    found = []
    for name, cls in layers().items():
        if ".qat" not in name or not hasattr(cls, "from_float"):
            continue
        qconfig = construction(name, cls).get("qconfig", q.default_qat_qconfig)
        short = name.rpartition(".")[2]
        if ".intrinsic" in name:
            kind = getattr(nn.intrinsic, short)
            source = kind(**construction(f"nn.intrinsic.{short}", kind))
        else:
            source = built(f"nn.{short}", getattr(nn, short))
        call = _second(quiet(cls.from_float), source)
        found.append(entry(f"{name}.from_float", call, qconfig=qconfig, _kinds={"qconfig": "any"}))
    return found


ENTRIES: list[Entry] = [*states(), *weights(), *functionals(), *grids(), *qconfigs()]
