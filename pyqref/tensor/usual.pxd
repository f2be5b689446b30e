# Types of what stands in usual.py.

cimport cython
from pyqref._kernels.tensors cimport TensorSlots
from pyqref.tensor.dispatch cimport run


@cython.locals(first=TensorSlots, second=TensorSlots)
cpdef object combine(object operation, object input, object other)


@cython.locals(tensor=TensorSlots)
cpdef object apply_to_floating(object operation, object input)


@cython.locals(tensor=TensorSlots, found=list)
cpdef tuple own_numbers(object input, tuple numbers)


@cython.locals(before=tuple)
cpdef tuple cut(object operation, object input, Py_ssize_t axis, object places)


@cython.locals(unknown=cython.Py_ssize_t, position=cython.Py_ssize_t)
cpdef object usual_shape(tuple shape, object size)


@cython.locals(extra=cython.Py_ssize_t, found=list)
cpdef object usual_expansion(tuple own, tuple shape)


@cython.locals(tensor=TensorSlots)
cpdef bint are_alike(object tensors)


@cython.locals(tensor=TensorSlots, first=tuple, shape=tuple, axis=cython.Py_ssize_t)
cpdef object axis_to_join(object tensors, object dim)


cdef bint _fit(tuple shape, tuple first, Py_ssize_t axis)


@cython.locals(axes=list)
cpdef object usual_axes(tuple dims, object ndim)


@cython.locals(axes=list)
cpdef object exchanged(Py_ssize_t ndim, object first, object second)


@cython.locals(found=list, used=cython.Py_ssize_t, ndim=cython.Py_ssize_t)
cpdef object usual_key(tuple shape, object key)
