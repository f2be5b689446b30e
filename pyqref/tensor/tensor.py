"""The class :class:`Tensor`: a table of contents of the functions around it.

Each method is a function of a neighbouring file, whose first argument is the tensor.
"""

from __future__ import annotations

import builtins
import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..dtypes import device as device_
from ..dtypes import layout as layout_
from ..dtypes import strided
from ..tape.memory import address, storage_of
from . import (
    arithmetic,
    comparison,
    conversion,
    creation,
    gradient,
    indexing,
    joining,
    linalg,
    ordering,
    pointwise,
    printing,
    queries,
    random,
    reduction,
    softmax,
)
from . import shape as shapes
from .base import TensorBase, set_tensor_type, wrap
from .size import Size

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


class Tensor(TensorBase):
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
    """

    def __new__(cls, *data: Any, dtype: Any = None) -> Any:
        if len(data) == 1 and not isinstance(data[0], (int, np.integer)):
            value = data[0]
            array = creation._array_of(value, dtype or creation_default())
            array = array if array is not value else array.copy()
        else:
            array = np.zeros([int(n) for n in data] if data else 0, dtype=default_type())
        self = super().__new__(cls)
        self._array = array
        self._version = [0]
        return self

    # what it is
    @property
    def shape(self) -> Size:
        """Lengths of the axes."""
        return Size(self._array.shape)

    @property
    def ndim(self) -> builtins.int:
        """Number of axes."""
        return self._array.ndim

    @property
    def device(self) -> device_:
        """Always ``cpu``."""
        return device_("cpu")

    @property
    def layout(self) -> layout_:
        """Always ``strided``."""
        return strided

    @property
    def itemsize(self) -> builtins.int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> builtins.int:
        """Bytes of all elements."""
        return self._array.size * self._array.itemsize

    @property
    def data(self) -> Any:
        """The same memory, outside the graph and with a version count of its own."""
        alias = self._alias()
        alias._version = [0]
        return alias

    @data.setter
    def data(self, value: Any) -> None:
        self._array = value._array

    @property
    def T(self) -> Any:  # noqa: N802  (the field's name)
        """The axes in reversed order."""
        return shapes.permute(self, *reversed(range(self.ndim)))

    @property
    def mT(self) -> Any:  # noqa: N802
        """The last two axes exchanged."""
        return shapes.transpose(self, -2, -1)

    @property
    def real(self) -> Any:
        """The tensor itself: numbers are real."""
        return self

    is_cuda = is_sparse = is_meta = is_mkldnn = is_nested = False
    is_cpu = True
    output_nr = property(lambda self: self._output_index)
    names = property(lambda self: (None,) * self.ndim)

    def size(self, dim: builtins.int | None = None) -> Any:
        """The shape, or the length of one axis."""
        return self.shape if dim is None else self._array.shape[_axis(dim, self.ndim)]

    def dim(self) -> builtins.int:
        """Number of axes."""
        return self._array.ndim

    def numel(self) -> builtins.int:
        """Number of elements."""
        return self._array.size

    def element_size(self) -> builtins.int:
        """Bytes of one element."""
        return self._array.itemsize

    def stride(self, dim: builtins.int | None = None) -> Any:
        """Steps between neighbours along each axis, in elements."""
        steps = tuple(step // self._array.itemsize for step in self._array.strides)
        return steps if dim is None else steps[_axis(dim, self.ndim)]

    def storage_offset(self) -> builtins.int:
        """Position of the first element in the storage, in elements."""
        return (address(self._array) - address(storage_of(self._array))) // self._array.itemsize

    def data_ptr(self) -> builtins.int:
        """Address of the first element."""
        return address(self._array) if self._array.size else 0

    def is_floating_point(self) -> builtins.bool:
        """Whether the dtype is a floating point type."""
        return self.dtype.is_floating_point

    def is_complex(self) -> builtins.bool:
        """Always false."""
        return False

    def is_signed(self) -> builtins.bool:
        """Whether the dtype has negative numbers."""
        return self.dtype.is_signed

    def is_same_size(self, other: Any) -> builtins.bool:
        """Whether the shapes are equal."""
        return self._array.shape == other._array.shape

    def is_pinned(self) -> builtins.bool:
        """Always false."""
        return False

    def is_inference(self) -> builtins.bool:
        """Always false."""
        return False

    @property
    def _version_count(self) -> builtins.int:
        return self._version[0]

    def _alias(self) -> Any:
        """Another tensor on the same memory, outside the graph."""
        alias = wrap(self._array)
        alias._version = self._version
        return alias

    # Python's protocols
    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return printing.tensor_repr(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self.ndim == 0 else object.__format__(self, spec)

    def __len__(self) -> builtins.int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self._array.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(joining.unbind(self, 0))

    def __contains__(self, element: Any) -> builtins.bool:
        return bool(comparison.eq(self, element)._array.any())

    def __bool__(self) -> builtins.bool:
        if self._array.size != 1:
            raise RuntimeError(
                "Boolean value of Tensor with "
                f"{'no values' if self._array.size == 0 else 'more than one value'} is ambiguous"
            )
        return bool(self.item())

    def __float__(self) -> builtins.float:
        return float(self.item())

    def __int__(self) -> builtins.int:
        return int(self.item())

    def __index__(self) -> builtins.int:
        if self._array.dtype.kind not in "iub" or self.is_quantized:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __hash__(self) -> builtins.int:
        return id(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._node is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment; call detach() first"
            )
        storage = storage_of(self._array)
        copied = memo.get(id(storage))
        if copied is None:
            copied = memo[id(storage)] = storage.copy(order="K")
            memo[id(memo)] = [*memo.get(id(memo), []), storage]
        offset = address(self._array) - address(storage)
        array = _same_view(copied, self._array, offset)
        result = type(self)._make(array, self)
        memo[id(self)] = result
        result.grad = copy.deepcopy(self.grad, memo)
        return result

    @classmethod
    def _make(cls, array: Any, like: Any) -> Any:
        """A leaf of this class on ``array``, otherwise as ``like``."""
        result = TensorBase.__new__(cls)
        result._array = array
        result._version = [0]
        result._requires_grad = like.requires_grad
        result.__dict__.update(
            {
                name: value
                for name, value in like.__dict__.items()
                if not name.startswith("_") and name != "grad"
            }
        )
        return result

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._node is not None:
            raise RuntimeError(
                "a tensor that an operation made cannot be pickled; call detach() first"
            )
        return _unpickled, (type(self), self._array, self._requires_grad, self._state())

    def _state(self) -> dict[str, Any]:
        """What a subclass keeps besides the elements."""
        return {}

    # NumPy and DLPack
    __array_priority__ = 1000
    __array__ = conversion.as_array
    __dlpack__ = conversion.dlpack
    __dlpack_device__ = conversion.dlpack_device

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return wrap(np.asarray(array))

    # operators
    __add__ = __radd__ = arithmetic.operator(arithmetic.add)
    __sub__ = arithmetic.operator(arithmetic.sub)
    __rsub__ = arithmetic.operator(arithmetic.rsub)
    __mul__ = __rmul__ = arithmetic.operator(arithmetic.mul)
    __truediv__ = arithmetic.operator(arithmetic.div)
    __rtruediv__ = arithmetic.reflected(arithmetic.div)
    __floordiv__ = arithmetic.operator(arithmetic.floor_divide)
    __rfloordiv__ = arithmetic.reflected(arithmetic.floor_divide)
    __mod__ = arithmetic.operator(arithmetic.remainder)
    __rmod__ = arithmetic.reflected(arithmetic.remainder)
    __pow__ = arithmetic.operator(arithmetic.pow)
    __rpow__ = arithmetic.reflected(arithmetic.pow)
    __matmul__ = linalg.matmul
    __rmatmul__ = arithmetic.reflected(linalg.matmul)
    __neg__ = arithmetic.neg
    __pos__ = conversion.cpu
    __abs__ = pointwise.abs
    __invert__ = arithmetic.bitwise_not
    __and__ = __rand__ = arithmetic.operator(arithmetic.bitwise_and)
    __or__ = __ror__ = arithmetic.operator(arithmetic.bitwise_or)
    __xor__ = __rxor__ = arithmetic.operator(arithmetic.bitwise_xor)
    __eq__ = comparison.operator(comparison.eq)  # type: ignore[assignment]
    __ne__ = comparison.operator(comparison.ne)  # type: ignore[assignment]
    __lt__ = comparison.operator(comparison.lt)
    __le__ = comparison.operator(comparison.le)
    __gt__ = comparison.operator(comparison.gt)
    __ge__ = comparison.operator(comparison.ge)
    __iadd__ = arithmetic.add_
    __isub__ = arithmetic.sub_
    __imul__ = arithmetic.mul_
    __itruediv__ = arithmetic.div_
    __ifloordiv__ = arithmetic.floor_divide_
    __imod__ = arithmetic.remainder_
    __ipow__ = arithmetic.pow_
    __iand__ = arithmetic.bitwise_and_
    __ior__ = arithmetic.bitwise_or_
    __ixor__ = arithmetic.bitwise_xor_
    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem

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
    double = conversion.double
    half = conversion.half
    long = conversion.long
    short = conversion.short
    char = conversion.char
    byte = conversion.byte
    item = conversion.item
    tolist = conversion.tolist
    numpy = conversion.numpy
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

    # arithmetic.py
    fmax = arithmetic.fmax
    fmin = arithmetic.fmin
    hypot = arithmetic.hypot
    logaddexp = arithmetic.logaddexp
    xlogy = arithmetic.xlogy
    logical_xor_ = arithmetic.logical_xor_
    atan2_ = arithmetic.atan2_
    add = arithmetic.add
    add_ = arithmetic.add_
    sub = arithmetic.sub
    sub_ = arithmetic.sub_
    subtract = arithmetic.subtract
    subtract_ = arithmetic.subtract_
    mul = arithmetic.mul
    mul_ = arithmetic.mul_
    multiply = arithmetic.multiply
    multiply_ = arithmetic.multiply_
    div = arithmetic.div
    div_ = arithmetic.div_
    divide = arithmetic.divide
    divide_ = arithmetic.divide_
    true_divide = arithmetic.true_divide
    true_divide_ = arithmetic.true_divide_
    floor_divide = arithmetic.floor_divide
    floor_divide_ = arithmetic.floor_divide_
    pow = arithmetic.pow
    pow_ = arithmetic.pow_
    neg = arithmetic.neg
    neg_ = arithmetic.neg_
    negative = arithmetic.negative
    negative_ = arithmetic.negative_
    remainder = arithmetic.remainder
    remainder_ = arithmetic.remainder_
    fmod = arithmetic.fmod
    fmod_ = arithmetic.fmod_
    atan2 = arithmetic.atan2
    maximum = arithmetic.maximum
    minimum = arithmetic.minimum
    clamp = arithmetic.clamp
    clamp_ = arithmetic.clamp_
    clip = arithmetic.clip
    clip_ = arithmetic.clip_
    clamp_min = arithmetic.clamp_min
    clamp_min_ = arithmetic.clamp_min_
    clamp_max = arithmetic.clamp_max
    clamp_max_ = arithmetic.clamp_max_
    lerp = arithmetic.lerp
    lerp_ = arithmetic.lerp_
    addcmul = arithmetic.addcmul
    addcmul_ = arithmetic.addcmul_
    addcdiv = arithmetic.addcdiv
    addcdiv_ = arithmetic.addcdiv_
    bitwise_and = arithmetic.bitwise_and
    bitwise_and_ = arithmetic.bitwise_and_
    bitwise_or = arithmetic.bitwise_or
    bitwise_or_ = arithmetic.bitwise_or_
    bitwise_xor = arithmetic.bitwise_xor
    bitwise_xor_ = arithmetic.bitwise_xor_
    bitwise_not = arithmetic.bitwise_not
    bitwise_not_ = arithmetic.bitwise_not_
    logical_and = arithmetic.logical_and
    logical_and_ = arithmetic.logical_and_
    logical_or = arithmetic.logical_or
    logical_or_ = arithmetic.logical_or_
    logical_xor = arithmetic.logical_xor
    logical_not = arithmetic.logical_not
    logical_not_ = arithmetic.logical_not_
    where = arithmetic.where_method

    # pointwise.py
    exp2 = pointwise.exp2
    logit = pointwise.logit
    deg2rad = pointwise.deg2rad
    rad2deg = pointwise.rad2deg
    erfc = pointwise.erfc
    positive = pointwise.positive
    absolute_ = pointwise.absolute_
    acos_ = pointwise.acos_
    arccos_ = pointwise.arccos_
    asin_ = pointwise.asin_
    arcsin_ = pointwise.arcsin_
    atan_ = pointwise.atan_
    arctan_ = pointwise.arctan_
    cosh_ = pointwise.cosh_
    sinh_ = pointwise.sinh_
    tan_ = pointwise.tan_
    frac_ = pointwise.frac_
    nan_to_num_ = pointwise.nan_to_num_
    sgn_ = pointwise.sgn_
    abs = pointwise.abs
    abs_ = pointwise.abs_
    absolute = pointwise.absolute
    acos = pointwise.acos
    arccos = pointwise.arccos
    arcsin = pointwise.arcsin
    arctan = pointwise.arctan
    asin = pointwise.asin
    atan = pointwise.atan
    ceil = pointwise.ceil
    ceil_ = pointwise.ceil_
    cos = pointwise.cos
    cos_ = pointwise.cos_
    cosh = pointwise.cosh
    erf = pointwise.erf
    erf_ = pointwise.erf_
    exp = pointwise.exp
    exp_ = pointwise.exp_
    expm1 = pointwise.expm1
    expm1_ = pointwise.expm1_
    floor = pointwise.floor
    floor_ = pointwise.floor_
    frac = pointwise.frac
    isfinite = pointwise.isfinite
    isinf = pointwise.isinf
    isnan = pointwise.isnan
    log = pointwise.log
    log_ = pointwise.log_
    log1p = pointwise.log1p
    log1p_ = pointwise.log1p_
    log2 = pointwise.log2
    log2_ = pointwise.log2_
    log10 = pointwise.log10
    log10_ = pointwise.log10_
    nan_to_num = pointwise.nan_to_num
    reciprocal = pointwise.reciprocal
    reciprocal_ = pointwise.reciprocal_
    relu = pointwise.relu
    relu_ = pointwise.relu_
    round = pointwise.round
    round_ = pointwise.round_
    rsqrt = pointwise.rsqrt
    rsqrt_ = pointwise.rsqrt_
    sgn = pointwise.sgn
    sigmoid = pointwise.sigmoid
    sigmoid_ = pointwise.sigmoid_
    sign = pointwise.sign
    sign_ = pointwise.sign_
    sin = pointwise.sin
    sin_ = pointwise.sin_
    sinh = pointwise.sinh
    sqrt = pointwise.sqrt
    sqrt_ = pointwise.sqrt_
    square = pointwise.square
    square_ = pointwise.square_
    tan = pointwise.tan
    tanh = pointwise.tanh
    tanh_ = pointwise.tanh_
    trunc = pointwise.trunc
    trunc_ = pointwise.trunc_

    # comparison.py
    eq_ = comparison.eq_
    ne_ = comparison.ne_
    lt_ = comparison.lt_
    le_ = comparison.le_
    gt_ = comparison.gt_
    ge_ = comparison.ge_
    allclose = comparison.allclose
    eq = comparison.eq
    equal = comparison.equal
    ge = comparison.ge
    greater = comparison.greater
    greater_equal = comparison.greater_equal
    gt = comparison.gt
    isclose = comparison.isclose
    le = comparison.le
    less = comparison.less
    less_equal = comparison.less_equal
    lt = comparison.lt
    ne = comparison.ne
    not_equal = comparison.not_equal

    # reduction.py
    nanmean = reduction.nanmean
    cummax = reduction.cummax
    cummin = reduction.cummin
    diff = reduction.diff
    all = reduction.all
    amax = reduction.amax
    amin = reduction.amin
    aminmax = reduction.aminmax
    any = reduction.any
    argmax = reduction.argmax
    argmin = reduction.argmin
    count_nonzero = reduction.count_nonzero
    cumprod = reduction.cumprod
    cumsum = reduction.cumsum
    dist = reduction.dist
    logsumexp = reduction.logsumexp
    max = reduction.max
    mean = reduction.mean
    min = reduction.min
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
    kthvalue = ordering.kthvalue
    median = ordering.median
    msort = ordering.msort
    quantile = ordering.quantile
    sort = ordering.sort
    topk = ordering.topk
    unique = ordering.unique
    unique_consecutive = ordering.unique_consecutive

    # shape.py
    as_strided = shapes.as_strided
    broadcast_to = shapes.broadcast_to
    clone = shapes.clone
    contiguous = shapes.contiguous
    diag = shapes.diag
    diagonal = shapes.diagonal
    expand = shapes.expand
    expand_as = shapes.expand_as
    flatten = shapes.flatten
    flip = shapes.flip
    fliplr = shapes.fliplr
    flipud = shapes.flipud
    is_contiguous = shapes.is_contiguous
    moveaxis = shapes.moveaxis
    movedim = shapes.movedim
    narrow = shapes.narrow
    permute = shapes.permute
    ravel = shapes.ravel
    repeat = shapes.repeat
    repeat_interleave = shapes.repeat_interleave
    reshape = shapes.reshape
    reshape_as = shapes.reshape_as
    roll = shapes.roll
    rot90 = shapes.rot90
    select = shapes.select
    squeeze = shapes.squeeze
    squeeze_ = shapes.squeeze_
    swapaxes = shapes.swapaxes
    swapdims = shapes.swapdims
    t = shapes.t
    t_ = shapes.t_
    tile = shapes.tile
    transpose = shapes.transpose
    transpose_ = shapes.transpose_
    tril = shapes.tril
    triu = shapes.triu
    unflatten = shapes.unflatten
    unfold = shapes.unfold
    unsqueeze = shapes.unsqueeze
    unsqueeze_ = shapes.unsqueeze_
    view = shapes.view
    view_as = shapes.view_as

    # joining.py
    chunk = joining.chunk
    split = joining.split
    split_with_sizes = joining.split_with_sizes
    tensor_split = joining.tensor_split
    unbind = joining.unbind

    # indexing.py
    argwhere = indexing.argwhere
    gather = indexing.gather
    index_add = indexing.index_add
    index_add_ = indexing.index_add_
    index_copy = indexing.index_copy
    index_copy_ = indexing.index_copy_
    index_fill = indexing.index_fill
    index_fill_ = indexing.index_fill_
    index_put = indexing.index_put
    index_put_ = indexing.index_put_
    index_select = indexing.index_select
    masked_fill = indexing.masked_fill
    masked_fill_ = indexing.masked_fill_
    masked_scatter = indexing.masked_scatter
    masked_scatter_ = indexing.masked_scatter_
    masked_select = indexing.masked_select
    nonzero = indexing.nonzero
    scatter = indexing.scatter
    scatter_ = indexing.scatter_
    scatter_add = indexing.scatter_add
    scatter_add_ = indexing.scatter_add_
    take = indexing.take
    take_along_dim = indexing.take_along_dim

    # linalg.py
    cross = linalg.cross
    addbmm = linalg.addbmm
    addmm = linalg.addmm
    addmm_ = linalg.addmm_
    addmv = linalg.addmv
    addmv_ = linalg.addmv_
    baddbmm = linalg.baddbmm
    baddbmm_ = linalg.baddbmm_
    bmm = linalg.bmm
    dot = linalg.dot
    inner = linalg.inner
    matmul = linalg.matmul
    mm = linalg.mm
    mv = linalg.mv
    outer = linalg.outer
    trace = linalg.trace
    vdot = linalg.vdot

    # random.py
    bernoulli = random.bernoulli
    bernoulli_ = random.bernoulli_
    exponential_ = random.exponential_
    multinomial = random.multinomial
    normal_ = random.normal_
    random_ = random.random_
    uniform_ = random.uniform_

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

    # creation.py
    new_empty = creation.new_empty
    new_full = creation.new_full
    new_ones = creation.new_ones
    new_tensor = creation.new_tensor
    new_zeros = creation.new_zeros

    ndimension = dim
    nelement = numel

    # defined for quantized tensors, see quantized/tensor.py
    def dequantize(self) -> Any:
        """The tensor in float32; of a quantized tensor the real numbers it stands for."""
        if not self.dtype.is_floating_point:
            raise RuntimeError(f"dequantize: the tensor is not quantized, it is {self.dtype}")
        return conversion.float_(self)

    int_repr = _needs_quantized("int_repr")
    q_scale = _needs_quantized("q_scale")
    q_zero_point = _needs_quantized("q_zero_point")
    q_per_channel_scales = _needs_quantized("q_per_channel_scales")
    q_per_channel_zero_points = _needs_quantized("q_per_channel_zero_points")
    q_per_channel_axis = _needs_quantized("q_per_channel_axis")
    qscheme = _needs_quantized("qscheme")

    def share_memory_(self) -> Any:
        """The tensor itself; memory is shared with forked processes only as they fork."""
        return self

    def pin_memory(self) -> Any:
        """The tensor itself: there is no other device to copy to."""
        return self


def _axis(dim: int, ndim: int) -> int:
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], "
            f"but got {dim})"
        )
    return dim


def _same_view(storage: Any, array: Any, offset: int) -> Any:
    from ..tape.memory import as_strided

    return as_strided(storage, array.shape, array.strides, offset)


def _unpickled(cls: Any, array: Any, requires_grad: bool, state: dict[str, Any]) -> Any:
    result = TensorBase.__new__(cls)
    result._array = array
    result._version = [0]
    result._requires_grad = requires_grad
    for name, value in state.items():
        setattr(result, name, value)
    return result


def creation_default() -> Any:
    """The default dtype, in which ``Tensor(data)`` is made."""
    from .promotion import get_default_dtype

    return get_default_dtype()


def default_type() -> Any:
    """The default dtype as NumPy type."""
    return creation_default().numpy_dtype


set_tensor_type(Tensor)
