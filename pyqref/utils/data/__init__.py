"""From a data set to batches: data sets, orders of visiting, collating, the loader."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
