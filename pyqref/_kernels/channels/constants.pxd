# Arrays are (batch, channels, length), float32 and contiguous; sums also take channels last.

cdef enum:
    WORK_PER_THREAD = 1 << 16   # elements that are worth a thread
    CHUNK = 1 << 14             # elements a task
