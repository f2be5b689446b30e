"""Products of matrices of float32."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.memory cimport buffer
from pyqref._kernels.cache cimport next_line, scratch_of_all, scratch_step
from pyqref._kernels.fgemm.blocks cimport Product, multiply, span_of
from pyqref._kernels.product.float_tile cimport PANEL, FLOAT_ROWS, columns_of_tiles

cdef enum:
    PRODUCTS_PER_THREAD = 1 << 19   # multiplications that are worth a thread
    TASKS = 4                       # of a thread, so that all are done at about the same time


# Matrices (..., rows, columns), and how many floats apart those of two leading axes are.
cdef struct Matrices:
    Py_ssize_t[2] lead
    Py_ssize_t row, column


# Products of all matrices, and the tasks of each: so many parts of its rows and columns.
cdef struct Products:
    Product each
    Matrices a, b
    Py_ssize_t inner                # matrices of the second leading axis
    Py_ssize_t row_parts, column_parts
    char* scratch
    Py_ssize_t scratch_step


cdef Matrices matrices_of(cnp.ndarray x):
    cdef Matrices m
    cdef int ndim = cnp.PyArray_NDIM(x)
    cdef int i
    for i in range(2):
        m.lead[i] = 0
        if ndim - 4 + i >= 0:
            m.lead[i] = cnp.PyArray_STRIDE(x, ndim - 4 + i) // <Py_ssize_t> sizeof(float)
    m.row = cnp.PyArray_STRIDE(x, ndim - 2) // <Py_ssize_t> sizeof(float)
    m.column = cnp.PyArray_STRIDE(x, ndim - 1) // <Py_ssize_t> sizeof(float)
    return m


cdef void product_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some rows and columns of one matrix."""
    cdef const Products* all = <const Products*> context
    cdef Product p = all.each
    cdef Py_ssize_t parts = all.row_parts * all.column_parts
    cdef Py_ssize_t matrix = index // parts
    cdef Py_ssize_t row_part = index % parts // all.column_parts
    cdef Py_ssize_t column_part = index % all.column_parts
    cdef Py_ssize_t panels = (p.columns + PANEL - 1) // PANEL
    cdef Py_ssize_t row = p.rows * row_part // all.row_parts
    cdef Py_ssize_t column = panels * column_part // all.column_parts * PANEL
    cdef Py_ssize_t outer = matrix // all.inner
    cdef Py_ssize_t inner = matrix % all.inner
    p.a += outer * all.a.lead[0] + inner * all.a.lead[1] + row * p.a_row
    p.b += outer * all.b.lead[0] + inner * all.b.lead[1] + column * p.b_column
    p.out += (matrix * p.rows + row) * p.columns + column
    if p.start != NULL:
        p.start += column
    p.rows = p.rows * (row_part + 1) // all.row_parts - row
    p.columns = min(
        panels * (column_part + 1) // all.column_parts * PANEL, p.columns
    ) - column
    multiply(&p, <float*> (all.scratch + thread * all.scratch_step))


cdef bint are_floats(cnp.ndarray x) noexcept:
    return cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32 and cnp.PyArray_ISBEHAVED_RO(x)


cdef bint is_covered(cnp.ndarray a, cnp.ndarray b, start) noexcept:
    """Return True if :func:`product` takes these arrays as they lie."""
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef cnp.ndarray row
    cdef int axis
    if not (2 <= ndim <= 4 and cnp.PyArray_NDIM(b) == ndim and are_floats(a) and are_floats(b)):
        return False
    for axis in range(ndim - 2):
        if cnp.PyArray_DIM(a, axis) != cnp.PyArray_DIM(b, axis):
            return False
    if cnp.PyArray_DIM(a, ndim - 1) != cnp.PyArray_DIM(b, ndim - 2):
        return False
    if cnp.PyArray_SIZE(a) == 0 or cnp.PyArray_SIZE(b) == 0:
        return False
    if start is not None:
        if not isinstance(start, cnp.ndarray):
            return False
        row = start
        if not (are_floats(row) and cnp.PyArray_IS_C_CONTIGUOUS(row)):
            return False
        if cnp.PyArray_SIZE(row) != cnp.PyArray_DIM(b, ndim - 1):
            return False
    return (
        cnp.PyArray_STRIDE(b, ndim - 1) == sizeof(float)
        or cnp.PyArray_STRIDE(b, ndim - 2) == sizeof(float)
    )


def product(cnp.ndarray a, cnp.ndarray b, start, out, int n_threads):
    """``eq-float-product`` of ``a (..., rows, depth)`` and ``b (..., depth, columns)``.

    In ``out (..., rows, columns)``, or where that is None in new room. None where they are not
    covered: all are float32 and not empty, with the same leading axes, two at the most. ``start
    (columns,)``, or None, and ``out`` are contiguous, ``b`` or its transpose has rows whose numbers
    lie side by side, and ``a`` lies in any way.
    """
    cdef Products all
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef cnp.npy_intp[4] sizes
    cdef Py_ssize_t matrices = 1
    cdef Py_ssize_t wanted, panels, size
    cdef void* memory
    cdef cnp.ndarray result
    cdef int i
    if not is_covered(a, b, start):
        return None
    for i in range(ndim):
        sizes[i] = cnp.PyArray_DIM(a, i)
        if i < ndim - 2:
            matrices *= sizes[i]
    all.each.rows, all.each.depth = sizes[ndim - 2], sizes[ndim - 1]
    all.each.columns = all.each.out_row = sizes[ndim - 1] = cnp.PyArray_DIM(b, ndim - 1)
    if out is None:
        result = buffer(ndim, sizes, a.descr)
    else:
        require_output("out", out, OF_FLOAT32, ndim, sizes)
        result = out
    all.inner = sizes[ndim - 3] if ndim > 2 else 1
    all.a, all.b = matrices_of(a), matrices_of(b)
    all.each.a, all.each.b = <const float*> cnp.PyArray_DATA(a), <const float*> cnp.PyArray_DATA(b)
    all.each.a_row, all.each.a_column = all.a.row, all.a.column
    all.each.b_row, all.each.b_column = all.b.row, all.b.column
    all.each.start, all.each.out = NULL, <float*> cnp.PyArray_DATA(result)
    if start is not None:
        all.each.start = <const float*> cnp.PyArray_DATA(start)
    n_threads = useful_threads(
        <double> matrices * all.each.rows * all.each.depth * all.each.columns,
        PRODUCTS_PER_THREAD, n_threads,
    )
    wanted = 1 if n_threads == 1 else (TASKS * n_threads + matrices - 1) // matrices
    panels = (all.each.columns + PANEL - 1) // PANEL
    all.column_parts = min(wanted, panels)
    all.row_parts = min(
        (wanted + all.column_parts - 1) // all.column_parts,
        (all.each.rows + FLOAT_ROWS - 1) // FLOAT_ROWS,
    )
    size = span_of(&all.each) * columns_of_tiles(1) * <Py_ssize_t> sizeof(float)
    memory = malloc(scratch_of_all(size, n_threads))
    if memory == NULL:
        raise MemoryError()
    all.scratch, all.scratch_step = <char*> next_line(memory), scratch_step(size)
    with nogil:
        parallel_for(
            product_task, &all, matrices * all.row_parts * all.column_parts, n_threads
        )
        free(memory)
    return result
