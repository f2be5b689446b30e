"""Sums, products and tables of bytes."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t
from pyqref._kernels._outputs cimport OF_BOOL, OF_BYTES, output_beside, output_like
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.axes cimport is_in_c_order
from pyqref._kernels.elementwise.joining cimport (
    MOST_AXES, Joined, axis_at, can_follow, cat_task, require_tables, room_for,
)
from pyqref._kernels.elementwise.pairs cimport (
    BYTES_PER_THREAD, CHUNK, REALS_PER_THREAD, Pair, add_coarse_task, add_fixed_task, add_task,
    clamp_task, look_up_task, mul_task, run, set_arrays, set_pair,
)
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.memory_order cimport are_plain, has_channels_last, lies_in_c_order

cdef extern from "elementwise/arrange.h":
    enum:
        MOST_ARRANGED
    ctypedef struct Arranged:
        const uint8_t* source
        uint8_t* target
        Py_ssize_t item
        Py_ssize_t* length
        Py_ssize_t* source_steps
        Py_ssize_t* target_steps
        int axes
    Py_ssize_t plan_arranged(Arranged* a, Py_ssize_t bytes) nogil
    void arrange_task(void* context, Py_ssize_t index, int thread) noexcept nogil

cdef extern from "elementwise/taken.h":
    ctypedef struct Run:
        pass
    ctypedef struct Taken:
        const uint8_t* x
        const uint8_t* border
        uint8_t* out
        const int64_t* depths
        const int64_t* heights
        Py_ssize_t* size
        Py_ssize_t* out_size
        Py_ssize_t item, lines, lines_per_task
    void find_runs(Taken* t, const int64_t* places, Py_ssize_t n, Run* runs) nogil
    void take_task(void* context, Py_ssize_t index, int thread) noexcept nogil


def add(
    cnp.ndarray a, cnp.ndarray b, cnp.ndarray out, float scale_a, int32_t zero_point_a,
    float scale_b, int32_t zero_point_b, float scale, int32_t zero_point, int32_t lower,
    int32_t upper, int n_threads,
):
    """``eq-quantized-add`` of contiguous bytes."""
    cdef Pair p
    set_pair(&p, a, b, out)
    p.scale_a, p.offset_a = scale_a, <float> -zero_point_a * scale_a
    p.scale_b, p.offset_b = scale_b, <float> -zero_point_b * scale_b
    p.zero_point_a, p.zero_point_b = zero_point_a, zero_point_b
    p.multiplier = <float> 1 / scale
    p.zero_point, p.lower, p.upper = zero_point, lower, upper
    cdef double errors = fabs(<double> zero_point_a * scale_a + p.offset_a)
    errors += fabs(<double> zero_point_b * scale_b + p.offset_b)
    cdef bint is_coarse = errors >= 2.0**-10 * scale  # as in numerics
    with nogil:
        run(&p, add_coarse_task if is_coarse else add_task, REALS_PER_THREAD, n_threads)


def add_fixed_point(
    cnp.ndarray a, cnp.ndarray b, cnp.ndarray out, tuple factors, int32_t shift,
    int32_t zero_point, int32_t lower, int32_t upper, int n_threads,
):
    """``eq-add-fixed-point`` of contiguous unsigned bytes; 1 <= shift <= 30.

    ``factors``: multiplier and zero point of ``a``, then of ``b``. The larger multiplier has
    22 bits, so that the sum fits 32.
    """
    cdef Pair p
    set_pair(&p, a, b, out)
    p.multiplier_a, p.zero_point_a, p.multiplier_b, p.zero_point_b = factors
    p.shift, p.zero_point, p.lower, p.upper = shift, zero_point, lower, upper
    with nogil:
        run(&p, add_fixed_task, REALS_PER_THREAD, n_threads)


def mul(
    cnp.ndarray a, cnp.ndarray b, cnp.ndarray out, float scale_a, int32_t zero_point_a,
    float scale_b, int32_t zero_point_b, float scale, int32_t zero_point, int32_t lower,
    int32_t upper, int n_threads,
):
    """``eq-quantized-mul`` of contiguous bytes."""
    cdef Pair p
    set_pair(&p, a, b, out)
    p.zero_point_a, p.zero_point_b = zero_point_a, zero_point_b
    p.multiplier = scale_a * scale_b * (<float> 1 / scale)
    p.zero_point, p.lower, p.upper = zero_point, lower, upper
    with nogil:
        run(&p, mul_task, REALS_PER_THREAD, n_threads)


def look_up(cnp.ndarray table, cnp.ndarray q, out, int n_threads):
    """``table[q]`` of bytes; the table has 256 entries. None where ``q`` has gaps.

    Into ``out``, or a new array of that dtype.
    """
    cdef Pair p
    cdef cnp.ndarray result = output_beside(q, OF_BYTES, out, OF_BYTES | OF_BOOL, True)
    if result is None:
        return None
    set_arrays(&p, q, q, result)
    p.table = <const uint8_t*> cnp.PyArray_DATA(table)
    with nogil:
        run(&p, look_up_task, BYTES_PER_THREAD, n_threads)
    return result


def clamp(cnp.ndarray q, out, int32_t lower, int32_t upper, int n_threads):
    """``min(max(q, lower), upper)`` of bytes; ``upper`` may be beyond them.

    Into ``out``, or where that is None into a new array. Returns the result, or None where ``q`` is
    of another type or has gaps.
    """
    cdef Pair p
    cdef cnp.ndarray result = output_beside(q, OF_BYTES, out, OF_BYTES, True)
    if result is None:
        return None
    set_arrays(&p, q, q, result)
    p.lower, p.upper = lower, min(upper, 127 if p.is_signed else 255)
    with nogil:
        run(&p, clamp_task, BYTES_PER_THREAD, n_threads)
    return result


def cat(tuple parts, tables, int axis, int n_threads):
    """Parts one after the other along an axis: of bytes ``eq-quantized-cat``, else copies.

    ``tables`` has what stands for each byte of a part in the result, or None where the byte does;
    None stands for no tables at all.

    None if the parts are not of one type of numbers, or neither all in C order nor all with their
    channels last.
    """
    cdef Joined j
    cdef cnp.npy_intp[MOST_AXES] shape
    cdef cnp.ndarray first, part, result
    cdef bint in_c_order = True
    cdef bint last = True
    cdef Py_ssize_t inner, i
    cdef int ndim, place, each
    if not parts:
        raise ValueError("there must be parts")
    first = <cnp.ndarray?> parts[0]
    ndim = cnp.PyArray_NDIM(first)
    if not 0 <= axis < ndim <= MOST_AXES:
        raise IndexError(f"axis must be one of the {ndim} axes, got {axis}")
    for each in range(ndim):
        shape[each] = cnp.PyArray_DIM(first, each)
    shape[axis] = 0
    for i in range(len(parts)):
        part = <cnp.ndarray?> parts[i]
        if not can_follow(first, part, axis):
            return None
        in_c_order = in_c_order and lies_in_c_order(part)
        last = last and (has_channels_last(part) or cnp.PyArray_SIZE(part) == 0)
        shape[axis] += cnp.PyArray_DIM(part, axis)
    if tables is not None:
        require_tables(tables, parts)
    if not (in_c_order or last):
        return None
    last = not in_c_order
    result = room_for(first, shape, last)
    if cnp.PyArray_SIZE(result) == 0:
        return result
    inner = cnp.PyArray_ITEMSIZE(first)
    for place in range(ndim):
        each = axis_at(place, ndim, last)
        if each == axis:                # those that vary faster have been counted
            break
        inner *= shape[each]
    j.out, j.count, j.row = <uint8_t*> cnp.PyArray_DATA(result), len(parts), shape[axis] * inner
    j.rows = cnp.PyArray_NBYTES(result) // j.row
    j.rows_per_task = max(<Py_ssize_t> 1, CHUNK // j.row)
    j.tasks_per_row = (j.row + CHUNK - 1) // CHUNK
    j.parts = <const uint8_t**> malloc(j.count * (2 * sizeof(uint8_t*) + sizeof(Py_ssize_t)))
    if j.parts == NULL:
        raise MemoryError()
    j.tables = j.parts + j.count
    j.lengths = <Py_ssize_t*> (j.tables + j.count)
    for i in range(j.count):
        part = <cnp.ndarray> parts[i]
        j.parts[i] = <const uint8_t*> cnp.PyArray_DATA(part)
        j.lengths[i] = cnp.PyArray_DIM(part, axis) * inner
        j.tables[i] = NULL
        if tables is not None and tables[i] is not None:
            j.tables[i] = <const uint8_t*> cnp.PyArray_DATA(<cnp.ndarray> tables[i])
    with nogil:
        n_threads = useful_threads(
            <double> cnp.PyArray_NBYTES(result), BYTES_PER_THREAD, n_threads
        )
        parallel_for(
            cat_task, &j, (j.rows + j.rows_per_task - 1) // j.rows_per_task * j.tasks_per_row,
            n_threads,
        )
        free(j.parts)
    return result


def take(cnp.ndarray x, tuple sizes, tuple places, border, int n_threads):
    """``x (outer, depth, height, width, inner)`` in a new array, by places along three axes.

    ``x`` is in C order and ``sizes`` has its lengths. Of ``places``, int64 in [-1, length), -1 is
    the border: a line of a constant, as long as those of the result, or None where nothing is.
    """
    cdef Taken t
    cdef cnp.npy_intp[5] shape
    cdef cnp.ndarray result
    cdef const int64_t* where[3]
    cdef Run* runs
    cdef Py_ssize_t inner
    cdef bint has_border = False
    cdef int axis
    if not is_in_c_order(x) or len(sizes) != 5 or len(places) != 3:
        raise ValueError("x must be in C order, with five sizes and three arrays of places")
    shape[0], shape[4] = sizes[0], sizes[4]
    for axis in range(3):
        t.size[axis] = sizes[axis + 1]
        where[axis] = places_of(places[axis], t.size[axis], &has_border)
        t.out_size[axis] = shape[axis + 1] = len(places[axis])
    inner = shape[4]
    if shape[0] * t.size[0] * t.size[1] * t.size[2] * inner != cnp.PyArray_SIZE(x):
        raise ValueError(f"sizes must be those of x {(<object> x).shape}, got {sizes}")
    if has_border and not (
        is_in_c_order(border) and cnp.PyArray_TYPE(border) == cnp.PyArray_TYPE(x)
        and cnp.PyArray_SIZE(border) == t.out_size[2] * inner
    ):
        raise ValueError(
            f"border must be a line of {t.out_size[2] * inner} elements of the type of x"
        )
    result = buffer(5, shape, x.descr)
    if cnp.PyArray_SIZE(result) == 0:
        return result
    t.item = inner * cnp.PyArray_ITEMSIZE(x)
    t.size[2] *= t.item
    t.out_size[2] *= t.item
    t.x, t.out = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(result)
    t.border = <const uint8_t*> cnp.PyArray_DATA(border) if has_border else NULL
    t.depths, t.heights = where[0], where[1]
    t.lines = shape[0] * shape[1] * shape[2]
    t.lines_per_task = max(<Py_ssize_t> 1, CHUNK // t.out_size[2])
    runs = <Run*> malloc(shape[3] * sizeof(Run))
    if runs == NULL:
        raise MemoryError()
    with nogil:
        find_runs(&t, where[2], shape[3], runs)
        n_threads = useful_threads(<double> t.lines * t.out_size[2], BYTES_PER_THREAD, n_threads)
        parallel_for(
            take_task, &t, (t.lines + t.lines_per_task - 1) // t.lines_per_task, n_threads
        )
        free(runs)
    return result


cdef const int64_t* places_of(cnp.ndarray places, Py_ssize_t length, bint* has_border) except NULL:
    """Places along an axis of this length."""
    cdef const int64_t* values = <const int64_t*> cnp.PyArray_DATA(places)
    cdef Py_ssize_t i
    if cnp.PyArray_TYPE(places) != cnp.NPY_INT64 or cnp.PyArray_NDIM(places) != 1 or (
        not is_in_c_order(places)
    ):
        raise ValueError("places must be lists of int64 in C order")
    for i in range(cnp.PyArray_SIZE(places)):
        if not -1 <= values[i] < length:
            raise IndexError(f"places must be in [-1, {length}), got {values[i]}")
        if values[i] < 0:
            has_border[0] = True
    return values


def arranged(cnp.ndarray x, bint in_c_order, int n_threads):
    """A copy in C order, or else in the order in which ``x`` lies, without gaps.

    None where elements are not of 1, 2, 4 or 8 bytes, or objects.
    """
    cdef Arranged a
    cdef cnp.ndarray result
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef Py_ssize_t tasks
    cdef int axis
    a.item, a.axes = cnp.PyArray_ITEMSIZE(x), ndim
    if a.item not in (1, 2, 4, 8) or not cnp.PyArray_ISNUMBER(x) or not are_plain(x):
        return None
    if ndim > MOST_ARRANGED:
        return None
    if in_c_order:
        result = buffer(ndim, cnp.PyArray_DIMS(x), x.descr)
    else:
        result = output_like(x, x.descr)
    if cnp.PyArray_SIZE(x) == 0:
        return result
    for axis in range(ndim):
        a.length[axis] = cnp.PyArray_DIM(x, axis)
        a.source_steps[axis] = cnp.PyArray_STRIDE(x, axis)
        a.target_steps[axis] = cnp.PyArray_STRIDE(result, axis)
    a.source, a.target = <const uint8_t*> cnp.PyArray_DATA(x), <uint8_t*> cnp.PyArray_DATA(result)
    with nogil:
        tasks = plan_arranged(&a, CHUNK)
        n_threads = useful_threads(
            <double> cnp.PyArray_NBYTES(result), BYTES_PER_THREAD, n_threads
        )
        parallel_for(arrange_task, &a, tasks, n_threads)
    return result
