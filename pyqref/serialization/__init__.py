"""Files: ``save`` and ``load`` of state dicts, as safetensors.

Read :mod:`.files`, then :mod:`.structure` (values to JSON and arrays), :mod:`.quantizers`,
:mod:`.container` (the bytes) and :mod:`.atomic` (the disk).
"""

from .errors import FileError as FileError
from .files import load as load
from .files import save as save

__all__ = ["FileError", "load", "save"]
