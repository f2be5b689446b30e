"""Activations of float32, softmax, and their gradients."""

cimport numpy as cnp
from pyqref._kernels._outputs cimport OF_FLOAT32, ROWS_APART, output_beside, require_output
from pyqref._kernels._parallel cimport (
    count_tasks, elements_to_line, parallel_for, task_start, useful_threads,
)

include "pointwise.pxi"
include "softmax.pxi"
