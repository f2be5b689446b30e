"""Scaled dot-product attention of float32."""

cimport numpy as cnp
from libc.stdlib cimport free, malloc
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output
from pyqref._kernels._parallel cimport is_ending, parallel_for, useful_threads
from pyqref._kernels.cache cimport next_line, scratch_of_all, scratch_step
from pyqref._kernels.product.float_tile cimport pack_rows, pack_transposed, packed_size

cdef extern from "attention/rows.h":
    ctypedef struct Head:
        const float* queries
        const float* bias
        Py_ssize_t query_row, bias_row, bias_column
        const float* packed_keys
        const float* packed_values
        float* out
        Py_ssize_t out_row, rows, keys, depth, columns, looks
        bint is_causal
        float scale
        float* scaled
        float* scores
        float* inverse
        Py_ssize_t score_row
    void attend(const Head* head) nogil

cdef enum:
    SCORES = 1 << 16                # that stay in a near cache
    LEAST_QUERIES = 12              # whose scores are worked out at a time
    MOST_QUERIES = 192
    WORK_PER_THREAD = 1 << 16       # multiplications that are worth a thread


# An array (batch, heads, rows, columns), and how many floats apart its elements are.
cdef struct Heads:
    const float* at
    Py_ssize_t[4] apart


cdef struct Attention:
    Heads queries, keys, values, bias
    Head head                       # what all heads share
    float* out                      # (batch, heads, queries, columns)
    char* scratch
    Py_ssize_t scratch_step
    Py_ssize_t heads, number        # heads of one of the batch; queries of a head
    Py_ssize_t block, parts         # queries at a time, and tasks of a head


cdef Heads heads_of(x):
    cdef Heads h
    cdef int i
    h.at = NULL
    if x is not None:
        h.at = <const float*> cnp.PyArray_DATA(x)
        for i in range(4):
            h.apart[i] = cnp.PyArray_STRIDE(x, i) // <Py_ssize_t> sizeof(float)
    return h


cdef inline const float* head_at(
    const Heads* h, Py_ssize_t batch, Py_ssize_t head, Py_ssize_t row
) noexcept nogil:
    if h.at == NULL:
        return NULL
    return h.at + batch * h.apart[0] + head * h.apart[1] + row * h.apart[2]


cdef void attention_task(void* context, Py_ssize_t index, int thread) noexcept nogil:
    """Some queries of a head: a few of them at a time."""
    cdef const Attention* a = <const Attention*> context
    cdef Head h = a.head
    cdef Py_ssize_t head = index // a.parts
    cdef Py_ssize_t part = index % a.parts
    cdef Py_ssize_t blocks = (a.number + a.block - 1) // a.block
    cdef Py_ssize_t first = blocks * part // a.parts * a.block
    cdef Py_ssize_t end = min(blocks * (part + 1) // a.parts * a.block, a.number)
    cdef Py_ssize_t batch = head // a.heads
    cdef Py_ssize_t place = head % a.heads
    cdef float* panels = <float*> (a.scratch + thread * a.scratch_step)
    cdef float* values = panels + packed_size(h.keys, h.depth)
    pack_transposed(
        panels, head_at(&a.keys, batch, place, 0), a.keys.apart[2], h.keys, h.depth
    )
    pack_rows(values, head_at(&a.values, batch, place, 0), a.values.apart[2], h.columns, h.keys)
    h.packed_keys, h.packed_values = panels, values
    h.scores = values + packed_size(h.columns, h.keys)
    h.scaled = h.scores + a.block * h.score_row
    h.inverse = h.scaled + a.block * h.depth
    while first < end and not is_ending():
        h.rows = min(a.block, end - first)
        h.queries = head_at(&a.queries, batch, place, first)
        h.bias = head_at(&a.bias, batch, place, first)
        h.looks = first + 1 if h.is_causal else h.keys
        h.out = a.out + (head * a.number + first) * h.columns
        attend(&h)
        first += h.rows


def attention(
    cnp.ndarray queries, cnp.ndarray keys, cnp.ndarray values, bias, bint is_causal, float scale,
    cnp.ndarray out, int n_threads,
):
    """``eq-attention`` of arrays ``(batch, heads, rows, columns)``, none of them empty.

    All are float32. The columns of queries, keys and values lie side by side; all else may lie
    apart in any way; ``out`` is contiguous.
    """
    cdef Attention a
    cdef cnp.npy_intp* shape = cnp.PyArray_DIMS(queries)
    cdef cnp.npy_intp[4] sizes = [shape[0], shape[1], shape[2], cnp.PyArray_DIM(values, 3)]
    cdef Py_ssize_t size, all_heads
    cdef void* memory
    require_output("out", out, OF_FLOAT32, 4, sizes)
    a.queries, a.keys = heads_of(queries), heads_of(keys)
    a.values, a.bias = heads_of(values), heads_of(bias)
    a.heads, a.number, a.out = shape[1], shape[2], <float*> cnp.PyArray_DATA(out)
    all_heads = shape[0] * shape[1]
    a.head.query_row, a.head.out_row = a.queries.apart[2], sizes[3]
    a.head.bias_row, a.head.bias_column = a.bias.apart[2], a.bias.apart[3]
    a.head.keys, a.head.depth = cnp.PyArray_DIM(keys, 2), shape[3]
    a.head.columns, a.head.is_causal, a.head.scale = sizes[3], is_causal, scale
    a.head.score_row = packed_size(a.head.keys, 1)
    a.block = max(SCORES // a.head.score_row, <Py_ssize_t> LEAST_QUERIES)
    a.block = min(a.block, <Py_ssize_t> MOST_QUERIES, a.number)
    n_threads = useful_threads(
        <double> all_heads * a.number * a.head.keys * (a.head.depth + a.head.columns),
        WORK_PER_THREAD, n_threads,
    )
    a.parts = max(<Py_ssize_t> 1, min(
        (a.number + a.block - 1) // a.block, (n_threads + all_heads - 1) // all_heads
    ))
    size = packed_size(a.head.keys, a.head.depth) + packed_size(a.head.columns, a.head.keys)
    size = (size + a.block * (a.head.score_row + a.head.depth + 1)) * <Py_ssize_t> sizeof(float)
    memory = malloc(scratch_of_all(size, n_threads))
    if memory == NULL:
        raise MemoryError()
    a.scratch, a.scratch_step = <char*> next_line(memory), scratch_step(size)
    with nogil:
        parallel_for(attention_task, &a, all_heads * a.parts, n_threads)
        free(memory)
