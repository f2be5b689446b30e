"""Which steps on stored integers an operation becomes: one file for each family.

Importing this package fills the table :data:`pyqref.export.planner.steps`.
"""

from . import moving as moving
from . import pointwise as pointwise
from . import pooling as pooling
from . import weighted as weighted

__all__ = ["moving", "pointwise", "pooling", "weighted"]
