"""Models as files: ``script``, ``trace``, ``save`` and ``load``, without a compiler.

``script`` and ``trace`` return a copy of the model that runs as Python; ``save`` writes it, its
structure included, to a file in pyqref's own format, and ``load`` reads it. No code lies in
the file: the classes of the model must be there when it is loaded.

Examples
--------
>>> import io, pyqref
>>> from pyqref import nn
>>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
>>> file = io.BytesIO()
>>> pyqref.jit.save(pyqref.jit.script(model), file)
>>> _ = file.seek(0)
>>> loaded = pyqref.jit.load(file)
>>> x = pyqref.randn(3, 2)
>>> pyqref.equal(model(x), loaded(x))
True
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
