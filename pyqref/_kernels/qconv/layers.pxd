# Convolutions as they are asked for: one layer, or a layer for each phase of a transposed one.

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t
from pyqref._kernels.product.description cimport (
    ADDED, BYTES, Addend, Epilogue, bytes_of_result, prefetch_bytes,
)
from pyqref._kernels.qconv.depthwise cimport depthwise
from pyqref._kernels.qconv.grouped cimport grouped
from pyqref._kernels.qconv.groups cimport each_group
from pyqref._kernels.qconv.im2col cimport Image
from pyqref._kernels.qconv.winograd cimport beside_tiles, winograd
from pyqref._kernels.qconv.winograd_plan cimport Tiling, suits_tiles_of

cdef enum:
    IMAGE_AHEAD = 1 << 16           # bytes of an image in groups that are prefetched
    TILES_BYTES = 63 << 14          # of scratch, for each thread, less what a copy of inputs takes


# What computes all outputs, or those that are a certain distance apart.
cdef struct Layer:
    Image image
    Epilogue epilogue
    const int8_t* panels
    Py_ssize_t groups, joined
    bint is_depthwise, in_strips
    Py_ssize_t place                # where the first output goes
    int64_t[3] whole                # size of the whole result
    Py_ssize_t buffer                 # bytes of scratch for transformed tiles, for each thread


cdef inline int run_layer(
    const Layer* layer, const Image* image, uint8_t* out, int n_threads
) except -1 nogil:
    """Compute the outputs of an image, or of the part of it that is at hand."""
    cdef Image own = image[0]       # moved on from group to group, as is what finishes the sums
    cdef Image tiled
    cdef Tiling tiling
    cdef Epilogue epilogue = layer.epilogue
    cdef Py_ssize_t rows = own.batch * own.out[0] * own.out[1] * own.out[2]
    cdef Py_ssize_t pixels = own.batch * own.size[0] * own.size[1] * own.size[2]
    if layer.groups > 1:
        # Part by part, channels come from all over the image.
        prefetch_bytes(own.x, min(pixels * own.channels, <Py_ssize_t> IMAGE_AHEAD))
    if layer.is_depthwise:
        depthwise(&own, &epilogue, layer.panels, rows, out, n_threads)
    elif layer.in_strips:
        grouped(&own, &epilogue, layer.panels, rows, out, n_threads)
    elif layer.groups == 1 and suits_tiles_of(
        &own, &epilogue, layer.buffer, n_threads, &tiled, &tiling
    ):
        winograd(&tiled, &epilogue, &tiling, layer.panels, out, n_threads)
        beside_tiles(&own, &tiled, &epilogue, layer.panels, out, n_threads)
    else:
        each_group(
            &own, &epilogue, layer.panels, rows, epilogue.columns // layer.groups, layer.groups,
            layer.joined, out, n_threads,
        )
    return 0


cdef inline void place_results(Layer* layer, tuple geometry) except *:
    """Find the places of a layer's outputs, in bytes."""
    cdef int64_t[3] first, apart
    cdef int64_t* whole = layer.whole
    cdef Py_ssize_t line, plane
    cdef Py_ssize_t pixel = layer.epilogue.columns * bytes_of_result(&layer.epilogue)
    cdef int axis
    for axis in range(3):
        whole[axis], first[axis] = geometry[18 + axis], geometry[21 + axis]
        apart[axis] = geometry[24 + axis]
    line = whole[2] * pixel
    plane = whole[1] * line
    layer.place = first[0] * plane + first[1] * line + first[2] * pixel
    layer.image.step[0], layer.image.step[1] = whole[0] * plane, apart[0] * plane
    layer.image.step[2], layer.image.step[3] = apart[1] * line, apart[2] * pixel


cdef inline void read_geometry(Image* image, tuple geometry) except *:
    cdef int axis
    for axis in range(3):
        image.size[axis], image.kernel[axis] = geometry[axis], geometry[3 + axis]
        image.stride[axis], image.padding[axis] = geometry[6 + axis], geometry[9 + axis]
        image.dilation[axis], image.out[axis] = geometry[12 + axis], geometry[15 + axis]


cdef inline void read_layer(Layer* layer, part) except *:
    """Fill in what layers of one convolution do not share."""
    cdef tuple geometry
    cdef cnp.ndarray panels, weight_sums
    cdef Image* image = &layer.image
    cdef Epilogue* e = &layer.epilogue
    (
        geometry, layer.groups, layer.joined, layer.is_depthwise, layer.in_strips, panels,
        weight_sums,
    ) = part
    read_geometry(image, geometry)
    layer.panels = <const int8_t*> cnp.PyArray_DATA(panels)
    image.inputs = image.channels // layer.groups
    e.weight_sums = <const int32_t*> cnp.PyArray_DATA(weight_sums)
    e.depth = image.kernel[0] * image.kernel[1] * image.kernel[2] * image.inputs
    place_results(layer, geometry)


cdef inline void take_addend(Epilogue* e, addend) except *:
    cdef float scale
    cdef Addend* own = &e.addend
    if e.store != BYTES:
        raise ValueError("what is added lies in bytes, and out is of another type")
    own.scale, own.zero_point, scale, own.relu = addend
    own.inverse = <float> 1 / scale
    e.store = ADDED


cdef inline int require_no_gaps(const Layer* layer) except -1:
    """Refuse what does not write each output once, in its place."""
    cdef bint is_whole = not (layer.is_depthwise or layer.in_strips or layer.place)
    cdef int axis
    for axis in range(3):
        is_whole = is_whole and layer.image.out[axis] == layer.whole[axis]
    if not is_whole:
        raise ValueError("added to are all outputs of one part that is no depthwise one")
    return 0
