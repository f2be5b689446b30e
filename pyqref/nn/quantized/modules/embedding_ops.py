"""Quantized embedding tables."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import AnyModule, Dtype, Self, Tensor
from pyqref.backends import quantized as settings
from pyqref.nn import modules as nn
from pyqref.nn.conversion_checks import require_members
from pyqref.nn.diagnostics import NoEffectWarning, warn
from pyqref.nn.module_path import module_path
from pyqref.nn.modules import Module
from pyqref.nn.modules.arguments import word
from pyqref.nn.qat.modules import embedding_ops as nnqat
from pyqref.nn.quantized.integer_range import in_range_of
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_flag
from pyqref.tensor.dispatch import require_tensor
from pyqref.tensor.quantized import quantize_per_channel

from .embedding_packed import EMBEDDING_DTYPES, EmbeddingPackedParams
from .utils import require_type

__all__ = ["Embedding", "EmbeddingBag"]


class Embedding(Module):
    r"""A quantized table whose rows are looked up (equation ``eq-embedding-lookup``).

    Parameters
    ----------
    num_embeddings, embedding_dim : int
        Shape of the table.
    padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        Of the float layer; they concern training and have no effect.
    _weight
        The quantized table, or None: zeros.
    dtype
        ``quint8``, or ``quint4x2`` with two elements in a byte.

    Raises
    ------
    RuntimeError
        An index is out of range, or the indices are not int32 or int64 of one or two
        dimensions. The message names the layer's path.

    Notes
    -----
    Shapes: ``(*) -> (*, embedding_dim)``, one or two dimensions; integers to float32.
    torch 2.13 looks up a quint4x2 table as if it were one of bytes: see the errata.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.Embedding(num_embeddings=10, embedding_dim=12)
    >>> indices = pyqref.tensor([9, 6, 5, 7, 8, 8, 9, 2, 8])
    >>> m(indices).size()
    pyqref.Size([9, 12])
    """

    _version = 1

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
        dtype: Dtype = dtypes.quint8,
    ) -> None:
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.dtype = dtype
        self._packed_params = EmbeddingPackedParams(num_embeddings, embedding_dim, dtype)
        if _weight is not None:
            self.set_weight(_weight)

    def _get_name(self) -> str:
        return "QuantizedEmbedding"

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def extra_repr(self) -> str:
        """Shape, dtype and scheme of the table."""
        return (
            f"num_embeddings={self.num_embeddings}, embedding_dim={self.embedding_dim}, "
            f"dtype={self._packed_params.dtype}, qscheme={self.weight().qscheme()}"
        )

    def _located(self, operation: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a look-up; an error names the path of this layer."""
        try:
            return operation(self._packed_params._packed_weight, *args, **kwargs)
        except (RuntimeError, TypeError) as error:
            path = module_path(self) or self._get_name()
            raise type(error)(f"{path} ({self._get_name()}): {error}") from error

    def forward(self, indices: Tensor) -> Tensor:
        """Rows of the table, float32."""
        wide = self._packed_params.dtype is dtypes.quint8
        return self._located(ops.embedding_byte if wide else ops.embedding_4bit, indices)

    def set_weight(self, w: Tensor) -> None:
        """Replace the table, ``(num_embeddings, embedding_dim)``."""
        require_tensor(f"{self._get_name()}.set_weight", "w", w)
        if tuple(w.shape) != (self.num_embeddings, self.embedding_dim):
            raise ValueError(
                f"the weight must have shape {(self.num_embeddings, self.embedding_dim)}, "
                f"got {tuple(w.shape)}"
            )
        self._packed_params.set_weight(w)

    def weight(self) -> Tensor:
        """The quantized table."""
        return self._packed_params._weight()

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Module:
        """The quantized layer of an ``nn.Embedding`` or ``nn.qat.Embedding``.

        Parameters
        ----------
        mod
            A layer with a qconfig whose weight observer has float zero points, such as
            ``float_qparams_weight_only_qconfig``.
        use_precomputed_fake_quant
            Do not show the weight to ``weight_fake_quant`` once more.
        """
        require_type(cls, mod, (nn.Embedding, nnqat.Embedding))
        weight = _quantized_table(cls, mod, use_precomputed_fake_quant)
        layer = cls(mod.num_embeddings, mod.embedding_dim, dtype=weight.dtype)
        layer.set_weight(weight)
        return layer

    @classmethod
    def from_reference(cls, ref_embedding: AnyModule) -> Self:
        """The quantized layer of a reference layer."""
        require_members(cls, "from_reference", ref_embedding, "get_quantized_weight")
        ref = ref_embedding
        options = ref.padding_idx, ref.max_norm, ref.norm_type, ref.scale_grad_by_freq, ref.sparse
        weight = ref.get_quantized_weight()
        return cls(ref.num_embeddings, ref.embedding_dim, *options, weight, ref.weight_dtype)


class EmbeddingBag(Embedding):
    r"""A quantized table whose rows are added up (equation ``eq-embedding-bag``).

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, sparse, _weight, dtype
        As of :class:`Embedding`.
    mode : str
        ``"sum"`` or ``"mean"``.
    include_last_offset : bool
        The offsets have one entry more than there are bags, the end of the last.

    Attributes
    ----------
    pruned_weights : bool
        Whether ``compressed_indices_mapping`` says where the rows are.

    Raises
    ------
    RuntimeError
        As of :class:`Embedding`, and where the offsets do not fit.

    Notes
    -----
    Shapes: ``(B, L)``, or ``(I,)`` with offsets ``(B,)``, to float32
    ``(B, embedding_dim)``. torch 2.13 gives the sum whatever the mode: see the errata.

    Examples
    --------
    >>> import pyqref
    >>> m = pyqref.nn.quantized.EmbeddingBag(10, 12, include_last_offset=True, mode="sum")
    >>> indices = pyqref.tensor([9, 6, 5, 7, 8, 8, 9, 2, 8, 6, 6, 9, 1, 6, 8, 8])
    >>> offsets = pyqref.tensor([0, 8, 16])
    >>> m(indices, offsets).size()
    pyqref.Size([2, 12])
    """

    _version = 1

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "sum",
        sparse: bool = False,
        _weight: Tensor | None = None,
        include_last_offset: bool = False,
        dtype: Dtype = dtypes.quint8,
    ) -> None:
        super().__init__(num_embeddings, embedding_dim, _weight=_weight, dtype=dtype)
        self.mode = word(mode, "EmbeddingBag: mode", ("sum", "mean"))
        self.pruned_weights = False
        self.include_last_offset = as_flag(include_last_offset, "include_last_offset")

    def _get_name(self) -> str:
        return "QuantizedEmbeddingBag"

    def forward(
        self,
        indices: Tensor,
        offsets: Tensor | None = None,
        per_sample_weights: Tensor | None = None,
        compressed_indices_mapping: Tensor | None = None,
    ) -> Tensor:
        """The sum, or the mean, of the rows of each bag."""
        wide = self._packed_params.dtype is dtypes.quint8
        total = self._located(
            ops.embedding_bag_byte if wide else ops.embedding_bag_4bit,
            indices,
            offsets,
            False,
            0,
            self.pruned_weights,
            per_sample_weights,
            compressed_indices_mapping,
            self.include_last_offset,
        )
        if self.mode == "sum" or settings.conventions == "torch":
            return total
        if per_sample_weights is not None:
            raise RuntimeError(
                f"{module_path(self) or self._get_name()}: per_sample_weights are for mode='sum'"
            )
        return total / self._lengths(indices, offsets)

    def _lengths(self, indices: Any, offsets: Any) -> Any:
        """Rows in each bag, at least 1, ``(B, 1)``."""
        if indices.dim() == 2:
            return float(max(indices.shape[1], 1))
        lengths = ops.bag_lengths(indices, offsets, self.include_last_offset)
        return lengths.clamp(min=1).reshape(-1, 1)

    @classmethod
    def from_float(cls, mod: AnyModule, use_precomputed_fake_quant: bool = False) -> Self:
        """The quantized layer of an ``nn.EmbeddingBag`` or ``nn.qat.EmbeddingBag``.

        Raises
        ------
        ValueError
            The float layer takes the maximum, or leaves out a ``padding_idx``.
        """
        require_type(cls, mod, (nn.EmbeddingBag, nnqat.EmbeddingBag))
        if mod.padding_idx is not None:
            raise ValueError(
                f"{cls.__name__}.from_float: a quantized bag cannot leave out padding_idx="
                f"{mod.padding_idx}; set it to None, or the qconfig of this layer to None"
            )
        weight = _quantized_table(cls, mod, use_precomputed_fake_quant)
        layer = cls(
            mod.num_embeddings,
            mod.embedding_dim,
            mode=mod.mode,
            include_last_offset=mod.include_last_offset,
            dtype=weight.dtype,
        )
        layer.set_weight(weight)
        return layer

    @classmethod
    def from_reference(cls, ref_embedding_bag: AnyModule) -> Self:
        """The quantized layer of a reference layer."""
        require_members(cls, "from_reference", ref_embedding_bag, "get_quantized_weight")
        return cls(
            ref_embedding_bag.num_embeddings,
            ref_embedding_bag.embedding_dim,
            ref_embedding_bag.max_norm,
            ref_embedding_bag.norm_type,
            ref_embedding_bag.scale_grad_by_freq,
            ref_embedding_bag.mode,
            ref_embedding_bag.sparse,
            ref_embedding_bag.get_quantized_weight(),
            ref_embedding_bag.include_last_offset,
            ref_embedding_bag.weight_dtype,
        )


def _quantized_table(cls: type, mod: Any, precomputed: bool) -> Any:
    """The weight of a float layer, quantized row by row as its observer says."""
    observer = getattr(mod, "weight_fake_quant", None)
    observer = getattr(observer, "activation_post_process", observer)
    if observer is None:
        qconfig = getattr(mod, "qconfig", None)
        if qconfig is None or qconfig.weight is None:
            raise ValueError(
                f"{cls.__name__}.from_float: {type(mod).__name__} has no qconfig with a weight "
                "observer; set mod.qconfig = float_qparams_weight_only_qconfig"
            )
        observer, precomputed = qconfig.weight(), False
    if observer.dtype not in EMBEDDING_DTYPES or observer.qscheme is not (
        dtypes.per_channel_affine_float_qparams
    ):
        raise ValueError(
            f"{cls.__name__}.from_float: the observer of an embedding must have dtype quint8 or "
            "quint4x2 and the scheme per_channel_affine_float_qparams, got "
            f"{observer.dtype} and {observer.qscheme}; use float_qparams_weight_only_qconfig or "
            "float_qparams_weight_only_qconfig_4bit"
        )
    weight = mod.weight.detach().float()
    if not precomputed:
        observer(weight)
    if getattr(mod, "max_norm", None) is not None:
        warn(f"{cls.__name__}: max_norm has no effect on a quantized table", NoEffectWarning)
    scales, zero_points = observer.calculate_qparams()
    table = quantize_per_channel(
        weight, scales.float(), zero_points.float(), int(observer.ch_axis), observer.dtype
    )
    return in_range_of(observer, table)
