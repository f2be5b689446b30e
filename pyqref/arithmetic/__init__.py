"""How other systems compute: the arithmetic of a quantized layer, one short class each.

Every system sums products of integers, adds a bias, scales, rounds, adds a zero point and clamps.
They differ in where they round, and so by a step here and there. :func:`get` finds an arithmetic by
its name; its methods compute each stage on whole arrays, and :meth:`Arithmetic.steps` writes down
how one output came about. :func:`use` runs a whole model in another arithmetic, and
:func:`saturation` tells where a model would saturate on processors without VNNI. Which arithmetics
there are, and how each was compared with the system itself: :doc:`/theory/arithmetics`.

Examples
--------
>>> from pyqref import arithmetic
>>> model = arithmetic.get("float64")
>>> model.steps([10, 20], 0, [3, -1], 0, 1.0, 0.5, 0.5, 1.0, 0)[-1].value
4
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
