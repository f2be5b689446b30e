"""Tests of numbers: ``assert_close`` as torch has it, and a kit that verifies int8 kernels.

:func:`conformance` yields cases of an operation that hit every tie, clamp and extreme zero point;
:func:`check_implementation` runs a Python function, a function of a shared library, a program or a
device on them, and names its mistake. :func:`assert_bit_equal` compares bits;
:mod:`pyqref.testing.strategies` makes inputs for ``hypothesis``. :doc:`/conformance` shows all of
it at work.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
