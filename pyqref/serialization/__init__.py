"""Files: ``save`` and ``load`` of state dicts, as safetensors; ``load`` of files of torch.

Read :mod:`.files`, then :mod:`.structure` (values to JSON and arrays), :mod:`.quantizers`,
:mod:`.container` (the bytes), :mod:`.elements` (number formats) and :mod:`.atomic` (the disk);
:mod:`.torch_files` reads what torch wrote.
"""

from .errors import FileError as FileError
from .files import load as load
from .files import save as save
from .locations import default_restore_location as default_restore_location
from .torch_files import ScriptArchive as ScriptArchive

__all__ = ["FileError", "ScriptArchive", "default_restore_location", "load", "save"]
