"""Embeddings: only the table is quantized."""

from __future__ import annotations

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.nn import qat as nnqat
from pyqref.nn.quantized import reference as nnqr
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig

from .building import DTypes, pattern

__all__ = ["embedding_configs"]

_FORMS = (
    (nn.Embedding, nnqat.Embedding, nnqr.Embedding, F.embedding),
    (nn.EmbeddingBag, nnqat.EmbeddingBag, nnqr.EmbeddingBag, None),
)


def embedding_configs(dtypes: DTypes, *, function: bool = False) -> list[BackendPatternConfig]:
    """Embeddings and their forms for training.

    Parameters
    ----------
    dtypes
        The supported types.
    function
        Whether with ``functional.embedding``.
    """
    found = []
    for module, qat, reference, functional in _FORMS:
        for what in (module, qat):
            config = pattern(what, dtypes).set_root_module(module)
            found.append(config.set_reference_quantized_module(reference))
        found[-2].set_qat_module(qat)
        if function and functional is not None:
            found.append(pattern(functional, dtypes)._set_input_type_to_index({"weight": 1}))
    return found
