"""Noticing that one observed module is used twice in one forward pass.

A forward pass is the call of an outermost module. Nothing is counted while modules
run: the pass is found on the Python stack, and what was used in it is noted in the
namespace of its frame, which ends together with the call.
"""

from __future__ import annotations

from types import FrameType

from pyqref._insides.stack import caller, noted
from pyqref._typing import AnyModule
from pyqref.nn.diagnostics import SharedObserverWarning, warn
from pyqref.nn.module_path import CALLS, describe_module

__all__ = ["used_before_in_this_pass", "warn_of_shared_observer"]

_NOTE = "used in this forward pass"


def used_before_in_this_pass(user: AnyModule) -> bool:
    """Return True if this was called with ``user`` before in the same forward pass.

    False outside of any forward pass, and inside a module that is ``used_at_each_step``: its
    parts stand for one operation in all steps of a recurrent layer.
    """
    outermost: FrameType | None = None
    frame: FrameType | None = caller()
    while frame is not None:
        if frame.f_code in CALLS:
            if getattr(type(frame.f_locals["self"]), "used_at_each_step", False):
                return False
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return False
    used = noted(outermost, _NOTE, set)
    before = id(user) in used
    used.add(id(user))
    return before


def warn_of_shared_observer(user: AnyModule) -> None:
    """Warn that ``user``, whose observer saw a value of this pass before, shows it another."""
    kind = type(user).__name__
    remedy = f"give each place a {kind} of its own"
    if hasattr(user, "weight"):
        remedy += ", which may share the weight: b.weight = a.weight"
    warn(
        f"{describe_module(user)} is used more than once in one forward pass: its observer "
        f"mixes the ranges of several tensors, and fits none; {remedy}",
        SharedObserverWarning,
    )
