"""How other systems compute: the arithmetic of a quantized layer, one short class each.

Every system sums products of integers, adds a bias, scales, rounds, adds a zero point and clamps.
They differ in where they round, and so by a step here and there. :func:`get` finds an arithmetic by
its name; its methods compute each stage on whole arrays, and :meth:`Arithmetic.steps` writes down how one
output came about. :func:`use` runs a whole model in another arithmetic.

Examples
--------
>>> from pyqref import arithmetic
>>> model = arithmetic.get("float64")
>>> model.steps([10, 20], 0, [3, -1], 0, 1.0, 0.5, 0.5, 1.0, 0)[-1].value
4
"""

from __future__ import annotations

from .base import Arithmetic as Arithmetic
from .registry import get as get
from .registry import names as names
from .registry import use as use
from .step import Step as Step

__all__ = ["Arithmetic", "Step", "get", "names", "use"]
