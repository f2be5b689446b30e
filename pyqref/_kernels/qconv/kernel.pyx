"""Quantized convolution."""

cimport numpy as cnp
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset
from pyqref._kernels._outputs cimport OF_BYTES, OF_INT32, require_output
from pyqref._kernels.product.description cimport bytes_of_result
from pyqref._kernels.product.kernel cimport fill_epilogue
from pyqref._kernels.qconv.blocking cimport COPY_BYTES, run_in_blocks
from pyqref._kernels.qconv.layers cimport (
    TILES_BYTES, Layer, read_layer, require_no_gaps, run_layer, take_addend,
)
from pyqref._kernels.qconv.source cimport Source, has_channels_last, look_at
from pyqref._kernels.simd.primitives cimport *


cdef class Convolution:
    """A convolution that is ready for inputs of one size on one grid, of any number of images.

    ``eq-conv-accumulator``, then ``eq-requantize-bias`` and ``eq-requantize``. What there is to
    know of weights and results is read once, when it is made; :meth:`run` is given what changes
    from call to call. The four arguments are described in :file:`structs.py`: layers that compute
    some of the outputs each, the grid of the input, how sums are finished, and what is added to
    them before they are rounded, if anything is (``eq-requantize-function``).
    """

    cdef Layer* layers
    cdef Py_ssize_t count
    cdef float inverse, offset
    cdef tuple used                 # what the layers point to

    def __cinit__(self, tuple parts, grid, finish, addend=None):
        cdef Layer shared
        cdef Layer* layer
        cdef int32_t x_zero_point
        cdef Py_ssize_t channels
        cdef bint is_signed
        cdef int shift
        cdef float scale
        memset(&shared, 0, sizeof(Layer))
        channels, is_signed, x_zero_point, scale = grid
        shift = 128 if is_signed else 0
        self.used = parts, finish
        self.inverse, self.offset = <float> 1 / scale, x_zero_point
        shared.image.channels = channels
        shared.image.zero_point, shared.image.flip = <uint8_t> x_zero_point, <uint8_t> shift
        fill_epilogue(
            &shared.epilogue, x_zero_point + shift - INPUT_SHIFT, 0, parts[0].sums, finish
        )
        if addend is not None:
            take_addend(&shared.epilogue, addend)
        self.layers = <Layer*> malloc(len(parts) * sizeof(Layer))
        if self.layers == NULL:
            raise MemoryError()
        for part in parts:
            layer = &self.layers[self.count]
            layer[0] = shared
            read_layer(layer, part)
            if addend is not None:
                require_no_gaps(layer)
            self.count += 1

    def __dealloc__(self):
        free(self.layers)

    cdef int require_arrays(self, cnp.ndarray x, cnp.ndarray out) except -1:
        """Refuse all but what it was made for, and ``(batch, *out, outputs)``."""
        cdef const Layer* layer = self.layers
        cdef int axes = cnp.PyArray_NDIM(x) - 2
        cdef cnp.npy_intp[5] sizes
        cdef int axis, wanted
        if not 1 <= axes <= 3:
            raise ValueError(f"x must have 3 to 5 axes, got {axes + 2}")
        for axis in range(-1, axes):
            sizes[1 + axis] = layer.image.size[3 - axes + axis] if axis >= 0 else (
                layer.image.channels
            )
            if cnp.PyArray_DIM(x, 2 + axis) != sizes[1 + axis]:
                raise ValueError(
                    f"axis {2 + axis} of x must have {sizes[1 + axis]} elements, got "
                    f"{cnp.PyArray_DIM(x, 2 + axis)}"
                )
        sizes[0], sizes[1 + axes] = cnp.PyArray_DIM(x, 0), layer.epilogue.columns
        for axis in range(axes):
            sizes[1 + axis] = layer.whole[3 - axes + axis]
        wanted = bytes_of_result(&layer.epilogue)
        if cnp.PyArray_ITEMSIZE(out) != wanted:
            raise TypeError(f"out must hold elements of {wanted} bytes, got {out.dtype}")
        return require_output("out", out, OF_BYTES | OF_INT32, axes + 2, sizes)

    def run(self, cnp.ndarray x, cnp.ndarray out, int n_threads):
        """Convolve ``x (batch, channels, *size)`` into ``out (batch, *out, outputs)``.

        ``x`` may lie in any order, ``out`` is contiguous. Where ``x`` is float32, bytes are made
        of it on its grid (``eq-affine-quantize``). Where ``out`` is int32, it gets the sums. To
        what ``out`` holds the sums are added if the convolution has an addend.
        """
        cdef Layer* layers
        cdef Layer* layer
        cdef Source source
        cdef bint is_last
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        cdef uint8_t* result = <uint8_t*> cnp.PyArray_DATA(out)
        self.require_arrays(x, out)
        if cnp.PyArray_SIZE(out) == 0:
            return
        look_at(&source, x)
        source.is_real = cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32
        source.inverse, source.offset = self.inverse, self.offset
        is_last = has_channels_last(&source)
        # Copies of its own: several threads may run one layer of a model at a time.
        layers = <Layer*> malloc(self.count * sizeof(Layer))
        if layers == NULL:
            raise MemoryError()
        try:
            with nogil:
                for i in range(self.count):
                    layer = &layers[count]
                    layer[0] = self.layers[i]
                    layer.image.x, layer.image.batch = source.x, source.batch
                    layer.buffer = TILES_BYTES - (0 if is_last else COPY_BYTES)
                    # A result smaller than the stride has phases without outputs.
                    if layer.image.out[0] and layer.image.out[1] and layer.image.out[2]:
                        count += 1
                if not is_last:
                    run_in_blocks(layers, count, &source, result, n_threads)
                else:
                    for i in range(count):
                        layer = &layers[i]
                        run_layer(layer, &layer.image, result + layer.place, n_threads)
        finally:
            free(layers)
