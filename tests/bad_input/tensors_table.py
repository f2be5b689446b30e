"""A valid call for every function and method on quantized tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bad_input.engine import Entry, entry, floats, per_channel, quint8

import pyqref

RANGE = {"quant_min": 0, "quant_max": 255}
ONES, ZEROS = pyqref.ones(2), pyqref.zeros(2, dtype=pyqref.int64)


def _method(name: str, /, **valid: Any) -> Entry:
    """A method of a fresh quantized tensor ``(2, 3)``, its arguments by position."""

    def call(**given: Any) -> Any:
        positional = [given[each] for each in given]
        return getattr(quint8(2, 3), name)(*positional)

    return entry(f"Tensor.{name}", call, **valid)


def _operator(name: str, of: Callable[[Any, Any], Any]) -> Entry:
    valid = {"other": quint8(2, 3), "_kinds": {"other": "any"}}
    return entry(f"Tensor.{name}", lambda other: of(quint8(2, 3), other), **valid)


def _fused(**given: Any) -> Any:
    """Wrap a call so that it gets a new state every time."""
    state = {
        "running_min": pyqref.tensor([-1.0]),
        "running_max": pyqref.tensor([1.0]),
        "scale": pyqref.tensor([1.0]),
        "zero_point": pyqref.tensor([0], dtype=pyqref.int32),
    }
    return pyqref.fused_moving_avg_obs_fake_quant(
        **{
            **given,
            **{
                key: given[key] if given[key] is not STATE else value
                for key, value in state.items()
            },
        }
    )


STATE = pyqref.tensor([0.5])
_ON = pyqref.tensor([1])

FUNCTIONS: list[Entry] = [
    entry(
        "quantize_per_tensor",
        pyqref.quantize_per_tensor,
        input=floats(2, 3),
        scale=0.5,
        zero_point=1,
        dtype=pyqref.quint8,
    ),
    entry(
        "quantize_per_channel",
        pyqref.quantize_per_channel,
        input=floats(2, 3),
        scales=ONES,
        zero_points=ZEROS,
        axis=0,
        dtype=pyqref.qint8,
    ),
    entry(
        "quantize_per_tensor_dynamic",
        pyqref.quantize_per_tensor_dynamic,
        input=floats(2, 3),
        dtype=pyqref.quint8,
        reduce_range=False,
    ),
    entry("dequantize", pyqref.dequantize, tensor=quint8(2, 3), _kinds={"tensor": "tensor"}),
    entry(
        "fake_quantize_per_tensor_affine",
        pyqref.fake_quantize_per_tensor_affine,
        input=floats(2, 3),
        scale=0.5,
        zero_point=1,
        **RANGE,
    ),
    entry(
        "fake_quantize_per_channel_affine",
        pyqref.fake_quantize_per_channel_affine,
        input=floats(2, 3),
        scale=ONES,
        zero_point=ZEROS,
        axis=0,
        **RANGE,
    ),
    entry(
        "fused_moving_avg_obs_fake_quant",
        _fused,
        input=floats(2, 3),
        observer_on=_ON,
        fake_quant_on=_ON,
        running_min=STATE,
        running_max=STATE,
        scale=STATE,
        zero_point=STATE,
        averaging_const=0.1,
        **RANGE,
        ch_axis=0,
        per_row_fake_quant=False,
        symmetric_quant=False,
    ),
    *(
        entry(name, getattr(pyqref, name), input=quint8(2, 3))
        for name in ("int_repr", "q_scale", "q_zero_point")
    ),
    *(
        entry(name, getattr(pyqref, name), input=per_channel(2, 3))
        for name in (
            "q_per_channel_scales",
            "q_per_channel_zero_points",
            "q_per_channel_axis",
        )
    ),
    entry("cat", pyqref.cat, tensors=[quint8(2, 3), quint8(2, 3)], dim=0),
    entry(
        "equal",
        pyqref.equal,
        input=quint8(2, 3),
        other=quint8(2, 3),
        _kinds={"input": "any", "other": "any"},
    ),
]


METHODS: list[Entry] = [
    _method("view", shape=(3, 2), _lenient={"minus one"}),
    _method("reshape", shape=(3, 2), _lenient={"minus one"}),
    _method("as_strided", size=(2, 2), stride=(1, 1), storage_offset=0),
    _method("expand", size=(2, 3), _lenient={"negative pair"}),
    _method("flatten", start_dim=0, end_dim=1),
    _method("permute", dims=(1, 0)),
    _method("transpose", dim0=0, dim1=1),
    _method("select", dim=0, index=1),
    _method("squeeze", dim=0, _lenient={"empty list"}),
    _method("unsqueeze", dim=0),
    _method("copy_", src=quint8(2, 3), _kinds={"src": "tensor"}),
    _method("max", dim=0, keepdim=False),
    _method("min", dim=0, keepdim=False),
    _method("mean", dim=(0,), keepdim=False, _optional={"dim"}, _lenient={"minus one"}),
    _method("resize_", size=(2, 2)),
    _method("sort", dim=0, descending=False),
    _method("topk", k=1, dim=0, largest=True, sorted=True),
    _method("chunk", chunks=2, dim=0),
    _method("__getitem__", key=1, _kinds={"key": "any"}),
    *(
        _operator(name, lambda a, b, name=name: getattr(a, name)(b))
        for name in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
]

ENTRIES: list[Entry] = [*FUNCTIONS, *METHODS]
