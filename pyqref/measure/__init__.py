"""How far a quantized model is from its float one, in numbers.

:func:`sqnr` compares two arrays, :func:`layer_sqnr` two models layer by layer,
:func:`channel_error` two weights channel by channel, and :func:`sensitivity` says what each
layer costs by itself. :mod:`pyqref.plot` draws what comes out.
:func:`roofline` says how fast a layer can be at best.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
