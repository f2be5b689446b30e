"""How the C library keeps memory that was freed, for what is made next.

GNU's asks the system for each block of 128 KiB and more and gives it back as soon as it is free,
and so it does with what becomes free at the end of its heap: arrays that follow one another then
come from the system time and again, which clears them page by page. Once a block of up to 32 MiB
was freed, it takes blocks of that size from its heap, of whose end it keeps twice as much.
"""

from __future__ import annotations

import numpy as np

__all__ = ["keep_what_is_freed"]

#: The largest block, with what the C library adds, that changes anything.
_LARGEST = (32 << 20) - (8 << 10)


def keep_what_is_freed() -> None:
    """Free such a block, which nobody has touched: it is an address and no memory.

    Whoever sets ``MALLOC_MMAP_THRESHOLD_`` or ``MALLOC_TRIM_THRESHOLD_`` keeps what was set.
    """
    np.empty(_LARGEST, np.uint8)
