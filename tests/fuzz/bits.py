"""The bits of results and of layers, in a form that compares."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import Tensor, nn

#: What compares as it is, but for real numbers.
_PLAIN = frozenset({str, bytes, int, bool, type(None)})


class Frozen(tuple[Any, ...]):
    """The bits of a layer."""


def frozen(value: Any) -> Any:
    """Something that compares as the bits of a value do; all nans are alike."""
    if type(value) in _PLAIN or type(value) is Frozen:
        return value
    if isinstance(value, Tensor):
        array = value._array
        quantizer = frozen(vars(value._quantizer)) if value.is_quantized else ""
        return "tensor", str(value.dtype), quantizer, frozen(array)
    if isinstance(value, np.ndarray | np.generic):
        array = np.ascontiguousarray(value)
        if array.dtype.kind in "fc":
            array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
        return array.dtype.str, np.shape(value), array.tobytes()
    if isinstance(value, float):
        return "nan" if value != value else value.hex()
    if isinstance(value, dict):
        return [(str(key), frozen(each)) for key, each in value.items()]
    if isinstance(value, tuple | list):
        return [frozen(each) for each in value]
    if isinstance(value, nn.Module):
        return Frozen(frozen(dict(value.state_dict())))
    if value is None or isinstance(value, int | str | bytes | complex):
        return value
    return type(value).__name__


class Kept:
    """A layer as it is now, which can be put back after a call.

    Parts, their attributes and the numbers of tensors are put back. If the state dict is another
    one afterwards, something else was changed, and the layer is of no use any more.
    """

    def __init__(self, layer: nn.Module) -> None:
        self.layer = layer
        self.state = frozen(layer)
        self.parts = [
            (part, {name: _shallow(value) for name, value in vars(part).items()})
            for part in layer.modules()
        ]
        self.tensors = [
            (each, each._array, each._array.copy())
            for _, attributes in self.parts
            for value in attributes.values()
            for each in (value.values() if isinstance(value, dict) else (value,))
            if isinstance(each, Tensor)
        ]

    def put_back(self) -> bool:
        """Put the layer back, and return True if it then is as it was before."""
        for part, attributes in self.parts:
            vars(part).clear()
            vars(part).update({name: _shallow(value) for name, value in attributes.items()})
        for tensor, array, numbers in self.tensors:
            tensor._array = array
            if array.flags.writeable:
                array[...] = numbers
            if tensor.requires_grad:
                tensor.grad = None
        return bool(frozen(self.layer) == self.state)


def _shallow(value: Any) -> Any:
    return value.copy() if isinstance(value, dict) else value
