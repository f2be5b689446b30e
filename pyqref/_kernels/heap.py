"""How the C library keeps memory that was freed, for what is made next.

GNU's asks the system for each block of 128 KiB and more and gives it back as soon as it is free,
and so it does with what becomes free at the end of its heap: arrays that follow one another then
come from the system time and again, which clears them page by page. Once a block has been freed
that came from the system, it takes blocks of that size from its heap, of whose end it keeps twice
as much. Larger ones, for which NumPy wants huge pages, are left to do the same when they are freed:
in a heap of small pages they would be written at half of the speed.
"""

from __future__ import annotations

import numpy as np

__all__ = ["keep_what_is_freed"]

#: Bytes of the block: less than those for which NumPy wants huge pages.
_BLOCK = (4 << 20) - (64 << 10)


def keep_what_is_freed() -> None:
    """Free such a block that nobody has touched: it is an address and no memory.

    Whoever sets ``MALLOC_MMAP_THRESHOLD_`` or ``MALLOC_TRIM_THRESHOLD_`` keeps what was set.
    """
    np.empty(_BLOCK, np.uint8)
