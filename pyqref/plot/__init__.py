"""Figures that show what quantization does, of your own model and data.

Each function takes what was measured, draws it on the matplotlib axes ``ax`` (a new figure
if there is none) and returns those axes. :mod:`pyqref.measure` measures. For the colours of
the tutorials, put ``plt.style.use(plot.settings())`` at the head of a script, or
``with plot.theme("dark"):`` around a figure; in figures of your own choose
``layout="constrained"``.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
