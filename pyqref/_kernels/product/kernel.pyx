"""Products of matrices of bytes: what linear layers, convolutions and recurrent layers share."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a product takes.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from libc.math cimport fabsf
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport is_ending, parallel_for, useful_threads
from pyqref._kernels.cache cimport (
    LINE, next_line, scratch_of_all, scratch_step, suits_streams, whole_lines,
)
from pyqref._kernels.simd.primitives cimport *

cdef extern from "product/tile.h":
    int vectors_of_tile(int rows, Py_ssize_t left, bint is_only) nogil
    void multiply_alike(int rows, int vectors, Tile* tile) nogil

# What kernel.pxd declares, each by those before it:
# finish_added: results that are added to bytes
include "added.pxi"
# load_columns, finish_tile, fill_epilogue
include "epilogue.pxi"
# multiply_in_tiles
include "tiles.pxi"
# suits_tiles, plan_product, work_of
include "plan.pxi"
# fill_product, store_into, multiply_task, multiply
include "multiply.pxi"
