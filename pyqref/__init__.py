"""Quantization as ``torch`` documents it, to be read before it is run.

A script written against the documentation of ``torch``'s quantization runs with
``import pyqref as torch`` and gives the same integers, scales and zero points.

Reading order
-------------
1. :mod:`pyqref.dtypes`: number types and quantization schemes.
2. :mod:`pyqref.numerics`: the equations, one function each, in plain NumPy.
3. ``pyqref._kernels``: the same equations, fast.
4. :mod:`pyqref.tape`, ``pyqref.tensor``, :mod:`pyqref.autograd`: tensors and gradients.
5. :mod:`pyqref.nn`, :mod:`pyqref.optim`, :mod:`pyqref.fx`: layers, optimisers, graphs.
6. :mod:`pyqref.ops`, ``pyqref.nn.quantized`` and ``qat``: quantized layers.
7. :mod:`pyqref.quantization`: observers, fake quantization, the workflows.

The stub ``__init__.pyi`` holds the namespace, name by name.
"""

from pyqref import _lazy

from . import _other_paths as _other_paths
from ._kernels.uncompiled import warn_if_uncompiled as _warn_if_uncompiled

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)

_warn_if_uncompiled()
