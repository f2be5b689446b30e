"""Memory for results: the one home of whatever is used again.

To make an array and to free it takes NumPy and the system longer than a kernel takes to fill many
of them. How a result comes by its memory depends on its size alone:

up to 4 KiB
    The last 16 such arrays are remembered. One that nobody else holds any more is the next result
    of its shape and type.
less than 16 KiB
    NumPy makes the array.
from 16 KiB on
    The array begins at a cache line, which no vector of a kernel then straddles.
from 4 MiB on
    It lies in whole pages. The system clears every page that it gives, which takes twice as long
    as a kernel takes to write it. So the process keeps a block that is free again, and a later
    result of its size, or half of it at the least, is written there. All but a few are marked: the
    system may take their pages as soon as anybody wants memory. To mark one stops every thread of
    the process for some time, so that is not done to what is written time and again.

Blocks in between are kept by the C library (:mod:`pyqref._insides.c_heap`). Scratch of threads is
taken and freed by each kernel. Nothing is kept before the first result, and with
``reuse_results(False)`` nothing at all: every array is then NumPy's own, with the same numbers.
Looking into arrays touches the insides of NumPy (``PyArrayObject_fields``, which its headers
declare), and counting references those of Python.
"""

cimport numpy as cnp
# tracemalloc sees what these give.
from cpython.mem cimport PyMem_RawFree as free, PyMem_RawMalloc as malloc
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdint cimport uint32_t, uintptr_t
from libc.string cimport memmove
from pyqref._kernels.cache cimport LINE, next_line

import numpy as np

cdef extern from "pages.h":
    void* pages_from_system(size_t size, size_t large, size_t page) nogil
    bint let_system_take(void* pages, size_t size) nogil
    void pages_to_system(void* pages, size_t size) nogil

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* x)
    int PyTraceMalloc_Track(unsigned int domain, uintptr_t address, size_t size)
    int PyTraceMalloc_Untrack(unsigned int domain, uintptr_t address)

cdef extern from "numpy/arrayobject.h":
    cnp.ndarray PyArray_NewFromDescr(
        type subtype, cnp.PyArray_Descr* stolen, int ndim, const cnp.npy_intp* shape,
        const cnp.npy_intp* strides, void* data, int flags, object parent
    )

    ctypedef struct PyArrayObject_fields:
        int nd, flags
        cnp.npy_intp* dimensions
        cnp.npy_intp* strides
        PyObject* base
        cnp.PyArray_Descr* descr
        PyObject* weakreflist

cnp.import_array()

cdef enum:
    SMALL = 1 << 12                 # bytes of a result whose array is used again, at most
    SLOTS = 16                      # of these that are remembered: each has one slot to be in
    LARGE = 1 << 14                 # bytes of a result that begins at a cache line
    FRESH = 1 << 22                 # bytes of one for which the system would be asked each time
    PAGE = 1 << 21                  # bytes of a huge page
    KEPT = 1 << 29                  # bytes of the blocks that are kept at most
    MOST = 16                       # and their number
    UNMARKED = 1 << 25              # bytes of those that the system may not take
    NUMPY = 389047                  # the domain in which ``tracemalloc`` counts arrays

cdef struct Block:
    void* first
    size_t size
    bint is_marked

cdef Block[MOST] blocks             # free ones, the oldest first
cdef int n_blocks = 0
cdef size_t n_bytes = 0
cdef size_t n_unmarked = 0          # bytes


cdef class Pages:
    """A block that is in use; it is free when this is."""

    def __dealloc__(self):
        if self.first != NULL:
            PyTraceMalloc_Untrack(NUMPY, <uintptr_t> self.first)
            keep(Block(self.first, self.size, False))


cdef Block take(int index):
    """A free block, which is none any more."""
    global n_blocks, n_bytes, n_unmarked
    cdef Block block = blocks[index]
    n_blocks -= 1
    n_bytes -= block.size
    n_unmarked -= 0 if block.is_marked else block.size
    memmove(&blocks[index], &blocks[index + 1], (n_blocks - index) * sizeof(Block))
    return block


cdef void give_back(size_t most, int number):
    """Give the oldest blocks to the system until no more are kept than that."""
    cdef Block block
    while n_bytes > most or n_blocks > number:
        block = take(0)
        pages_to_system(block.first, block.size)


cdef void keep(Block block):
    """Keep a block that is free, and of the others only as many as there may be."""
    global n_blocks, n_bytes, n_unmarked
    if block.size > KEPT:
        pages_to_system(block.first, block.size)
        return
    give_back(KEPT - block.size, MOST - 1)
    blocks[n_blocks] = block
    n_blocks += 1
    n_bytes += block.size
    n_unmarked += block.size
    mark_some()


cdef void mark_some():
    """Mark the oldest blocks until the others are few enough."""
    global n_unmarked
    cdef Block block
    cdef int each = 0
    while n_unmarked > UNMARKED:
        if not blocks[each].is_marked:
            if not let_system_take(blocks[each].first, blocks[each].size):
                block = take(each)
                pages_to_system(block.first, block.size)
                continue
            blocks[each].is_marked = True
            n_unmarked -= blocks[each].size
        each += 1


cdef int best_for(size_t size):
    """The smallest free block that has room and is not mostly left over; -1 where none is.

    Of equal ones the last that was in use, which is the most likely to be in a cache.
    """
    cdef int found = -1
    cdef int each
    for each in range(n_blocks):
        if size <= blocks[each].size <= 2 * size:
            if found < 0 or blocks[each].size <= blocks[found].size:
                found = each
    return found


cdef void* ask(size_t whole, size_t beyond):
    """Return new pages; a last one that the result fills less than half is of small pages."""
    return pages_from_system(whole, whole if beyond <= PAGE // 2 else whole - PAGE, PAGE)


cdef Pages take_pages(size_t size):
    cdef size_t beyond = -size % PAGE
    cdef Pages pages = Pages.__new__(Pages)
    cdef int found = best_for(size)
    cdef Block block = Block(NULL, size + beyond, False)
    if found >= 0:
        block = take(found)
    else:
        block.first = ask(block.size, beyond)
        if block.first == NULL and n_blocks:    # what is kept may stand in the way
            give_back(0, 0)
            block.first = ask(block.size, beyond)
        if block.first == NULL:
            return None
    pages.first, pages.size = block.first, block.size
    PyTraceMalloc_Track(NUMPY, <uintptr_t> pages.first, size)
    return pages


def kept():
    """Sizes in bytes of the blocks that are free, the oldest first, and whether each is marked."""
    return [(blocks[each].size, bool(blocks[each].is_marked)) for each in range(n_blocks)]


cdef bint is_reusing = True
cdef type np_ndarray = np.ndarray


cdef cnp.ndarray new_array(
    int ndim, cnp.npy_intp* sizes, cnp.dtype dtype, cnp.npy_intp* strides
):
    """One that NumPy makes, in C order by default."""
    Py_INCREF(dtype)
    return PyArray_NewFromDescr(
        np_ndarray, <cnp.PyArray_Descr*> dtype, ndim, sizes, strides, NULL, 0, None
    )


cdef PyObject* remembered[SLOTS]


cdef inline int slot_of(cnp.npy_intp size, cnp.dtype dtype) noexcept:
    """Its top bits differ where any bits of the size or the type do, mostly."""
    return (<uint32_t> size * <uint32_t> 2654435769 + <uint32_t> dtype.num * 40503) >> 28


cdef bint is_as_made(
    PyArrayObject_fields* x, int ndim, const cnp.npy_intp* sizes, cnp.dtype dtype
) noexcept:
    """Return True if an array is still as it was made: users may have changed its shape or type."""
    cdef cnp.npy_intp stride = dtype.itemsize
    cdef int axis = ndim
    if (
        x.nd != ndim or x.descr != <cnp.PyArray_Descr*> dtype or x.base != NULL
        or x.weakreflist != NULL
        or x.flags | cnp.NPY_ARRAY_F_CONTIGUOUS
        != cnp.NPY_ARRAY_CARRAY | cnp.NPY_ARRAY_F_CONTIGUOUS | cnp.NPY_ARRAY_OWNDATA
    ):
        return False
    while axis:
        axis -= 1
        if x.dimensions[axis] != sizes[axis] or x.strides[axis] != stride:
            return False
        stride *= sizes[axis]
    return True


cdef cnp.ndarray small_buffer(
    int ndim, cnp.npy_intp* sizes, cnp.dtype dtype, cnp.npy_intp size
):
    """An array of so many bytes in C order."""
    cdef int slot = slot_of(size, dtype)
    cdef PyObject* before = remembered[slot]
    cdef cnp.ndarray result
    if before != NULL and Py_REFCNT(before) == 1:
        if is_as_made(<PyArrayObject_fields*> before, ndim, sizes, dtype):
            return <cnp.ndarray> before
    result = new_array(ndim, sizes, dtype, NULL)
    before = remembered[slot]
    Py_INCREF(result)
    remembered[slot] = <PyObject*> result
    Py_XDECREF(before)
    return result


cdef class Memory:
    """The memory of an array that begins at a cache line. It is freed together with this object."""

    cdef void* all

    def __dealloc__(self):
        free(self.all)


cdef Memory memory_for(size_t size):
    """So many bytes from the first cache line on."""
    cdef Memory memory = Memory.__new__(Memory)
    memory.all = malloc(size + LINE)
    if memory.all == NULL:
        raise MemoryError(f"there are no {size} bytes for a result")
    return memory


cdef cnp.ndarray buffer(
    int ndim, cnp.npy_intp* sizes, cnp.dtype dtype, cnp.npy_intp* strides = NULL
):
    """An array without gaps that lies where its size lets it; in C order by default."""
    cdef cnp.npy_intp size = dtype.itemsize
    cdef cnp.ndarray result
    cdef char* first
    cdef object owner = None
    cdef int axis
    for axis in range(ndim):
        size *= sizes[axis]
    if not is_reusing:
        return new_array(ndim, sizes, dtype, strides)
    if size <= SMALL and strides == NULL:
        return small_buffer(ndim, sizes, dtype, size)
    if size < LARGE:
        return new_array(ndim, sizes, dtype, strides)
    if size >= FRESH:
        owner = take_pages(size)
    if owner is not None:
        first = <char*> (<Pages> owner).first
    else:
        owner = memory_for(size)
        first = <char*> next_line((<Memory> owner).all)
    Py_INCREF(dtype)
    result = PyArray_NewFromDescr(
        np_ndarray, <cnp.PyArray_Descr*> dtype, ndim, sizes, strides,
        first, cnp.NPY_ARRAY_CARRAY, None,
    )
    cnp.set_array_base(result, owner)
    return result


def reuse_results(bint on):
    """Allow results to use the memory of earlier ones, or forbid it; return the setting before."""
    global is_reusing
    cdef bint before = is_reusing
    is_reusing = on
    return before
