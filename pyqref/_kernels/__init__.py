"""The equations of :mod:`pyqref.numerics`, fast.

Every function here gives the bits of its twin in ``numerics``, whatever kernel and
however many threads run it. Reading order: :mod:`.registry` (which kernel), ``simd/``
(what an instruction set must offer), ``quantize/`` (the simplest operation), ``qgemm/``
and ``qconv/`` (the ones that matter). Arguments are taken as valid; the layers above check.

Each operation is imported when it is first used: many scripts need few of them.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
