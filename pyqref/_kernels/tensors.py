"""Slots of every tensor: its array, and the place that its gradient goes to.

With a compiler this text is compiled as it stands, with the types of ``tensors.pxd``.
"""

from __future__ import annotations

import threading
from typing import Any

from . import layout

__all__ = [
    "TensorSlots",
    "becomes_grad",
    "continues",
    "is_recording",
    "leaf",
    "quantized_leaf",
    "root_of",
    "set_quantized_type",
    "set_recording",
    "set_tensor_type",
    "wrap",
    "wrap_quantized",
]


class TensorSlots:
    """An array and its place in the graph.

    Attributes
    ----------
    _array
        The elements. A view of another tensor is a view of its array.
    _goes_to
        Where a gradient of this tensor goes: to the operation that made it, of a leaf to what
        collects it in ``grad``; None if none is wanted. Of a view, ask ``_edge()``.
    _changes
        A list of one counter, shared by a tensor and all its views, raised by every
        change in place; None as long as nobody has asked for it by ``_version``.
    _base
        For a view, the tensor that it is a view of (itself no view).
    _grad
        The gradient collected so far, a tensor.
    _quantizer
        Of a quantized tensor, how its integers are read.
    """

    __slots__ = ("_array", "_base", "_changes", "_goes_to", "_grad", "_quantizer")

    _array: Any
    _base: Any
    _changes: list[int] | None
    _goes_to: Any
    _grad: Any
    _quantizer: Any

    @property
    def _version(self) -> list[int]:
        """The counter of changes, which most tensors live without."""
        changes = self._changes
        if changes is None:
            changes = self._changes = [0]
        return changes

    @_version.setter
    def _version(self, changes: list[int]) -> None:
        self._changes = changes


#: Makes one of a derived class, whatever ``__new__`` that has.
_new = TensorSlots.__new__


class _Recording(threading.local):
    enabled = True


_recording = _Recording()


def is_recording() -> bool:
    """Return True if this thread records operations now."""
    return _recording.enabled


def set_recording(enabled: bool) -> None:
    """Record operations from now on in this thread, or do not."""
    _recording.enabled = enabled


_tensor_type: type[TensorSlots] = TensorSlots
_quantized_type: type[TensorSlots] = TensorSlots


def set_tensor_type(kind: type[TensorSlots]) -> None:
    """Say which class :func:`wrap` makes; called once, where that class is defined."""
    global _tensor_type
    _tensor_type = kind


def set_quantized_type(kind: type[TensorSlots]) -> None:
    """Say which class :func:`wrap_quantized` makes; called once, where that class is defined."""
    global _quantized_type
    _quantized_type = kind


def leaf(kind: type[TensorSlots], array: Any) -> Any:
    """A new leaf of a class of tensors, on this very array (no copy)."""
    tensor = _new(kind)
    tensor._array = array
    tensor._base = None
    tensor._changes = None
    tensor._goes_to = None
    tensor._grad = None
    tensor._quantizer = None
    return tensor


def quantized_leaf(kind: type[TensorSlots], array: Any, quantizer: Any) -> Any:
    """Return a new leaf that holds integers, which a quantizer reads."""
    tensor = leaf(kind, array)
    tensor._quantizer = quantizer
    return tensor


def wrap(array: Any) -> Any:
    """A new leaf tensor on this very array (no copy)."""
    return leaf(_tensor_type, array)


def wrap_quantized(array: Any, quantizer: Any) -> Any:
    """A new quantized tensor on these very integers (no copy).

    Examples
    --------
    >>> import numpy as np
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(2), 0.5, 10, pyqref.quint8)
    >>> wrap_quantized(np.uint8([10, 14]), x._quantizer).dequantize().tolist()
    [0.0, 2.0]
    """
    return quantized_leaf(_quantized_type, array, quantizer)


def continues(array: Any, edge: Any) -> Any:
    """A new tensor on this very array, whose gradient goes along an edge."""
    tensor = leaf(_tensor_type, array)
    tensor._goes_to = edge
    return tensor


def becomes_grad(tensor: Any, gradient: Any) -> bool:
    """Make an array the gradient of a tensor that has none; False, and nothing, if it is not as it.

    It must be of its dtype and lie in memory as the tensor does, or where that has gaps in C order;
    nothing else may hold it.
    """
    array = tensor._array
    if tensor._grad is not None or gradient.dtype is not array.dtype:
        return False
    if not (gradient.flags.c_contiguous and array.flags.c_contiguous):
        if layout.is_dense(array):
            if gradient.strides != array.strides:
                return False
        elif not gradient.flags.c_contiguous:
            return False
    tensor._grad = wrap(gradient)
    return True


def root_of(tensor: Any, gradient: Any) -> tuple[Any, Any] | None:
    """Return the edge for the gradient of a result, and its array; None if shapes differ."""
    if not (isinstance(tensor, TensorSlots) and isinstance(gradient, TensorSlots)):
        return None
    if tensor._base is not None or tensor._goes_to is None:
        return None
    if tensor._array.shape != gradient._array.shape:
        return None
    return tensor._goes_to, gradient._array
