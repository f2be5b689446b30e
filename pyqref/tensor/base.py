"""Base of a tensor: an array, and its place in the graph.

Everything that *computes* is a function in a neighbouring file; the class
:class:`~pyqref.tensor.tensor.Tensor` gives those functions their method names.
"""

from __future__ import annotations

import weakref
from operator import attrgetter
from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._kernels.layout import copied_as
from .._kernels.tensors import (
    TensorSlots,
    continues,
    leaf,
    quantized_leaf,
    root_of,
    set_quantized_type,
    set_tensor_type,
    wrap,
    wrap_quantized,
)
from .._typing import Tensor
from ..dtypes import dtype, from_numpy_dtype
from ..tape import AccumulateGrad, Array, Edge, Operation
from ..tape.memory import add_where, address, overlaps, same_layout
from .foreign import kind_of

__all__ = [
    "ANY_TENSOR",
    "TensorBase",
    "fields_of",
    "continues",
    "leaf",
    "put_fields",
    "quantized_leaf",
    "root_of",
    "set_quantized_type",
    "set_tensor_type",
    "wrap",
    "wrap_quantized",
]


class TensorBase(TensorSlots):
    """An array with a place in the graph, held in :class:`~pyqref._kernels.tensors.TensorSlots`.

    Attributes
    ----------
    _leaf_edge
        Of a leaf, where its gradients arrive, once any were asked for; kept while none are.
    _hooks
        Of a leaf, the functions to call when its gradient arrives.
    _epoch
        For a base, how often its node was replaced because a view was changed in
        place; for a view, the epoch of the base at which ``_goes_to`` was made.
    _retains_grad
        Of a result, whether its gradient is kept in ``grad`` as well.
    """

    _epoch: int = 0
    _leaf_edge: Edge | None = None
    _hooks: dict[int, list[Any]] | None = None
    _retains_grad: bool = False
    is_quantized = False

    @property
    def dtype(self) -> dtype:
        """Type of the elements."""
        return from_numpy_dtype(self._array.dtype)

    @property
    def requires_grad(self) -> bool:
        """True if gradients flow to this tensor. May be set on a leaf of floating point type."""
        return self._edge() is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not self.is_leaf:
            if not value:
                raise RuntimeError(
                    "you can only change requires_grad flags of leaf variables; "
                    "use detach() to get a tensor that does not require grad"
                )
            return
        if value and not self.dtype.is_floating_point:
            remedy = "; call dequantize() first" if self.is_quantized else ""
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients, got {self.dtype}"
                f"{remedy}"
            )
        if value and self._leaf_edge is None:
            accumulator = AccumulateGrad(weakref.ref(self))
            accumulator.hooks = self._hooks
            self._leaf_edge = Edge(accumulator, 0)
        self._goes_to = self._leaf_edge if value else None

    def _set_grad(self, value: Tensor | None) -> None:
        if value is not None:
            if not isinstance(value, TensorBase):
                raise TypeError(
                    f"assigned grad expected to be a Tensor or None but got {kind_of(value)}"
                )
            own, new = self._array, value._array
            if (own.shape, own.dtype) != (new.shape, new.dtype):
                raise RuntimeError(
                    f"attempting to assign a gradient of size {list(new.shape)} and {value.dtype} "
                    f"to a tensor of size {list(own.shape)} and {self.dtype}; both must be the same"
                )
        self._grad = value

    grad = property(
        attrgetter("_grad"),
        _set_grad,
        doc="The gradient collected so far, a tensor of this shape and dtype, or None.",
    )

    @property
    def is_leaf(self) -> bool:
        """True if no recorded operation made this tensor."""
        return self.grad_fn is None

    @property
    def grad_fn(self) -> Operation | None:
        """The recorded operation that made this tensor, None for a leaf."""
        edge = self._edge()
        return None if edge is None or isinstance(edge.node, AccumulateGrad) else edge.node

    def _edge(self) -> Edge | None:
        """Return the edge for the gradient of this tensor, or None if none is wanted."""
        if self._base is not None:
            self._follow_base()
        return self._goes_to

    def _follow_base(self) -> None:
        """Take this view anew out of its base if that was changed in place since."""
        base = self._base
        if base is not None and base._epoch != self._epoch:
            node = _view_of(self, base)
            self._goes_to = None if node is None else Edge(node, 0)
            self._epoch = base._epoch

    def _accumulate_grad(self, grad: Array) -> None:
        """Add a gradient that has arrived to ``grad``."""
        own, dtype = self._grad, self._array.dtype
        with quiet():
            if own is None:
                self._grad = wrap(copied_as(self._array, grad))
            elif overlaps(own._array):
                self._grad = wrap(own._array + grad.astype(dtype, copy=False))
            else:
                np.add(own._array, grad.astype(dtype, copy=False), out=own._array)
                own._version[0] += 1


def fields_of(tensor: TensorBase) -> tuple[dict[str, Any], dict[str, Any]]:
    """All that a tensor holds, to be put back by :func:`put_fields`: its slots, and the rest."""
    _ = tensor._version  # made now, so that it is the one that is put back
    slots = {name: getattr(tensor, name) for name in TensorSlots.__slots__}
    return slots, tensor.__dict__.copy()


def put_fields(tensor: TensorBase, fields: tuple[dict[str, Any], dict[str, Any]]) -> None:
    """Let a tensor hold what it held, and nothing else."""
    slots, rest = fields
    for name, value in slots.items():
        setattr(tensor, name, value)
    tensor.__dict__.clear()
    tensor.__dict__.update(rest)


def _view_of(view: TensorBase, base: TensorBase) -> Operation | None:
    """A node that takes ``view`` out of the present value of ``base``."""
    from_edge = base._edge()
    if from_edge is None:
        return None
    node = AsStridedView(base._array, view._array)
    node.enter((from_edge,))
    return node


#: For ``isinstance`` where the value is to keep its methods: :class:`TensorBase` has few.
ANY_TENSOR: Any = TensorBase


class Region:
    """Elements of a base array that a view of it holds."""

    def __init__(self, base: Array, view: Array) -> None:
        self.base_shape = base.shape
        self.base_strides = base.strides
        self.dtype = base.dtype
        self.offset = address(view) - address(base)
        self.shape = view.shape
        self.strides = view.strides

    def zeros(self) -> tuple[Array, Array]:
        """A new array laid out as the base, and the part of it that is the view."""
        base, memory = same_layout(self.base_shape, self.base_strides, self.dtype)
        view = np.ndarray(
            self.shape, self.dtype, buffer=memory, offset=self.offset, strides=self.strides
        )
        return base, view


class AsStridedView(Operation):
    """A view taken again from a base whose node was replaced."""

    def __init__(self, base: Array, view: Array) -> None:
        self.region = Region(base, view)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        region = self.region
        grad_base, memory = same_layout(region.base_shape, region.base_strides, region.dtype)
        add_where(memory, region.offset, region.shape, region.strides, grads[0])
        return (grad_base,)


class CopySlices(Operation):
    """A view of a base was changed in place by ``change``.

    The gradient of the changed region goes through ``change``; the gradient of the
    rest goes to the base as it was.
    """

    def __init__(self, base: Array, view: Array, change: Operation, index: int) -> None:
        self.region = Region(base, view)
        self.change = change
        self.index = index

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        grad_base, changed = self.region.zeros()
        grad_base[...] = grads[0]
        grads_of_change = self.change.gradients_of_results({self.index: changed.copy()})
        changed[...] = 0
        return (grad_base, *self.change.backward(*grads_of_change))

    def check_unmodified(self) -> None:
        self.change.check_unmodified()

    def release(self) -> None:
        self.change.release()
        self.released = self.change.released
