# The compiled loop in NumPy's ``matmul``, called without Python's lock.
#
# What
#     The function that ``np.matmul`` runs for float32, taken out of the ufunc.
# Why
#     Products have the very bits of ``@``, by whatever library NumPy multiplies matrices, and
#     threads that share the images of a batch never wait for Python's lock in between. A step of
#     training a small convolutional network takes 4 % longer without by one thread, 10 % by two.
# Where it is absent
#     ``matmul_loop`` is NULL, and those who ask say that they multiply nothing: the layers above
#     call ``np.matmul`` for some images at a time, with the same bits.

import numpy as np

ctypedef void (*Loop)(
    char** operands, const cnp.npy_intp* sizes, const cnp.npy_intp* steps, void* data
) noexcept nogil

cdef Loop matmul_loop = NULL
cdef void* matmul_data = NULL


cdef void find_loop():
    """Look among the types that ``np.matmul`` has loops for."""
    global matmul_loop, matmul_data
    cdef cnp.ufunc matmul = np.matmul
    cdef list types = np.matmul.types       # from NumPy 2.5 on, Cython is not told of them
    cdef int i
    if "ff->f" in types:
        i = types.index("ff->f")
        if i < matmul.ntypes:
            matmul_loop, matmul_data = <Loop> <void*> matmul.functions[i], matmul.data[i]


find_loop()
