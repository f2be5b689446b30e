# Quantization of tensors as they mostly are: included by kernel.pyx.
#
# As in ../fake_quantize/tensors.pxi, None stands for anything that is unusual.

def quantize_tensor(input, grid, quantizer, int n_threads):
    """``eq-affine-quantize`` of a tensor of float32 in C order, to one that ``quantizer`` reads.

    ``grid`` has its scale, zero point, range and type of integers.
    """
    cdef cnp.ndarray x = reals_of(input)
    cdef cnp.ndarray q
    cdef tuple fields
    if x is None or not isinstance(grid, tuple) or len(<tuple> grid) != 5:
        return None
    fields = <tuple> grid  # a named one, which Cython does not take for a tuple
    q = output_as(x, fields[4])
    run_per_tensor(x, q, fields[0], fields[1], fields[2], fields[3], n_threads)
    return new_quantized(q, quantizer)


cdef bint same_bits(object x, cnp.ndarray known) noexcept:
    """Whether the numbers of a vector are those of another one, which is in C order."""
    cdef cnp.ndarray given
    cdef Py_ssize_t size = cnp.PyArray_DIM(known, 0)
    if not isinstance(x, cnp.ndarray):
        return False
    given = x
    return (
        cnp.PyArray_TYPE(given) == cnp.PyArray_TYPE(known) and cnp.PyArray_ISCARRAY_RO(given)
        and cnp.PyArray_NDIM(given) == 1 and cnp.PyArray_DIM(given, 0) == size
        and memcmp(
            cnp.PyArray_DATA(given), cnp.PyArray_DATA(known), size * cnp.PyArray_ITEMSIZE(known)
        ) == 0
    )


cdef bint has_channels(cnp.ndarray x, Py_ssize_t axis, cnp.ndarray steps) except -1:
    return (
        cnp.PyArray_TYPE(steps) == cnp.NPY_FLOAT32 and cnp.PyArray_ISCARRAY_RO(steps)
        and 0 <= axis < cnp.PyArray_NDIM(x)
        and 2 * cnp.PyArray_DIM(x, <int> axis) == cnp.PyArray_SIZE(steps)
    )


def quantize_tensor_channels(
    input, scales, zero_points, axis, dtype, list known not None, int n_threads
):
    """``eq-affine-quantize-channel`` with one of the quantizers that are ``known``.

    Each stands there behind its dtype, axis, scales and zero points as they were given, and in
    front of reciprocals of the scales above the zero points, and the range and type of integers.
    """
    cdef cnp.ndarray x = reals_of(input)
    cdef object given_scales = array_of(scales), given_zero_points = array_of(zero_points)
    cdef cnp.ndarray q, steps
    cdef tuple each
    if x is None:
        return None
    for each in known:
        if len(each) == 9 and each[0] is dtype and each[1] is axis and (
            same_bits(given_scales, each[2]) and same_bits(given_zero_points, each[3])
        ):
            steps = each[5]
            if not has_channels(x, axis, steps):
                return None
            q = output_as(x, each[8])
            run_steps(
                x, q, <const float*> cnp.PyArray_DATA(steps), cnp.PyArray_SIZE(steps) // 2, axis,
                each[6], each[7], n_threads,
            )
            return new_quantized(q, each[4])
    return None


def dequantize_tensor(q, float scale, int64_t zero_point, int n_threads):
    """``eq-affine-dequantize`` of integers in C order, to a tensor."""
    cdef cnp.ndarray x = output_beside(q, OF_INTEGERS, OF_REALS, OF_FLOAT32, False)
    if x is None:
        return None
    run_dequantize(q, x, scale, zero_point, n_threads)
    return new_leaf(x)
