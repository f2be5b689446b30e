"""Memory for very large results, whose pages are used again.

The system clears every page that it gives, which takes twice as long as a kernel takes to write it.
So the process keeps a block that is free again. A later result of its size, or half of it at the
least, is written there. All but a few are marked: the system may take their pages as soon as
anybody wants memory. To mark one stops every thread of the process for some time, so that is not
done to what is written time and again.
"""

from libc.stdint cimport uintptr_t
from libc.string cimport memmove

cdef extern from "pages.h":
    void* pages_from_system(size_t size, size_t large, size_t page) nogil
    bint let_system_take(void* pages, size_t size) nogil
    void pages_to_system(void* pages, size_t size) nogil

cdef extern from "Python.h":
    int PyTraceMalloc_Track(unsigned int domain, uintptr_t address, size_t size)
    int PyTraceMalloc_Untrack(unsigned int domain, uintptr_t address)

cdef enum:
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
    """New pages; one of which the result takes less than half is made of small ones."""
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
