"""The instruction that a frame runs, which tells what Python is about to do with a value.

What
    The bytecode of CPython, by :mod:`dis`, whose instructions differ from version to version.
Why
    ``a, b = x`` asks a traced value for an iterator and never says how many elements it wants;
    torch reads the same instruction. And whether an error was raised by a ``raise`` or by Python
    itself decides if its message is one that we wrote. And a module may answer ``from module
    import name`` with an error of its own, which ``hasattr`` does not expect.
Where it is absent
    Unpacking a traced value is refused as any other loop over one, and errors keep the words
    that Python gave them.
"""

from __future__ import annotations

import dis
from types import FrameType, TracebackType

__all__ = ["imports_a_name", "unpacks_into", "was_raised"]

_RAISE: int | None = dis.opmap.get("RAISE_VARARGS")
_IMPORT_FROM: int | None = dis.opmap.get("IMPORT_FROM")
_UNPACK = "UNPACK_SEQUENCE"


def unpacks_into(frame: FrameType | None) -> int | None:
    """Return the number of names that a line such as ``a, b = x`` unpacks into, or None."""
    if frame is not None:
        for each in dis.get_instructions(frame.f_code):
            if each.offset == frame.f_lasti:
                return each.arg if each.opname == _UNPACK else None
    return None


def imports_a_name(frame: FrameType | None) -> bool:
    """Return True if a frame runs ``from module import name``; False if that is unknown."""
    if frame is None or frame.f_lasti < 0:
        return False
    return frame.f_code.co_code[frame.f_lasti] == _IMPORT_FROM


def was_raised(last: TracebackType) -> bool:
    """Return True if the last step of a traceback is a ``raise``, or if that is unknown.

    False of a frame of compiled code, which has no instructions: Python that is compiled leaves
    raising to functions that are not.
    """
    if _RAISE is None:
        return True
    # A raise is never the first instruction. Frames of compiled code are at none, or at the first.
    return last.tb_lasti > 0 and last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE
