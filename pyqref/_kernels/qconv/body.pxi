# Quantized convolution: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.math cimport INFINITY, fabsf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

include "../qgemm/tile.pxi"
include "../qgemm/epilogue.pxi"
include "../qgemm/multiply.pxi"
include "windows.pxi"
include "lines.pxi"
include "pieces.pxi"
include "depthwise.pxi"
include "grouped.pxi"
include "channels.pxi"


cdef enum:
    IMAGE_AHEAD = 1 << 16           # bytes of an image in groups that are prefetched


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
    p.out, p.out_stride, p.out_itemsize = out, outputs * groups, 1
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


def conv(
    cnp.ndarray x, bint is_signed, int32_t x_zero_point, tuple geometry,
    Py_ssize_t groups, Py_ssize_t joined, bint is_depthwise, bint in_strips,
    cnp.ndarray panels, cnp.ndarray weight_sums, weight_zero_points, cnp.ndarray multiplier,
    bias, integer_bias, float bias_multiplier, int32_t zero_point, int32_t lower, int32_t upper,
    cnp.ndarray out, int n_threads,
):
    """Convolve ``x (batch, *size, channels)`` into ``out (batch, *out, outputs)``.

    ``eq-conv-accumulator``, then ``eq-requantize-bias`` and ``eq-requantize``.

    ``geometry`` is 18 numbers: size, kernel, stride, padding, dilation, out, each as
    depth, height and width. Everything is contiguous.
    """
    cdef Image image
    cdef Epilogue epilogue
    cdef int shift = 128 if is_signed else 0
    cdef Py_ssize_t outputs = cnp.PyArray_SIZE(weight_sums)
    cdef Py_ssize_t rows = cnp.PyArray_SIZE(out) // max(outputs, <Py_ssize_t> 1)
    cdef const int8_t* packed = <const int8_t*> cnp.PyArray_DATA(panels)
    cdef uint8_t* result = <uint8_t*> cnp.PyArray_DATA(out)
    cdef int axis
    if rows == 0:
        return
    for axis in range(3):
        image.size[axis], image.kernel[axis] = geometry[axis], geometry[3 + axis]
        image.stride[axis], image.padding[axis] = geometry[6 + axis], geometry[9 + axis]
        image.dilation[axis], image.out[axis] = geometry[12 + axis], geometry[15 + axis]
    image.x = <const uint8_t*> cnp.PyArray_DATA(x)
    image.batch = cnp.PyArray_DIM(x, 0)
    image.channels = cnp.PyArray_DIM(x, cnp.PyArray_NDIM(x) - 1)
    image.inputs = image.channels // groups
    image.zero_point, image.flip = <uint8_t> x_zero_point, <uint8_t> shift
    fill_epilogue(
        &epilogue, x_zero_point + shift - INPUT_SHIFT,
        image.kernel[0] * image.kernel[1] * image.kernel[2] * image.inputs, weight_sums,
        weight_zero_points, multiplier, bias, integer_bias, bias_multiplier, zero_point, lower,
        upper, BYTES,
    )
    with nogil:
        if groups > 1:
            # Part by part, channels come from all over the image.
            prefetch_bytes(image.x, min(<Py_ssize_t> cnp.PyArray_SIZE(x), <Py_ssize_t> IMAGE_AHEAD))
        if is_depthwise:
            depthwise(&image, &epilogue, packed, rows, result, n_threads)
        elif in_strips:
            grouped(&image, &epilogue, packed, rows, result, n_threads)
        else:
            each_group(
                &image, &epilogue, packed, rows, outputs // groups, groups, joined, result,
                n_threads,
            )
