"""Float images channel by channel."""

# Arrays are (batch, channels, length), float32 and contiguous.

cimport numpy as cnp
from libc.string cimport memcpy, memset
from pyqref._kernels._outputs cimport OF_FLOAT32, require_output, require_output_beside
from pyqref._kernels._parallel cimport parallel_for, useful_threads

cdef enum:
    WORK_PER_THREAD = 1 << 16   # elements that are worth a thread
    CHUNK = 1 << 14             # elements a task


# moments_of_channels, add_up
include "sums.pxi"
# scale, gradient
include "scaling.pxi"
# totals_of_rows, totals_of_columns, moments_of_rows, normalize_rows, gradient_of_rows,
# gradient_of_columns
include "rows.pxi"
