"""The packed table of the quantized embeddings, as a module with a state."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import Dtype, Tensor
from pyqref.nn.conversion_checks import sizes_of
from pyqref.nn.modules import Module
from pyqref.ops import quantized as ops
from pyqref.ops.quantized.checks import require_quantized
from pyqref.tensor.arguments import described
from pyqref.tensor.creation import ones, zeros
from pyqref.tensor.quantized import make_per_channel

from .utils import fits, pop_dtype, pop_state

__all__ = ["EMBEDDING_DTYPES", "EmbeddingPackedParams"]

#: Of the integers of a table.
EMBEDDING_DTYPES = (dtypes.quint8, dtypes.quint4x2)


class EmbeddingPackedParams(Module):
    """A quantized table, packed for the look-ups.

    Parameters
    ----------
    num_embeddings, embedding_dim : int
    dtype
        ``quint8`` or ``quint4x2``.

    Notes
    -----
    In a state dict: ``dtype`` and ``_packed_weight``, the quantized tensor. A new table is
    zero (torch leaves memory as it finds it).

    Examples
    --------
    >>> import pyqref
    >>> table = pyqref.nn.quantized.Embedding(10, 4)._packed_params
    >>> table.dtype, table._weight().shape
    (pyqref.quint8, pyqref.Size([10, 4]))
    """

    _version = 1

    def __init__(
        self, num_embeddings: int, embedding_dim: int, dtype: Dtype = dtypes.quint8
    ) -> None:
        super().__init__()
        rows, columns = num_embeddings, embedding_dim
        sizes_of("Embedding", num_embeddings=rows, embedding_dim=columns)
        if not any(dtype is each for each in EMBEDDING_DTYPES):
            raise NotImplementedError(
                f"Embedding: dtype must be quint8 or quint4x2, got {described(dtype)}"
            )
        self.dtype = dtype
        self.set_weight(
            make_per_channel(
                zeros(num_embeddings, embedding_dim, dtype=dtypes.uint8)._array,
                ones(num_embeddings).numpy(),
                zeros(num_embeddings).numpy(),
                0,
                dtype,
                qscheme=dtypes.per_channel_affine_float_qparams,
            )
        )

    def set_weight(self, weight: Tensor) -> None:
        """Pack a table ``(num_embeddings, embedding_dim)`` of ``dtype``."""
        require_quantized("EmbeddingPackedParams.set_weight", weight, (self.dtype,), "weight")
        self._packed_weight: Any = ops.embedding_bag_prepack(weight)

    def _weight(self) -> Any:
        return ops.embedding_bag_unpack(self._packed_weight)

    def forward(self, x: Tensor) -> Tensor:
        """The input itself."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_weight"] = self._weight()

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        key = prefix + "dtype"
        dtype = pop_dtype(state_dict, key, EMBEDDING_DTYPES, missing_keys, error_msgs)
        key = prefix + "_packed_weight"
        weight = pop_state(state_dict, key, missing_keys)
        if weight is not None and fits((weight,), (self._weight(),), key, error_msgs):
            # The table itself counts: of a 4-bit nn.Embedding torch saves quint8 as dtype.
            fitting = [each for each in (weight.dtype, dtype) if each in EMBEDDING_DTYPES]
            self.dtype = next(iter(fitting), self.dtype)
            self.set_weight(weight)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )

    def __repr__(self) -> str:
        return repr(self._weight())
