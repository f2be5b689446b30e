"""Descriptions of what a back end can quantize, and how: :class:`BackendConfig`.

Read :mod:`.dtype_config`, :mod:`.pattern_config` and :mod:`.backend_config`, then one of
the configurations, :mod:`.native` first, and the families of patterns that it is made of
in :mod:`.patterns`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
