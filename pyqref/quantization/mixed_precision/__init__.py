"""Which layer gets how many bits: searches that measure a model with the user's own metric.

Read :mod:`.units` (what of a model can be quantized by itself), :mod:`.widths` (bits, and observers
for them), :mod:`.costs`, :mod:`.measuring` (one quantized model after the other), :mod:`.choosing`
(the searches, without a model), and then :mod:`.search` and :mod:`.control`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
