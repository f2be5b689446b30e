# Types of what stands in dispatch.py.

cimport cython
from numpy cimport generic, ndarray
from pyqref._kernels.tensors cimport TensorSlots, continues, is_recording, wrap, wrap_quantized


@cython.locals(
    tensor=TensorSlots, arrays=list, has_tensor=cython.bint, has_number=cython.bint,
    recording=cython.bint, outputs=tuple, way=tuple,
)
cpdef object run(object operation, tuple args, dict kwargs=*)


@cython.locals(tensor=TensorSlots)
cdef object _edge_of(object arg)


cdef object _run_quantized(object operation, tuple args, dict kwargs)


@cython.locals(count=cython.Py_ssize_t)
cdef object _result_of(object function, list arrays, dict kwargs)


cpdef object view_of_quantized(TensorSlots source, object array, object quantizer)


cpdef object mark_view(TensorSlots output, TensorSlots source)


cdef object _output(object node, bint recording, object index, object result)
