"""The class :class:`Tensor`: a table of contents of the functions around it.

Each method is a function of a neighbouring file, whose first argument is the tensor.
Those that work element by element stand in :mod:`.elementwise`, the properties in
:mod:`.description`, the operators in :mod:`.protocols`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Dtype, QScheme, Self
from . import (
    arranging,
    conversion,
    creation,
    creation_like,
    diagonals,
    extremes,
    finding,
    gradient,
    histograms,
    indexing,
    joining,
    linalg,
    more_in_place,
    ordering,
    picking,
    queries,
    random,
    random_filling,
    reducing_at,
    reduction,
    softmax,
    subclass,
)
from . import layout as layouts
from . import shape as shapes
from .base import leaf, set_tensor_type
from .elementwise import ElementwiseMethods
from .promotion import default_numpy_dtype, get_default_dtype
from .protocols import Protocols

__all__ = ["Tensor"]


def _needs_quantized(name: str) -> Any:
    """A method that says that the tensor is not quantized."""

    def method(self: Any) -> Any:
        raise RuntimeError(
            f"{name}: the tensor is not quantized, it is {self.dtype}; "
            "use quantize_per_tensor first"
        )

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Defined for quantized tensors only."
    return method


class Tensor(ElementwiseMethods, Protocols):
    """An n-dimensional array of numbers of one dtype, with gradients.

    Tensors are made by :func:`pyqref.tensor`, :func:`pyqref.zeros` and their like, or by
    ``Tensor(data)`` in the default dtype (``Tensor(2, 3)`` has that shape).

    Attributes
    ----------
    dtype, shape, ndim, device, layout
        Type, lengths of the axes, their number; always ``cpu`` and ``strided``.
    requires_grad, grad, grad_fn, is_leaf
        Whether gradients flow here, those that arrived, and the operation that made
        this tensor.
    T, mT
        The tensor with its axes reversed, and with the last two exchanged.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0, 2.0], requires_grad=True)
    >>> x.square().sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __new__(cls, *data: Any, dtype: Dtype | None = None) -> Self:
        if len(data) == 1 and not isinstance(data[0], (int, np.integer)):
            value = data[0]
            array = creation._array_of(value, dtype or get_default_dtype())
            array = array if array is not value else array.copy()
        else:
            array = np.zeros([int(n) for n in data] if data else 0, dtype=default_numpy_dtype())
        return leaf(cls, array)

    # gradient.py
    backward = gradient.backward
    detach = gradient.detach
    detach_ = gradient.detach_
    register_hook = gradient.register_hook
    requires_grad_ = gradient.requires_grad_
    retain_grad = gradient.retain_grad

    # conversion.py
    to = conversion.to
    type_as = conversion.type_as
    cpu = conversion.cpu
    cuda = conversion.cuda
    double = conversion.double
    half = conversion.half
    long = conversion.long
    short = conversion.short
    char = conversion.char
    byte = conversion.byte
    item = conversion.item
    tolist = conversion.tolist
    numpy = conversion.numpy
    to_numpy = conversion.numpy  # the name that matplotlib and pandas ask for
    copy_ = conversion.copy_
    fill_ = conversion.fill_
    zero_ = conversion.zero_
    resize_ = conversion.resize_
    resize_as_ = conversion.resize_as_
    set_ = conversion.set_
    float = conversion.float_
    int = conversion.int_
    bool = conversion.bool_
    type = conversion.type_

    # layout.py
    as_strided = layouts.as_strided
    clone = layouts.clone
    contiguous = layouts.contiguous
    is_contiguous = layouts.is_contiguous

    # shape.py
    as_subclass = subclass.as_subclass
    broadcast_to = shapes.broadcast_to
    diag = diagonals.diag
    diagonal = diagonals.diagonal
    expand = shapes.expand
    expand_as = shapes.expand_as
    flatten = shapes.flatten
    flip = arranging.flip
    fliplr = arranging.fliplr
    flipud = arranging.flipud
    moveaxis = shapes.moveaxis
    movedim = shapes.movedim
    narrow = shapes.narrow
    permute = shapes.permute
    ravel = shapes.ravel
    repeat = arranging.repeat
    repeat_interleave = arranging.repeat_interleave
    reshape = shapes.reshape
    reshape_as = shapes.reshape_as
    roll = arranging.roll
    rot90 = arranging.rot90
    select = shapes.select
    squeeze = shapes.squeeze
    squeeze_ = more_in_place.squeeze_
    swapaxes = shapes.swapaxes
    swapdims = shapes.swapdims
    t = shapes.t
    t_ = more_in_place.t_
    tile = arranging.tile
    transpose = shapes.transpose
    transpose_ = more_in_place.transpose_
    tril = diagonals.tril
    triu = diagonals.triu
    unflatten = shapes.unflatten
    unfold = arranging.unfold
    unsqueeze = shapes.unsqueeze
    unsqueeze_ = more_in_place.unsqueeze_
    view = shapes.view
    view_as = shapes.view_as

    # joining.py
    chunk = joining.chunk
    split = joining.split
    split_with_sizes = joining.split_with_sizes
    tensor_split = joining.tensor_split
    unbind = joining.unbind

    # indexing.py
    argwhere = finding.argwhere
    gather = picking.gather
    index_add = picking.index_add
    index_add_ = picking.index_add_
    index_copy = picking.index_copy
    index_copy_ = picking.index_copy_
    index_fill = picking.index_fill
    index_fill_ = picking.index_fill_
    index_put = indexing.index_put
    index_put_ = indexing.index_put_
    index_select = picking.index_select
    masked_fill = picking.masked_fill
    masked_fill_ = picking.masked_fill_
    masked_scatter = picking.masked_scatter
    masked_scatter_ = picking.masked_scatter_
    masked_select = picking.masked_select
    nonzero = finding.nonzero
    scatter = picking.scatter
    scatter_ = picking.scatter_
    scatter_add = picking.scatter_add
    scatter_add_ = picking.scatter_add_
    scatter_reduce = reducing_at.scatter_reduce
    scatter_reduce_ = reducing_at.scatter_reduce_
    index_reduce = reducing_at.index_reduce
    index_reduce_ = reducing_at.index_reduce_
    take = picking.take
    take_along_dim = picking.take_along_dim

    # reduction.py
    nanmean = reduction.nanmean
    cummax = extremes.cummax
    cummin = extremes.cummin
    diff = reduction.diff
    all = reduction.all
    amax = extremes.amax
    amin = extremes.amin
    aminmax = extremes.aminmax
    any = reduction.any
    argmax = extremes.argmax
    argmin = extremes.argmin
    count_nonzero = reduction.count_nonzero
    cumprod = reduction.cumprod
    cumsum = reduction.cumsum
    dist = reduction.dist
    logsumexp = reduction.logsumexp
    max = extremes.max
    mean = reduction.mean
    min = extremes.min
    nansum = reduction.nansum
    norm = reduction.norm
    prod = reduction.prod
    std = reduction.std
    sum = reduction.sum
    var = reduction.var

    # ordering.py
    mode = ordering.mode
    argsort = ordering.argsort
    bincount = ordering.bincount
    histc = ordering.histc
    histogram = histograms.histogram
    kthvalue = ordering.kthvalue
    median = ordering.median
    msort = ordering.msort
    quantile = ordering.quantile
    sort = ordering.sort
    topk = ordering.topk
    unique = ordering.unique
    unique_consecutive = ordering.unique_consecutive

    # linalg.py
    cross = linalg.cross
    addbmm = linalg.addbmm
    addmm = linalg.addmm
    addmm_ = linalg.addmm_
    addmv = linalg.addmv
    addmv_ = linalg.addmv_
    baddbmm = linalg.baddbmm
    baddbmm_ = linalg.baddbmm_
    addbmm_ = linalg.addbmm_
    cumprod_ = more_in_place.cumprod_
    cumsum_ = more_in_place.cumsum_
    erfinv = more_in_place.erfinv
    erfinv_ = more_in_place.erfinv_
    swapaxes_ = more_in_place.swapaxes_
    swapdims_ = more_in_place.swapdims_
    tril_ = more_in_place.tril_
    triu_ = more_in_place.triu_
    bmm = linalg.bmm
    dot = linalg.dot
    inner = linalg.inner
    matmul = linalg.matmul
    mm = linalg.mm
    mv = linalg.mv
    outer = linalg.outer
    trace = linalg.trace
    vdot = linalg.vdot

    # softmax.py
    log_softmax = softmax.log_softmax
    softmax = softmax.softmax

    # queries.py
    is_nonzero = queries.is_nonzero
    isposinf = queries.isposinf
    isneginf = queries.isneginf
    isreal = queries.isreal
    signbit = queries.signbit
    get_device = queries.get_device

    # random.py, random_filling.py
    bernoulli = random.bernoulli
    bernoulli_ = random_filling.bernoulli_
    exponential_ = random_filling.exponential_
    multinomial = random.multinomial
    normal_ = random_filling.normal_
    random_ = random_filling.random_
    uniform_ = random_filling.uniform_

    # creation_like.py
    new_empty = creation_like.new_empty
    new_full = creation_like.new_full
    new_ones = creation_like.new_ones
    new_tensor = creation_like.new_tensor
    new_zeros = creation_like.new_zeros

    ndimension = Protocols.dim
    nelement = Protocols.numel

    # defined for quantized tensors, see quantized/tensor.py
    def dequantize(self) -> Tensor:
        """The tensor in float32; of a quantized tensor the real numbers it stands for."""
        if not self.dtype.is_floating_point:
            raise RuntimeError(f"dequantize: the tensor is not quantized, it is {self.dtype}")
        return conversion.float_(self)

    int_repr: Callable[[], Tensor] = _needs_quantized("int_repr")
    q_scale: Callable[[], builtins.float] = _needs_quantized("q_scale")
    q_zero_point: Callable[[], builtins.int] = _needs_quantized("q_zero_point")
    q_per_channel_scales: Callable[[], Tensor] = _needs_quantized("q_per_channel_scales")
    q_per_channel_zero_points: Callable[[], Tensor] = _needs_quantized("q_per_channel_zero_points")
    q_per_channel_axis: Callable[[], builtins.int] = _needs_quantized("q_per_channel_axis")
    qscheme: Callable[[], QScheme] = _needs_quantized("qscheme")

    def share_memory_(self) -> Self:
        """The tensor itself; memory is shared with forked processes only as they fork."""
        return self

    def pin_memory(self) -> Self:
        """The tensor itself: there is no other device to copy to."""
        return self


set_tensor_type(Tensor)
