# Types of what stands in layout.py. Of arrays it may take fields only (ndim, shape, strides):
# NumPy functions are not there.

cimport cython
cimport numpy as cnp


@cython.locals(
    place=cython.int, axis=cython.int, each=cython.int, ndim=cython.int,
    expected=cython.Py_ssize_t, length=cython.Py_ssize_t,
)
cdef bint _has_channels_last(cnp.ndarray x)

cpdef bint is_dense(object x)

cpdef object contiguous(object x)

cpdef object dense(object x)


@cython.locals(axis=cython.int)
cdef bint _have_equal_strides(cnp.ndarray first, cnp.ndarray other)

cpdef object laid_as(object first, object other)

cpdef object copied(object x, object order)

cpdef object reshaped(object x, object shape)

cpdef object part(object x, tuple key)
