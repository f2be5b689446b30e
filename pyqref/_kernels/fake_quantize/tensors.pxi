# Fake quantization of tensors as they mostly are: included by kernel.pyx.
#
# Small tensors take less time than a few calls of Python. These take what users give, and give
# None where anything about it is unusual, be it wrong or not; the layers above then look at it.

cdef extern from "Python.h":
    bint PyFloat_CheckExact(object)
    bint PyLong_CheckExact(object)
    double PyFloat_AS_DOUBLE(object)
    long PyLong_AsLongAndOverflow(object, int* overflow)

cdef enum:
    # Up to here float32 holds every integer, and every difference of two.
    EXACT = 1 << 23

# Integers from the smallest to the largest, and where the zero point comes in.
cdef struct Range:
    long low, high
    bint after


cdef long small_integer(object x) noexcept:
    """An int of Python; more than ``EXACT`` for whatever is none, or is no smaller."""
    cdef int overflow = 0
    cdef long value
    if not PyLong_CheckExact(x):
        return EXACT + 1
    value = PyLong_AsLongAndOverflow(x, &overflow)
    return EXACT + 1 if overflow else value


cdef cnp.ndarray single(object x):
    """The array of a tensor of one element; None for anything else."""
    cdef object array = array_of(x)
    if isinstance(array, cnp.ndarray) and cnp.PyArray_SIZE(<cnp.ndarray> array) == 1:
        return array if cnp.PyArray_ISBEHAVED_RO(<cnp.ndarray> array) else None
    return None


cdef double real_number(object x) noexcept:
    """A float of Python, or the only element of a tensor; else not a number."""
    cdef cnp.ndarray array
    if PyFloat_CheckExact(x):
        return PyFloat_AS_DOUBLE(x)
    array = single(x)
    if array is not None and cnp.PyArray_TYPE(array) == cnp.NPY_FLOAT32:
        return (<const float*> cnp.PyArray_DATA(array))[0]
    return NAN


cdef long whole_number(object x) noexcept:
    """The same of an int, as :func:`small_integer`."""
    cdef cnp.ndarray array
    if PyLong_CheckExact(x):
        return small_integer(x)
    array = single(x)
    if array is not None and cnp.PyArray_TYPE(array) == cnp.NPY_INT32:
        return (<const int32_t*> cnp.PyArray_DATA(array))[0]
    return EXACT + 1


cdef bint is_usual_range(Range* r, quant_min, quant_max, str convention):
    r.low, r.high = small_integer(quant_min), small_integer(quant_max)
    r.after = convention == "torch"
    return -EXACT <= r.low <= r.high <= EXACT


cdef object as_tensor(cnp.ndarray y, cnp.ndarray bit_mask, object edge, object operation):
    """The result of numbers whose gradient goes along ``edge``."""
    cdef object node
    if edge is None:
        return new_leaf(y)
    node = operation()
    node.saved = (bit_mask,)
    return new_result(y, node, edge)


def fake_quantize_tensor(
    input, scale, zero_point, quant_min, quant_max, str convention, operation, int n_threads
):
    """``eq-fake-quantize`` of a tensor of float32 in C order, recorded as ``operation``.

    None where it is something else, or where a parameter is no plain number or out of range.
    """
    cdef Range r
    cdef cnp.ndarray x = reals_of(input)
    cdef long whole = whole_number(zero_point)
    cdef double step = real_number(scale)
    cdef cnp.ndarray y, bit_mask = None
    cdef object edge
    if not (
        x is not None and is_followed(input) and FLT_MIN <= step <= FLT_MAX
        and is_usual_range(&r, quant_min, quant_max, convention) and r.low <= whole <= r.high
    ):
        return None
    edge = recorded_edge(input)
    y = output_as(x, x.descr)
    if edge is not None:
        bit_mask = output_for_bits(x)
    run_per_tensor(
        x, y, bit_mask, <float> step, <float> whole, <float> r.low, <float> r.high,
        AFTER if r.after else FUSED, n_threads,
    )
    return as_tensor(y, bit_mask, edge, operation)


def fake_quantize_tensor_channels(
    input, scale, zero_point, axis, quant_min, quant_max, str convention, operation, int n_threads
):
    """The same with a tensor of float32 scales and one of int32 zero points, for each channel."""
    cdef Range r
    cdef cnp.ndarray x = reals_of(input)
    cdef object scales = array_of(scale), zero_points = array_of(zero_point)
    cdef long where = small_integer(axis)
    cdef cnp.ndarray y, bit_mask = None
    cdef object edge
    if not (
        x is not None and is_followed(input)
        and isinstance(scales, cnp.ndarray) and isinstance(zero_points, cnp.ndarray)
        and is_usual_range(&r, quant_min, quant_max, convention)
        and -cnp.PyArray_NDIM(x) <= where < cnp.PyArray_NDIM(x)
        and is_grid(scales, zero_points, channels_at(x, <int> where), <int> r.low, <int> r.high)
    ):
        return None
    edge = recorded_edge(input)
    y = output_as(x, x.descr)
    if edge is not None:
        bit_mask = output_for_bits(x)
    run_per_channel(
        x, y, bit_mask, scales, zero_points, <int> where, <float> r.low,
        <float> r.high, AFTER if r.after else BEFORE, n_threads,
    )
    return as_tensor(y, bit_mask, edge, operation)
