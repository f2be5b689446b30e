# Types of what stands in tensors.py.

cimport cython


cdef class TensorSlots:
    cdef public object _array, _base, _changes, _goes_to, _grad, _quantizer


cdef object _new, _recording, _tensor_type, _quantized_type


@cython.locals(tensor=TensorSlots)
cpdef object leaf(object kind, object array)


@cython.locals(tensor=TensorSlots)
cpdef object quantized_leaf(object kind, object array, object quantizer)


@cython.locals(tensor=TensorSlots)
cpdef object continues(object array, object edge)

cpdef object wrap(object array)

cpdef bint is_recording()

cpdef object wrap_quantized(object array, object quantizer)
