"""Programs as graphs: record a model, look at it, change it, write it out as Python again.

Read :mod:`.node` and :mod:`.graph` (what a program is), :mod:`.code` (back to Python),
:mod:`.proxy`, :mod:`.interception` and :mod:`.tracer` (how a model is recorded),
:mod:`.graph_module`; then what walks graphs: :mod:`.interpreter`, :mod:`.transformer`,
:mod:`.subgraph_rewriter`, :mod:`.drawing`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
