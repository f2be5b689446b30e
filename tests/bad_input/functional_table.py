"""A valid call for every function of ``pyqref.nn.quantized.functional``."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from bad_input.engine import Entry, floats, qint8, quint8

import pyqref
from pyqref.nn.quantized import functional as F

_SHAPES = {1: (1, 2, 5), 2: (1, 2, 5, 5), 3: (1, 2, 4, 4, 4)}
_SPATIAL = ("conv", "pool", "interpolate", "upsample")


def _valid(name: str) -> dict[str, Any]:
    spatial = next((each for each in (1, 2, 3) if f"{each}d" in name), 2)
    wide = any(part in name for part in _SPATIAL)
    values: dict[str, Any] = {
        "input": quint8(*_SHAPES[spatial]) if wide else quint8(2, 3),
        "weight": qint8(3, 2, *(2,) * spatial) if wide else qint8(2, 3),
        "bias": floats(3) if wide else floats(2),
        "stride": (1,) * spatial,
        "padding": (0,) * spatial,
        "dilation": (1,) * spatial,
        "kernel_size": (2,) * spatial,
        "output_size": (2,) * spatial,
        "size": (4, 4),
        "scale_factor": None,
        "divisor_override": 3,
        "groups": 1,
        "padding_mode": "zeros",
        "dtype": pyqref.quint8,
        "mode": "nearest",
        "align_corners": None,
        "scale": 0.5,
        "zero_point": 1,
        "alpha": 1.5,
        "min_": -1.0,
        "min_val": -1.0,
        "max_": 1.0,
        "max_val": 1.0,
        "negative_slope": 0.1,
        "threshold": 0.0,
        "value": 0.0,
        "ceil_mode": False,
        "count_include_pad": True,
        "return_indices": False,
        "inplace": False,
    }
    return {each: values[each] for each in inspect.signature(getattr(F, name)).parameters}


def _entry(name: str) -> Entry:
    function = getattr(F, name)
    parameters = inspect.signature(function).parameters
    optional = {each for each, p in parameters.items() if p.default is None} | {"bias"}
    kinds = {"scale_factor": "any", "dtype": "any", "mode": "word", "divisor_override": "int"}
    large = frozenset({"300"} if "3d" in name else ())
    return Entry(
        f"functional.{name}",
        _quiet(function),
        _valid(name),
        frozenset(optional),
        kinds,
        lenient=frozenset({"list of None"} if "adaptive" in name else ()),
        skipped=large,
    )


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` without its warning that it is deprecated."""

    def call(**given: Any) -> Any:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "nn.quantized.functional.upsample", UserWarning)
            return function(**given)

    return call


ENTRIES: list[Entry] = [_entry(name) for name in F.__all__]
