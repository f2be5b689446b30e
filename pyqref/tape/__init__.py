"""The tape of automatic differentiation, on plain arrays.

Read :mod:`~pyqref.tape.operation` (what is recorded), then
:mod:`~pyqref.tape.engine` (how gradients flow back); each of the other files holds a
family of operations, forward and backward side by side.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
