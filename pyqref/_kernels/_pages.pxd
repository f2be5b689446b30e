# Memory for very large results, whose pages are used again.

cdef enum:
    FRESH = 1 << 22                 # bytes of results for which the system would be asked each time

cdef class Pages:
    cdef void* first
    cdef size_t size                # of the block; the result may be smaller

# Memory for so many bytes that begins at a huge page; None where the system has none of the kind.
cdef Pages take_pages(size_t size)
