"""Where the numbers of a quantized model come from, and what makes them wrong.

:func:`explain` runs a model once and derives one number of one layer, step by step, with the
equation of each step. Inside of :func:`recording` every tensor can be asked ``y.why(index)``. Each
step can be computed again from its own operands in exact arithmetic, by :meth:`Derivation.check`.
:func:`explain_diff` says where two quantized models part, and why. :func:`ledger` splits the error
of a quantized model into layers and causes that add up exactly.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
