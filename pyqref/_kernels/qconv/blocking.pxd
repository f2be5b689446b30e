# Images whose channels are not last in memory, or that are no bytes: a part of an image, or some
# small images, are copied so that they are, and the outputs that see nothing else are computed,
# before the next are.

from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport uint8_t
from pyqref._kernels.cache cimport LINE, next_line
from pyqref._kernels.qconv.channels_last cimport Box, take_box
from pyqref._kernels.qconv.im2col cimport Image, Position, place_of_result
from pyqref._kernels.qconv.layers cimport Layer, run_layer
from pyqref._kernels.qconv.line_buffer cimport first_not_below
from pyqref._kernels.qconv.source cimport Source

cdef enum:
    COPY_BYTES = 3 << 17            # of such a copy, for each thread


cdef inline Py_ssize_t extent(const Image* image, int axis, Py_ssize_t outputs) noexcept nogil:
    """Most pixels that some outputs side by side see: one alone sees no more than its taps."""
    cdef Py_ssize_t seen = image.kernel[axis]
    if outputs > 1:
        seen = (outputs - 1) * image.stride[axis] + (seen - 1) * image.dilation[axis] + 1
    return min(seen, image.size[axis])


cdef inline Py_ssize_t choose_tile(
    const Image* image, Py_ssize_t most_bytes, Py_ssize_t* tile
) noexcept nogil:
    """Outputs along each dimension whose pixels take some bytes, or one; bytes that they take."""
    cdef Py_ssize_t rest, size, parts
    cdef int axis
    for axis in range(3):
        tile[axis] = image.out[axis]
    for axis in range(3):
        rest = image.channels
        rest *= extent(image, (axis + 1) % 3, tile[(axis + 1) % 3])
        rest *= extent(image, (axis + 2) % 3, tile[(axis + 2) % 3])
        if rest * extent(image, axis, tile[axis]) <= most_bytes:
            continue
        size = most_bytes // rest - 1 - (image.kernel[axis] - 1) * image.dilation[axis]
        size = size // image.stride[axis] + 1 if size >= 0 else 1
        parts = (image.out[axis] + size - 1) // size
        tile[axis] = (image.out[axis] + parts - 1) // parts
    size = image.channels
    for axis in range(3):
        size *= extent(image, axis, tile[axis])
    return size


cdef inline void cut_axis(
    const Image* image, int axis, Py_ssize_t first, Py_ssize_t outputs, Image* part, Box* box
) noexcept nogil:
    """Along an axis, what some outputs see: which pixels, and where these are under a window."""
    cdef Py_ssize_t base = first * image.stride[axis] - image.padding[axis]
    cdef Py_ssize_t size = image.size[axis]
    cdef Py_ssize_t step = image.dilation[axis]
    cdef Py_ssize_t start, end
    if outputs > 1:
        end = base + (outputs - 1) * image.stride[axis] + (image.kernel[axis] - 1) * step + 1
        start, end = min(max(base, <Py_ssize_t> 0), size), max(min(end, size), <Py_ssize_t> 0)
        part.padding[axis], part.dilation[axis] = start - base, step
        box.first[axis], box.apart[axis] = start, 1
    else:
        # The taps alone.
        start = first_not_below(0, base, step, image.kernel[axis])
        end = first_not_below(size, base, step, image.kernel[axis])
        part.padding[axis], part.dilation[axis] = start, 1
        box.first[axis], box.apart[axis] = base + start * step, step
    part.size[axis] = box.count[axis] = max(end - start, <Py_ssize_t> 0)
    part.out[axis] = outputs


cdef inline int run_in_tiles(
    const Layer* layer, const Source* source, uint8_t* copy, const Py_ssize_t* tile, uint8_t* out,
    int n_threads,
) except -1 nogil:
    """One layer, tile of outputs after tile."""
    cdef const Image* image = &layer.image
    cdef Image part = image[0]
    cdef Position p
    cdef Box box
    cdef Py_ssize_t i
    cdef int axis
    part.x, part.batch, box.images = copy, 1, 1
    for i in range(image.batch):
        p.image = box.image = i
        p.at[0] = p.at[1] = p.at[2] = 0
        while p.at[0] < image.out[0]:
            for axis in range(3):
                cut_axis(
                    image, axis, p.at[axis], min(tile[axis], image.out[axis] - p.at[axis]), &part,
                    &box,
                )
            take_box(source, &box, copy, n_threads)
            run_layer(layer, &part, out + place_of_result(image, &p), n_threads)
            p.at[2] += tile[2]
            for axis in range(2, 0, -1):
                if p.at[axis] >= image.out[axis]:
                    p.at[axis] = 0
                    p.at[axis - 1] += tile[axis - 1]
    return 0


cdef inline int run_whole(
    const Layer* layers, Py_ssize_t count, const Source* source, uint8_t* copy, Py_ssize_t images,
    uint8_t* out, int n_threads,
) except -1 nogil:
    """All layers, some images after others."""
    cdef Image image
    cdef Box box
    cdef Py_ssize_t i
    cdef int axis
    for axis in range(3):
        box.first[axis], box.apart[axis], box.count[axis] = 0, 1, source.size[axis]
    box.image = 0
    while box.image < source.batch:
        box.images = min(images, source.batch - box.image)
        take_box(source, &box, copy, n_threads)
        for i in range(count):
            image = layers[i].image
            image.x, image.batch = copy, box.images
            run_layer(
                &layers[i], &image, out + layers[i].place + box.image * image.step[0], n_threads
            )
        box.image += images
    return 0


cdef inline int run_in_blocks(
    const Layer* layers, Py_ssize_t count, const Source* source, uint8_t* out, int n_threads
) except -1 nogil:
    """Run layers on images whose channels are not last, or that are no bytes."""
    cdef Py_ssize_t most_bytes = <Py_ssize_t> COPY_BYTES * n_threads
    cdef Py_ssize_t size = source.size[0] * source.size[1] * source.size[2] * source.channels
    cdef Py_ssize_t images = min(most_bytes // max(size, <Py_ssize_t> 1), source.batch)
    cdef Py_ssize_t largest = images * size
    cdef Py_ssize_t i
    cdef Py_ssize_t[3] tile
    cdef uint8_t* copy
    if images == 0:
        for i in range(count):
            largest = max(largest, choose_tile(&layers[i].image, most_bytes, tile))
    copy = <uint8_t*> malloc(largest + LINE)
    if copy == NULL:
        with gil:
            raise MemoryError()
    try:
        if images > 0:
            run_whole(
                layers, count, source, <uint8_t*> next_line(copy), images, out, n_threads
            )
        else:
            for i in range(count):
                choose_tile(&layers[i].image, most_bytes, tile)
                run_in_tiles(
                    &layers[i], source, <uint8_t*> next_line(copy), tile, out + layers[i].place,
                    n_threads,
                )
    finally:
        free(copy)
    return 0
