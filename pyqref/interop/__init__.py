"""Models and weights from ``torch``, and models from ONNX files.

Nothing here imports ``torch``, but for :func:`from_torch` where it traces a module, and then
``torch`` has been imported already, and for :func:`to_torch_state_dict`. Read :mod:`.arrays`, then
:mod:`.load`; for models :mod:`.layers`, :mod:`.quantized_layers`, :mod:`.trace`, :mod:`.traced`;
for code that cannot be traced :mod:`.translation`, :mod:`.mirror`, :mod:`.running`; :mod:`.graphs`,
and :mod:`.from_torch`; for ONNX :mod:`.from_onnx`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
