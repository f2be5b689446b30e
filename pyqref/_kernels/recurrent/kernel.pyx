"""Recurrent layers."""

cimport numpy as cnp
# tracemalloc sees what these give, so that tests see how much scratch a layer takes.
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from pyqref._kernels._outputs cimport OF_FLOAT32, ROWS_APART, require_output
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.product.float_tile cimport (
    PANEL, float_product, pack_transposed, packed_size,
)
from pyqref._kernels.product.kernel cimport data_or_null, multiply
from pyqref._kernels.qgemm.kernel cimport (
    Dynamic, choose_grid, fill_dynamic, take_arrays, use_grid,
)
from pyqref._kernels.simd.functions cimport *
from pyqref._kernels.simd.primitives cimport *

include "steps.pxi"
include "layer.pxi"
include "floats.pxi"


def recurrent_step(
    int kind, cnp.ndarray from_input, cnp.ndarray from_hidden, cnp.ndarray hidden, cell,
    int n_threads,
):
    """One step of ``hidden (rows, size)``, and of ``cell`` if it is not None, in place.

    Kinds: 1 tanh of the sum, 3 GRU, 4 LSTM; the projections are ``(rows, kind * size)``. All are
    float32 and contiguous.
    """
    cdef Step s
    cdef cnp.npy_intp[2] sizes = [
        cnp.PyArray_DIM(from_hidden, 0), cnp.PyArray_DIM(from_hidden, 1) // kind
    ]
    require_output("hidden", hidden, OF_FLOAT32, 2, sizes)
    if cell is not None:
        require_output("cell", cell, OF_FLOAT32, 2, sizes)
    s.kind, s.rows, s.size = <Kind> kind, cnp.PyArray_DIM(hidden, 0), cnp.PyArray_DIM(hidden, 1)
    s.from_input = <const float*> cnp.PyArray_DATA(from_input)
    s.from_hidden = <const float*> cnp.PyArray_DATA(from_hidden)
    s.hidden = s.out = <float*> cnp.PyArray_DATA(hidden)
    s.out_step = s.size
    s.cell = <float*> data_or_null(cell)
    with nogil:
        run_step(&s, n_threads)
