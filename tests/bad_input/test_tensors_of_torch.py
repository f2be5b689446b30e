"""A tensor of torch where one of pyqref is wanted is named, with what to write."""

from __future__ import annotations

from typing import Any

import pytest
from bad_input import codes_table

import pyqref
from pyqref.tensor.base import TensorBase

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:UserWarning")

torch = pytest.importorskip("torch")

#: Where a number, or a list of numbers, is wanted: a tensor of torch is read as one.
NUMBERS = {
    ("arange", 0),
    ("arange", 1),
    ("fake_quantize_per_channel_affine", 1),
    ("fake_quantize_per_channel_affine", 2),
    ("fake_quantize_per_tensor_affine", 1),
    ("fake_quantize_per_tensor_affine", 2),
    ("full", 1),
    ("full_like", 1),
    ("fused_moving_avg_obs_fake_quant", 1),
    ("fused_moving_avg_obs_fake_quant", 2),
    ("index_fill", 3),
    ("linspace", 0),
    ("linspace", 1),
    ("masked_fill", 2),
    ("quantile", 1),
    ("quantize_per_channel", 1),
    ("quantize_per_channel", 2),
    ("quantize_per_tensor", 1),
    ("quantize_per_tensor", 2),
    ("repeat_interleave", 1),
    ("scalar_tensor", 0),
    ("scatter", 3),
    ("tensor_split", 1),
}
#: They take one, or ask what it is.
TAKERS = {"as_tensor", "from_dlpack", "get_device", "is_complex", "is_tensor", "tensor", "typename"}
TAKERS |= {"qscheme"}  # a class here
#: With ``beta=0`` nobody looks at it.
UNUSED = {("addbmm", 0)}


def _calls() -> dict[str, Any]:
    return {name: calls for name, calls in codes_table.CALLS.items() if callable(_function(name))}


def _function(name: str) -> Any:
    return getattr(pyqref, name, getattr(pyqref.nn.functional, name, None))


def _tensors(calls: Any) -> list[tuple[Any, int]]:
    return [
        (call, place)
        for call in calls
        for place, arg in enumerate(call.args)
        if isinstance(arg, TensorBase) and not arg.is_quantized
    ]


@pytest.mark.parametrize("name", sorted(set(_calls()) - TAKERS))
def test_it_is_named(name: str) -> None:
    """Whichever argument it is; the message says from_dlpack."""
    for call, place in _tensors(_calls()[name]):
        if (name, place) in NUMBERS | UNUSED:
            continue
        args = list(call.args)
        args[place] = torch.from_numpy(args[place]._array.copy())
        with pytest.raises(TypeError, match=r"torch 2\.\d+; write pyqref\.from_dlpack\(t\)"):
            _function(name)(*args, **call.kwargs)
