"""Files that ``torch.save`` and ``torch.jit.save`` wrote, read without running code.

Read :mod:`.inert` (what a pickle may consist of here), :mod:`.machine` (a pickle becomes that,
and nothing runs), :mod:`.names` (the list of names), :mod:`.archive` and :mod:`.legacy` (the two
containers), :mod:`.storages` (the bytes of tensors), :mod:`.values` with :mod:`.constructors`
(what is inert becomes tensors, after every number was checked), :mod:`.script` (TorchScript) and
:mod:`.read`.
"""

from .read import begins_like_torch as begins_like_torch
from .read import read_torch as read_torch
from .script import ScriptArchive as ScriptArchive

__all__ = ["ScriptArchive", "begins_like_torch", "read_torch"]
