"""Which operators of ONNX a layer becomes: one file for each family.

Importing this package fills the table of :mod:`pyqref.export.table`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
