"""Fake quantization."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int32_t, uint8_t, uint32_t
from pyqref._kernels._outputs cimport OF_FLOAT32, output_beside
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.fake_quantize.bit_mask cimport BEYOND
from pyqref._kernels.fake_quantize.gradient cimport Masked, straight_through_all
from pyqref._kernels.fake_quantize.learnable cimport Learnable, learnable_task
from pyqref._kernels.fake_quantize.parameters cimport LARGEST_BITS, SHORT, WORK_PER_THREAD
from pyqref._kernels.fake_quantize.strips cimport (
    is_covered, output_for, output_for_bits, run_per_channel, run_per_tensor,
)
from pyqref._kernels.lane_sums cimport PART_OF_SUM


def fake_quantize_per_tensor(
    x, out, bint masked, float scale, float zero_point, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """Fake quantize float32 ``x`` into ``out``, or a new array of that dtype.

    Returns it and, where ``masked``, a bit for each number (bit_mask.pxd), else None; or only None
    where ``x`` is something else or not contiguous.
    Rules: 0 fused, 1 zero point before rounding, 2 after.
    """
    cdef cnp.ndarray y = output_for(x, out)
    if y is None:
        return None
    bit_mask = output_for_bits(x) if masked else None
    run_per_tensor(x, y, bit_mask, scale, zero_point, quant_min, quant_max, rule, n_threads)
    return y, bit_mask


def is_grid(
    cnp.ndarray scales, cnp.ndarray zero_points, Py_ssize_t channels, int32_t quant_min,
    int32_t quant_max,
):
    """Return True if each channel has a positive finite float32 scale and an int32 in the range."""
    cdef const uint32_t* scale = <const uint32_t*> cnp.PyArray_DATA(scales)
    cdef const uint32_t* zero_point = <const uint32_t*> cnp.PyArray_DATA(zero_points)
    cdef uint32_t low = <uint32_t> quant_min
    cdef uint32_t range_ = <uint32_t> quant_max - low
    cdef uint32_t others = 0
    cdef Py_ssize_t i
    if not (
        quant_min <= quant_max
        and cnp.PyArray_TYPE(scales) == cnp.NPY_FLOAT32
        and cnp.PyArray_TYPE(zero_points) == cnp.NPY_INT32
        and cnp.PyArray_NDIM(scales) == 1 and cnp.PyArray_NDIM(zero_points) == 1
        and cnp.PyArray_DIM(scales, 0) == channels and cnp.PyArray_DIM(zero_points, 0) == channels
        and cnp.PyArray_ISCARRAY_RO(scales) and cnp.PyArray_ISCARRAY_RO(zero_points)
    ):
        return False
    # Compared as integers without a sign, below which negative ones are large: a vector at a time.
    for i in range(channels):
        others |= scale[i] - 1 >= LARGEST_BITS
        others |= zero_point[i] - low > range_
    return not others


def fake_quantize_per_channel(
    x, out, bint masked, scales, zero_points, int axis, float quant_min, float quant_max, int rule,
    int n_threads,
):
    """Fake-quantize with a scale and a zero point for each index of an axis.

    Return None also where the zero points are no integers.
    """
    cdef cnp.ndarray y = None
    if not isinstance(zero_points, cnp.ndarray):
        zero_points = cnp.PyArray_FROM_O(zero_points)
    if cnp.PyArray_ISINTEGER(zero_points):
        y = output_for(x, out)
    if y is None:
        return None
    bit_mask = output_for_bits(x) if masked else None
    run_per_channel(
        x, y, bit_mask, scales, zero_points, axis, quant_min, quant_max, rule, n_threads
    )
    return y, bit_mask


def straight_through(grad, cnp.ndarray mask, out, int n_threads):
    """``eq-straight-through`` of float32 into ``out`` (maybe ``grad``), or a new array.

    ``mask`` holds 0 and 1, or is what fake quantization gave, a bit for each number. Returns the
    result, or None where one of both is of another type or shape, or not contiguous.
    """
    cdef Masked m
    cdef cnp.ndarray result
    cdef bint packed = cnp.PyArray_TYPE(mask) == cnp.NPY_UINT8
    if not is_covered(grad) or not cnp.PyArray_CHKFLAGS(mask, cnp.NPY_ARRAY_C_CONTIGUOUS):
        return None
    m.size = cnp.PyArray_SIZE(grad)
    if packed:
        if cnp.PyArray_SIZE(mask) != m.size // 8 + BEYOND:
            return None
    elif cnp.PyArray_TYPE(mask) != cnp.NPY_BOOL or not cnp.PyArray_SAMESHAPE(grad, mask):
        return None
    result = output_beside(grad, OF_FLOAT32, out, OF_FLOAT32, False)
    if result is None:
        return None
    m.grad = <const int32_t*> cnp.PyArray_DATA(grad)
    m.mask = <const uint8_t*> cnp.PyArray_DATA(mask)
    m.bit_mask = m.mask if packed else NULL
    m.out = <float*> cnp.PyArray_DATA(result)
    if m.size <= SHORT:
        straight_through_all(&m, 1)
    else:
        with nogil:
            straight_through_all(&m, n_threads)
    return result


def learnable_gradients(
    cnp.ndarray x, cnp.ndarray grad, cnp.ndarray scales, cnp.ndarray zero_points, float quant_min,
    float quant_max, float factor, bint with_zero_points, int n_threads
):
    """Gradients of contiguous float32 rows ``(rows, n)``, and of a scale and zero point for each.

    Those of the grid are float64 sums, of zero points None where nobody asks for them. Scales and
    whole zero points are float32 ``(rows,)``.
    """
    cdef Learnable m
    cdef cnp.npy_intp rows = cnp.PyArray_DIM(x, 0)
    cdef cnp.ndarray to_x = cnp.PyArray_EMPTY(2, cnp.PyArray_DIMS(x), cnp.NPY_FLOAT32, 0)
    cdef cnp.ndarray to_scale = cnp.PyArray_ZEROS(1, &rows, cnp.NPY_FLOAT64, 0)
    cdef cnp.ndarray to_zero_point = None
    cdef double* of_scale = <double*> cnp.PyArray_DATA(to_scale)
    cdef double* of_zero_point = NULL
    cdef Py_ssize_t tasks, i
    m.x, m.grad = <const float*> cnp.PyArray_DATA(x), <const float*> cnp.PyArray_DATA(grad)
    m.to_x, m.size = <float*> cnp.PyArray_DATA(to_x), cnp.PyArray_DIM(x, 1)
    m.scales = <const float*> cnp.PyArray_DATA(scales)
    m.zero_points = <const float*> cnp.PyArray_DATA(zero_points)
    m.low, m.high, m.factor = quant_min, quant_max, factor
    m.parts = (m.size + PART_OF_SUM - 1) // PART_OF_SUM
    tasks = rows * m.parts
    if with_zero_points:
        to_zero_point = cnp.PyArray_ZEROS(1, &rows, cnp.NPY_FLOAT64, 0)
        of_zero_point = <double*> cnp.PyArray_DATA(to_zero_point)
    m.to_scale = <double*> malloc((2 * tasks + 1) * sizeof(double))
    if m.to_scale == NULL:
        raise MemoryError()
    m.to_zero_point = m.to_scale + tasks if with_zero_points else NULL
    n_threads = useful_threads(<double> rows * m.size, WORK_PER_THREAD, n_threads)
    with nogil:
        parallel_for(learnable_task, &m, tasks, n_threads)
        for i in range(tasks):
            of_scale[i // m.parts] += m.to_scale[i]
            if m.to_zero_point:
                of_zero_point[i // m.parts] += m.to_zero_point[i]
        free(m.to_scale)
    return to_x, to_scale, to_zero_point
