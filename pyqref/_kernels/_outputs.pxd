# Buffers for results, as kernels make them themselves: one call from Python less.
#
# ``out`` is the result itself, or else says its type: a dtype, or None for that of ``x``. Where
# ``x`` is no array through whose memory a kernel walks, or the type none of those that the kernel
# writes, they give None, and so do the kernels. A result that does not fit is refused.

cimport numpy as cnp

# Types of elements that kernels write.
cdef enum Kinds:
    OF_UINT8 = 1
    OF_INT8 = 2
    OF_INT32 = 4
    OF_INT64 = 8
    OF_FLOAT32 = 16
    OF_BOOL = 32
    OF_BYTES = 3
    OF_INTEGERS = 7

# How a result must lie: without gaps, or where its rows may be apart, without gaps in each.
cdef enum Order:
    C_ORDER
    CHANNELS_LAST
    ANY_ORDER
    ROWS_APART

# One result an element of ``x``, whose type is one of ``of``; it lies as ``x`` does: in C order or
# with the channels last, or, where ``any_order``, in any order without gaps.
cdef cnp.ndarray output_beside(x, int of, out, int kinds, bint any_order)

# Rows (..., columns) for those of ``x``, which is in C order where a buffer is to be made.
cdef cnp.ndarray output_for_rows(x, out, int kinds, Py_ssize_t columns)

# Images (batch, channels, *sizes) of the type of ``x (batch, channels, *size)``, whose channels lie
# last, or which, where ``either``, may lie in C order. ``size`` has one to three numbers.
cdef cnp.ndarray output_for_images(x, out, const cnp.npy_intp* sizes, bint either)

# Refuse what is no array of one of these types to which a kernel may write, and of this shape and
# order; or which does not lie as ``x`` does; or is not so many rows, of whatever leading axes.
cdef int require_output(
    str name, out, int kinds, int ndim, const cnp.npy_intp* sizes, Order order=*
) except -1
cdef int require_output_beside(str name, out, int kinds, cnp.ndarray x) except -1
cdef int require_rows(str name, out, int kinds, Py_ssize_t rows, Py_ssize_t columns) except -1

# An array of this dtype that lies as `x` does, without gaps; its elements are not set.
cpdef cnp.ndarray output_like(cnp.ndarray x, cnp.dtype dtype)
