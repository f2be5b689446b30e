"""Tests of numbers: ``assert_close`` as torch has it, and a kit that verifies int8 kernels.

:func:`conformance` yields cases of an operation that hit every tie, clamp and extreme zero point;
:func:`check_implementation` runs a Python function, a function of a shared library, a program or a
device on them, and names its mistake. :func:`assert_bit_equal` compares bits;
:mod:`pyqref.testing.strategies` makes inputs for ``hypothesis``. :doc:`/conformance` shows all of
it at work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from .close import assert_close as assert_close

if TYPE_CHECKING:
    from .case import Case as Case
    from .checking import Conformance as Conformance
    from .checking import Failed as Failed
    from .checking import check_implementation as check_implementation
    from .conditions import CONDITIONS as CONDITIONS
    from .conformance_set import conformance as conformance
    from .conformance_set import operations as operations
    from .equality import assert_bit_equal as assert_bit_equal
    from .library import FromLibrary as FromLibrary
    from .library import from_library as from_library
    from .program import FromProgram as FromProgram
    from .program import from_program as from_program
    from .program import write_cases as write_cases

__all__ = [
    "CONDITIONS",
    "Case",
    "Conformance",
    "Failed",
    "FromLibrary",
    "FromProgram",
    "assert_bit_equal",
    "assert_close",
    "check_implementation",
    "conformance",
    "from_library",
    "from_program",
    "operations",
    "write_cases",
]

__getattr__ = on_first_use(
    __name__,
    {
        ".case": ("Case",),
        ".checking": ("Conformance", "Failed", "check_implementation"),
        ".conditions": ("CONDITIONS",),
        ".conformance_set": ("conformance", "operations"),
        ".equality": ("assert_bit_equal",),
        ".library": ("FromLibrary", "from_library"),
        ".program": ("FromProgram", "from_program", "write_cases"),
    },
    modules=("strategies",),
)
