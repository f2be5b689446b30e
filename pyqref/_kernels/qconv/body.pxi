# Quantized convolution: written once, included by one module an instruction set.

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a convolution takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport INFINITY, fabsf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

include "../qgemm/tile.pxi"
include "../qgemm/epilogue.pxi"
include "../qgemm/multiply.pxi"
include "windows.pxi"
include "spread.pxi"
include "lines.pxi"
include "pieces.pxi"
include "depthwise.pxi"
include "grouped.pxi"
include "channels.pxi"


cdef void join_groups(
    const int8_t* rows, Py_ssize_t joined, Py_ssize_t outputs, Py_ssize_t inputs, Py_ssize_t taps,
    int8_t* panels,
) noexcept nogil:
    """Pack groups ``(joined, outputs, taps, inputs)`` as one, with zeros where they differ."""
    cdef Py_ssize_t width = (joined * outputs + 15) // 16 * 16
    cdef Py_ssize_t quads = (taps * joined * inputs + 3) // 4
    cdef Py_ssize_t column, tap, i, depth
    memset(panels, 0, width * quads * 4)
    for column in range(joined * outputs):
        for tap in range(taps):
            depth = (tap * joined + column // outputs) * inputs
            if inputs % 4 == 0:
                for i in range(0, inputs, 4):
                    memcpy(panels + ((depth + i) // 4 * width + column) * 4, rows + i, 4)
            else:
                for i in range(inputs):
                    panels[((depth + i) // 4 * width + column) * 4 + (depth + i) % 4] = rows[i]
            rows += inputs


cdef void next_group(Epilogue* e, Py_ssize_t outputs) noexcept nogil:
    e.weight_sums += outputs
    e.multiplier += outputs * e.multiplier_step
    if e.weight_zero_points != NULL:
        e.weight_zero_points += outputs * e.weight_zero_point_step
    if e.bias != NULL:
        e.bias += outputs
    if e.integer_bias != NULL:
        e.integer_bias += outputs


cdef int each_group(
    Image* image, Epilogue* e, const int8_t* weights, Py_ssize_t rows, Py_ssize_t outputs,
    Py_ssize_t groups, Py_ssize_t joined, uint8_t* out, int n_threads,
) except -1 nogil:
    """One matrix product a group; ``outputs`` of each."""
    cdef Product p
    cdef Pieces pieces
    cdef Py_ssize_t group
    cdef Py_ssize_t taps = image.kernel[0] * image.kernel[1] * image.kernel[2]
    cdef bint apart = False         # each piece begins with a quad of its own
    cdef int8_t* room = NULL
    p.rows, p.columns, p.quads = rows, outputs, (e.depth + 3) // 4
    p.give_rows, p.whole_rows, p.row_price = windows_copied, True, INFINITY
    p.give_rows_in_place, p.matrix, p.pieces, p.has_edges = NULL, NULL, 1, False
    if is_matrix(image):
        p.matrix_row = image.channels
    p.source, p.epilogue, p.panels = image, e, weights
    p.out, p.out_stride, p.out_itemsize = out, distance_of_results(image), 1
    p.put_rows = NULL
    if p.out_stride == 0:
        p.put_rows, p.out_stride = spread_windows, outputs
    cut_lines(image, &pieces)
    if joined > 1 and pieces.padded > pieces.size:
        pieces.size = 0             # joined weights are laid out without gaps
    if not suits_tiles(&p) and lie_apart(image, &pieces, e):
        p.give_rows_in_place = windows_in_place
        p.pieces = image.kernel[0] * image.kernel[1] * pieces.count
        p.quads, p.has_edges = p.pieces * pieces.padded // 4, has_edges(image, &pieces)
        apart = p.pieces > 1 and pieces.padded > pieces.size
    if joined > 1 or apart:
        room = <int8_t*> malloc((outputs + 15) // 16 * 64 * p.quads + LINE)
        if room == NULL:
            with gil:
                raise MemoryError()
        p.panels = <int8_t*> next_line(room)
        if joined == 1:
            pad_pieces(
                weights, outputs, (e.depth + 3) // 4, p.pieces, pieces.size, <int8_t*> p.panels
            )
    try:
        for group in range(groups):
            if is_matrix(image):
                p.matrix, p.matrix_end = image.x, end_of(image)
            if joined > 1:
                join_groups(
                    weights, joined, outputs // joined, image.inputs // joined, taps,
                    <int8_t*> p.panels,
                )
                weights += outputs * taps * image.inputs // joined
            multiply(&p, n_threads)
            if joined == 1:
                p.panels += (outputs + 15) // 16 * 16 * p.quads * 4
            image.x += image.inputs
            p.out += outputs
            next_group(e, outputs)
    finally:
        free(room)
    return 0


include "layers.pxi"
