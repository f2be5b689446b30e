# Recurrent layers: written once, included by one module an instruction set.

cimport numpy as cnp
from libc.math cimport INFINITY, NAN, fabs, fabsf, isfinite, isinf, rint
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from pyqref._kernels._parallel cimport parallel_for, useful_threads
from pyqref._kernels.simd.primitives cimport *

include "../qgemm/tile.pxi"
include "../qgemm/epilogue.pxi"
include "../qgemm/multiply.pxi"
include "../qgemm/dynamic.pxi"
include "functions.pxi"
include "steps.pxi"


def recurrent_step(
    int kind, cnp.ndarray from_input, cnp.ndarray from_hidden, cnp.ndarray hidden, cell,
    int n_threads,
):
    """One step of ``hidden (rows, size)``, and of ``cell`` if it is not None, in place.

    Kinds: 1 tanh of the sum, 3 GRU, 4 LSTM; the projections are ``(rows, kind * size)``. All are
    float32 and contiguous.
    """
    cdef Step s
    s.kind, s.rows, s.size = <Kind> kind, cnp.PyArray_DIM(hidden, 0), cnp.PyArray_DIM(hidden, 1)
    s.from_input = <const float*> cnp.PyArray_DATA(from_input)
    s.from_hidden = <const float*> cnp.PyArray_DATA(from_hidden)
    s.hidden = s.out = <float*> cnp.PyArray_DATA(hidden)
    s.cell = <float*> data_or_null(cell)
    with nogil:
        run_step(&s, n_threads)


def recurrent_layer(
    int kind, cnp.ndarray from_input, cnp.ndarray batch_sizes, bint reverse,
    cnp.ndarray from_hidden, cnp.ndarray hidden, cell, cnp.ndarray outputs, int quant_max,
    Py_ssize_t depth, cnp.ndarray panels, cnp.ndarray weight_sums, weight_zero_points,
    cnp.ndarray weight_scales, cnp.ndarray multiplier, bias, int store, int n_threads,
):
    """A layer over whole sequences, the projection of the hidden state included.

    ``eq-recurrent-layer`` and ``eq-linear-dynamic``. States ``(rows, size)`` change in place.
    ``batch_sizes`` are int64, none above ``rows`` and together the rows of ``from_input`` and
    ``outputs``; ``from_hidden`` is room for ``(rows, kind * size)``; what follows ``outputs`` is
    as in ``linear_dynamic`` of ``qgemm``.

    Returns the smallest and largest number of a hidden state for which there is no grid, where the
    loop ends, or else 0 and 0.
    """
    cdef Step s
    cdef Dynamic d
    cdef const int64_t* counts = <const int64_t*> cnp.PyArray_DATA(batch_sizes)
    cdef Py_ssize_t number = cnp.PyArray_SIZE(batch_sizes)
    cdef Py_ssize_t at = cnp.PyArray_DIM(outputs, 0) if reverse else 0
    cdef const float* projected = <const float*> cnp.PyArray_DATA(from_input)
    cdef float* after = <float*> cnp.PyArray_DATA(outputs)
    cdef float low = 0
    cdef float high = 0
    cdef Py_ssize_t step
    s.kind, s.size = <Kind> kind, cnp.PyArray_DIM(hidden, 1)
    s.hidden, s.cell = <float*> cnp.PyArray_DATA(hidden), <float*> data_or_null(cell)
    s.from_hidden = <const float*> cnp.PyArray_DATA(from_hidden)
    fill_dynamic(
        &d, hidden, from_hidden, quant_max, depth, panels, weight_sums, weight_zero_points,
        weight_scales, multiplier, bias, <Store> store,
    )
    with nogil:
        for step in range(number):
            s.rows = counts[number - 1 - step if reverse else step]
            if reverse:
                at -= s.rows
            d.reals.size = s.rows * s.size
            d.product.rows = s.rows
            if not run_dynamic(&d, &low, &high, n_threads):
                with gil:
                    return low, high
            s.from_input, s.out = projected + at * kind * s.size, after + at * s.size
            run_step(&s, n_threads)
            if not reverse:
                at += s.rows
    return 0.0, 0.0
