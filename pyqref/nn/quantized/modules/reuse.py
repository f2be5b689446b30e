"""Noticing that one object is used twice in one forward pass.

A forward pass is the call of an outermost module. Nothing is counted while modules
run: the pass is found on the Python stack, and what was used in it is noted in the
namespace of its frame, which ends together with the call.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from pyqref.nn.module_path import _CALLS

__all__ = ["used_before_in_this_pass"]

_NOTE = "used in this forward pass"


def used_before_in_this_pass(user: Any) -> bool:
    """Whether this function was called with ``user`` before in the present forward pass.

    False outside of any forward pass.
    """
    outermost: FrameType | None = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in _CALLS:
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return False
    namespace = outermost.f_locals
    # A frame keeps names that its code does not know.
    used = namespace.get(_NOTE)
    if used is None:
        namespace[_NOTE] = used = set()
    before = id(user) in used
    used.add(id(user))
    return before
