"""The reference forms of the embeddings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import Device, Dtype, Module, Self, Tensor
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.layer_options import embedding_options
from pyqref.nn.modules import Embedding as FloatEmbedding
from pyqref.nn.modules import EmbeddingBag as FloatEmbeddingBag

from .utils import ReferenceQuantizedModule

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(ReferenceQuantizedModule, FloatEmbedding):
    """A float table whose rows are rounded to a grid when they are looked up.

    Parameters
    ----------
    num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        As of :class:`pyqref.nn.Embedding`.
    device, dtype
        Of the float weight.
    weight_qparams : dict
        The grid, as of :class:`pyqref.nn.quantized.reference.Linear`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.quint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> rows = pyqref.tensor([[0.2, 0.3], [1.0, 1.4]])
    >>> m = pyqref.nn.quantized.reference.Embedding(2, 2, _weight=rows, weight_qparams=grid)
    >>> m(pyqref.tensor([1, 0])).tolist()
    [[1.0, 1.5], [0.0, 0.5]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            padding_idx,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            sparse,
            _weight,
            device=device,
            dtype=dtype,
        )
        self._init_weight_qparams("weight", weight_qparams)

    def forward(self, input: Tensor) -> Tensor:
        """The rounded rows ``input``."""
        return FloatEmbedding.forward(self._float_twin(), input)

    @classmethod
    def from_float(cls, mod: Module, weight_qparams: Mapping[str, Any]) -> Self:
        """The reference layer of a float table, which it shares."""
        require_members(cls, "from_float", mod, "num_embeddings", "padding_idx", "weight")
        layer = cls(**embedding_options(mod), weight_qparams=weight_qparams)
        return layer._copy_parameters(mod)


class EmbeddingBag(ReferenceQuantizedModule, FloatEmbeddingBag):
    """A float table with bags of rows, which are rounded to a grid and reduced.

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse
        As of :class:`pyqref.nn.EmbeddingBag`.
    include_last_offset, padding_idx
        As of :class:`pyqref.nn.EmbeddingBag`.
    device, dtype
        Of the float weight.
    weight_qparams : dict
        The grid, as of :class:`pyqref.nn.quantized.reference.Linear`.

    Raises
    ------
    ValueError
        The grid lacks ``qscheme``, ``dtype``, ``scale`` or ``zero_point``.

    Examples
    --------
    >>> import pyqref
    >>> grid = {
    ...     "qscheme": pyqref.per_tensor_affine,
    ...     "dtype": pyqref.quint8,
    ...     "scale": 0.5,
    ...     "zero_point": 0,
    ... }
    >>> rows = pyqref.tensor([[0.2, 0.3], [1.0, 1.4]])
    >>> m = pyqref.nn.quantized.reference.EmbeddingBag(2, 2, _weight=rows, weight_qparams=grid)
    >>> m(pyqref.tensor([[0, 1]])).tolist()  # the mean of the rounded rows
    [[0.5, 1.0]]
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        device: Device = None,
        dtype: Dtype | None = None,
        weight_qparams: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            num_embeddings,
            embedding_dim,
            max_norm,
            norm_type,
            scale_grad_by_freq,
            mode,
            sparse,
            _weight,
            include_last_offset,
            padding_idx,
            device,
            dtype,
        )
        self._init_weight_qparams("weight", weight_qparams)

    def _get_name(self) -> str:
        # The name that torch prints.
        return "QuantizedEmbedding(Reference)"

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """The reduced bags of rounded rows."""
        twin = self._float_twin()
        return FloatEmbeddingBag.forward(twin, input, offsets, per_sample_weights)

    @classmethod
    def from_float(
        cls,
        mod: Module,
        weight_qparams: Mapping[str, Any],
        use_precomputed_fake_quant: bool = False,
    ) -> Self:
        """The reference layer of a float table, which it shares."""
        require_members(cls, "from_float", mod, "num_embeddings", "mode", "weight")
        layer = cls(**embedding_options(mod), weight_qparams=weight_qparams)
        return layer._copy_parameters(mod)
