"""Training by several processes: there is one.

Scripts ask :func:`is_available`, and train alone; whatever else they call says so.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
