# Convolutions as they are asked for: one layer, or a layer for each phase of a transposed one.

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


cdef int run_layer(
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


cdef void place_results(Layer* layer, tuple geometry) except *:
    """Where the outputs of a layer go, in bytes."""
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


cdef void read_geometry(Image* image, tuple geometry) except *:
    cdef int axis
    for axis in range(3):
        image.size[axis], image.kernel[axis] = geometry[axis], geometry[3 + axis]
        image.stride[axis], image.padding[axis] = geometry[6 + axis], geometry[9 + axis]
        image.dilation[axis], image.out[axis] = geometry[12 + axis], geometry[15 + axis]


cdef void read_layer(Layer* layer, tuple part) except *:
    """Fill in what layers of one call do not share."""
    cdef tuple geometry = part[0]
    cdef cnp.ndarray panels = part[5]
    cdef cnp.ndarray weight_sums = part[6]
    cdef Image* image = &layer.image
    cdef Epilogue* e = &layer.epilogue
    read_geometry(image, geometry)
    layer.groups, layer.joined = part[1], part[2]
    layer.is_depthwise, layer.in_strips = part[3], part[4]
    layer.panels = <const int8_t*> cnp.PyArray_DATA(panels)
    image.inputs = image.channels // layer.groups
    e.weight_sums = <const int32_t*> cnp.PyArray_DATA(weight_sums)
    e.depth = image.kernel[0] * image.kernel[1] * image.kernel[2] * image.inputs
    place_results(layer, geometry)


cdef int require_result(const Layer* layer, int axes, cnp.ndarray out) except -1:
    """Refuse all but ``(batch, *out, outputs)``, of which the layer has its share."""
    cdef cnp.npy_intp[5] sizes
    cdef int axis
    if not 1 <= axes <= 3:
        raise ValueError(f"x must have 3 to 5 axes, got {axes + 2}")
    sizes[0], sizes[1 + axes] = layer.image.batch, layer.epilogue.columns
    for axis in range(axes):
        sizes[1 + axis] = layer.whole[3 - axes + axis]
    return require_output("out", out, OF_BYTES | OF_INT32, axes + 2, sizes)


cdef void take_addend(Epilogue* e, tuple addend) except *:
    cdef float scale
    cdef Addend* own = &e.addend
    if e.store != BYTES:
        raise ValueError("what is added lies in bytes, and out is of another type")
    own.scale, own.zero_point, scale, own.relu = addend
    own.inverse = <float> 1 / scale
    e.store = ADDED


cdef int require_no_gaps(const Layer* layer) except -1:
    """Refuse what does not write each output once, in its place."""
    cdef bint is_whole = not (layer.is_depthwise or layer.in_strips or layer.place)
    cdef int axis
    for axis in range(3):
        is_whole = is_whole and layer.image.out[axis] == layer.whole[axis]
    if not is_whole:
        raise ValueError("added to are all outputs of one part that is no depthwise one")
    return 0


def conv(
    cnp.ndarray x, bint is_signed, int32_t x_zero_point, tuple parts, weight_zero_points,
    cnp.ndarray multiplier, bias, integer_bias, float bias_multiplier, int32_t zero_point,
    int32_t lower, int32_t upper, cnp.ndarray out, int n_threads, float scale=1, tuple addend=None,
):
    """Convolve ``x (batch, channels, *size)`` into ``out (batch, *out, outputs)``.

    ``eq-conv-accumulator``, then ``eq-requantize-bias`` and ``eq-requantize``.

    ``x`` may lie in any order, ``out`` is contiguous. Where ``x`` is float32, bytes are made of it
    with ``scale`` and its zero point (``eq-affine-quantize``). Where ``out`` is int32, it gets the
    sums, of one part whose outputs are all of them, and whose weights are no strips. With an
    ``addend``, a scale, a zero point, the scale of the output and whether sums are not below 0,
    what ``out`` holds is added before the one rounding (``eq-requantize-function``): of one part
    whose outputs are all of them, which is not depthwise, and whose weights are no strips. Each of
    ``parts`` computes some of the outputs: its geometry, groups, how many of them are joined in
    one, whether it is depthwise, whether its weights are strips, weights, their sums. A geometry
    is 27 numbers: size, kernel, stride, padding, dilation, out, the size of the whole result, where
    in it the first output is, and how far apart these are, each as depth, height and width.
    """
    cdef Layer* layers
    cdef Layer* layer
    cdef Layer shared
    cdef Source source
    cdef Py_ssize_t i
    cdef Py_ssize_t count = 0
    cdef int shift = 128 if is_signed else 0
    cdef uint8_t* result = <uint8_t*> cnp.PyArray_DATA(out)
    look_at(&source, x)
    source.is_real = cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32
    shared.buffer = TILES_BYTES - (0 if has_channels_last(&source) else BAND_BYTES)
    source.inverse, source.offset = <float> 1 / scale, x_zero_point
    shared.image.x, shared.image.batch = source.x, source.batch
    shared.image.channels = source.channels
    shared.image.zero_point, shared.image.flip = <uint8_t> x_zero_point, <uint8_t> shift
    fill_epilogue(
        &shared.epilogue, x_zero_point + shift - INPUT_SHIFT, 0, parts[0][6], weight_zero_points,
        multiplier, bias, integer_bias, bias_multiplier, zero_point, lower, upper,
        BYTES if cnp.PyArray_ITEMSIZE(out) == 1 else SUMS,
    )
    if addend is not None:
        take_addend(&shared.epilogue, addend)
    layers = <Layer*> malloc(len(parts) * sizeof(Layer))
    if layers == NULL:
        raise MemoryError()
    try:
        for part in parts:
            layer = &layers[count]
            layer[0] = shared
            read_layer(layer, part)
            require_result(layer, cnp.PyArray_NDIM(x) - 2, out)
            if addend is not None:
                require_no_gaps(layer)
            # A result smaller than the stride has phases without outputs.
            if layer.image.out[0] and layer.image.out[1] and layer.image.out[2]:
                count += 1
        if cnp.PyArray_SIZE(out) == 0:
            return
        with nogil:
            if not has_channels_last(&source):
                run_in_blocks(layers, count, &source, result, n_threads)
            else:
                for i in range(count):
                    run_layer(&layers[i], &layers[i].image, result + layers[i].place, n_threads)
    finally:
        free(layers)
