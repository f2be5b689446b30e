# Room for results, as kernels make it themselves: one call from Python less.
#
# ``out`` is the result itself, or else says its type: a dtype, or None for that of ``x``. Where
# ``x`` is no array through whose memory a kernel walks, they give None, and so do the kernels.

cimport numpy as cnp

# One result an element, that lies as ``x`` does: in C order or with the channels last, or, where
# ``any_order``, in any order without gaps.
cdef cnp.ndarray room_beside(x, out, bint any_order)

# Rows (..., columns) for those of ``x``, which is in C order.
cdef cnp.ndarray room_for_rows(x, out, Py_ssize_t columns)

# Images (batch, channels, *sizes) of the type of ``x (batch, channels, *size)``, whose channels lie
# last, or which, where ``either``, may lie in C order. ``size`` has one to three numbers.
cdef cnp.ndarray room_for_images(x, out, const cnp.npy_intp* sizes, bint either)
