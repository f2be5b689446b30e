"""Neural networks: modules, their parameters, and the functions behind them.

Read :class:`Module` first, then a layer such as ``Linear``, then
:mod:`~pyqref.nn.functional`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
