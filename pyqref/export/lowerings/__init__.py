"""Which operators of ONNX a layer becomes: one file for each family.

Importing this package fills the table of :mod:`pyqref.export.table`.
"""

from . import dynamic as dynamic
from . import functional as functional
from . import grids as grids
from . import moves as moves
from . import norms as norms
from . import pointwise as pointwise
from . import pooling as pooling
from . import recurrent as recurrent
from . import weighted as weighted

__all__ = [
    "dynamic",
    "functional",
    "grids",
    "moves",
    "norms",
    "pointwise",
    "pooling",
    "recurrent",
    "weighted",
]
