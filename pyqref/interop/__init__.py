"""Models and weights from ``torch``, and models from ONNX files.

Nothing here imports ``torch``, but for :func:`from_torch` where it traces a module, and then
``torch`` has been imported already, and for :func:`to_torch_state_dict`. Read :mod:`.arrays`, then
:mod:`.load`; for models :mod:`.layers`, :mod:`.quantized_layers`, :mod:`.trace`, :mod:`.traced`;
for code that cannot be traced :mod:`.translation`, :mod:`.mirror`, :mod:`.running`; :mod:`.graphs`,
and :mod:`.from_torch`; for ONNX :mod:`.from_onnx`.
"""

from __future__ import annotations

from .from_onnx import from_onnx as from_onnx
from .from_torch import from_torch as from_torch
from .load import load_torch_state_dict as load_torch_state_dict
from .problems import UnsupportedError as UnsupportedError
from .report import LoadReport as LoadReport
from .report import LoadRow as LoadRow
from .to_torch import to_torch_state_dict as to_torch_state_dict
from .traced import Traced as Traced

__all__ = [
    "LoadReport",
    "LoadRow",
    "Traced",
    "UnsupportedError",
    "from_onnx",
    "from_torch",
    "load_torch_state_dict",
    "to_torch_state_dict",
]
