"""How layers are quantized: :class:`QConfig` (:mod:`.base`) and those that have a name."""

from pyqref import _lazy

from .saved import add_to_files as _add_to_files

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)

_add_to_files()
