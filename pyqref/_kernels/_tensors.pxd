# Tensors, as kernels read and make them. See tensors.py for what they hold.

cimport numpy as cnp


# The array of a tensor of real numbers or of plain integers; None if ``x`` is something else.
cdef object array_of(object x)

# The same of float32 in C order.
cdef cnp.ndarray reals_of(object x)

# Whether what such a tensor holds says where its gradient goes. Of a view, its base does; while
# nothing is recorded, no gradient goes anywhere.
cdef bint is_followed(object x) noexcept

# Where the gradient goes then; None if it goes nowhere.
cdef object recorded_edge(object x)

# A new tensor on an array, which no operation has made ...
cdef object new_leaf(object array)

# ... or which ``node`` has made of a tensor whose gradient goes along ``edge``.
cdef object new_result(object array, object node, object edge)

# A new quantized tensor.
cdef object new_quantized(object array, object quantizer)
