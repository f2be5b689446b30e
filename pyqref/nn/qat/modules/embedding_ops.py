"""Embedding tables of quantization-aware training."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref import dtypes
from pyqref._typing import AnyModule, Device, Dtype, QConfigLike, Self, Tensor
from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.nn.layer_options import embedding_options
from pyqref.nn.modules import Module

from .utils import make_weight_fake_quant, qconfig_of

__all__ = ["Embedding", "EmbeddingBag"]


def _fake_quant(layer: Any, qconfig: Any) -> Any:
    """The fake quantizer of a table, which must have float zero points."""
    made: Any = make_weight_fake_quant(layer, qconfig)
    if made.qscheme is not dtypes.per_channel_affine_float_qparams:
        raise ValueError(
            f"nn.qat.{type(layer).__name__}: the weight must be fake-quantized with the scheme "
            f"per_channel_affine_float_qparams, got {made.qscheme}; use "
            "default_embedding_qat_qconfig"
        )
    return made


class Embedding(nn.Embedding):
    r"""A table that is looked up after its rows were fake-quantized.

    .. math:: y = \mathrm{fq}(W)_{index}

    Parameters
    ----------
    num_embeddings, embedding_dim, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse
        As of :class:`pyqref.nn.Embedding`.
    _weight
        The table to begin with.
    qconfig : QConfig
        Its ``weight`` makes the fake quantizer, with float zero points, such as
        ``default_embedding_qat_qconfig``.

    Attributes
    ----------
    weight : Parameter
        The float master table.
    weight_fake_quant : Module
        Rounds the table in ``forward``; gradients pass straight through.

    Raises
    ------
    ValueError
        There is no qconfig, or its weights do not have float zero points.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.default_embedding_qat_qconfig
    >>> m = pyqref.nn.qat.Embedding(10, 12, qconfig=qconfig)
    >>> m(pyqref.tensor([1, 5])).shape
    pyqref.Size([2, 12])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = nn.Embedding

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
        qconfig: QConfigLike | None = None,
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
        self.qconfig = qconfig
        self.weight_fake_quant = _fake_quant(self, qconfig)

    def forward(self, input: Tensor) -> Tensor:
        """Rows of the fake-quantized table."""
        return F.embedding(
            input,
            self.weight_fake_quant(self.weight),
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_float(
        cls,
        mod: AnyModule,
        qconfig: QConfigLike | None = None,
        use_precomputed_fake_quant: bool = False,
    ) -> Self:
        """Return the layer for quantization-aware training, with the same parameter."""
        qconfig = qconfig_of(cls, mod, (cls._FLOAT_MODULE,), qconfig)
        layer = cls(**embedding_options(mod), _weight=mod.weight.detach(), qconfig=qconfig)
        layer.weight = mod.weight
        return layer.train(mod.training)

    def to_float(self) -> nn.Embedding:
        """The float layer with a copy of the trained table."""
        layer = nn.Embedding(**embedding_options(self), _weight=self.weight.detach().clone())
        return layer.train(self.training)


class EmbeddingBag(nn.EmbeddingBag):
    r"""Sums of rows of a table that was fake-quantized.

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, mode, sparse
        As of :class:`pyqref.nn.EmbeddingBag`.
    _weight
        The table to begin with.
    include_last_offset, padding_idx
        As of :class:`pyqref.nn.EmbeddingBag`.
    qconfig : QConfig
        As of :class:`Embedding`.

    Raises
    ------
    ValueError
        There is no qconfig, or its weights do not have float zero points.

    Examples
    --------
    >>> import pyqref
    >>> qconfig = pyqref.quantization.default_embedding_qat_qconfig
    >>> m = pyqref.nn.qat.EmbeddingBag(10, 12, mode="sum", qconfig=qconfig)
    >>> m(pyqref.tensor([[1, 5]])).shape
    pyqref.Size([1, 12])
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = nn.EmbeddingBag

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
        qconfig: QConfigLike | None = None,
        device: Device = None,
        dtype: Dtype | None = None,
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
            device=device,
            dtype=dtype,
        )
        self.qconfig = qconfig
        self.weight_fake_quant = _fake_quant(self, qconfig)

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """Bags of rows of the fake-quantized table."""
        return F.embedding_bag(
            input,
            self.weight_fake_quant(self.weight),
            offsets,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.mode,
            self.sparse,
            per_sample_weights,
            self.include_last_offset,
            self.padding_idx,
        )

    @classmethod
    def from_float(
        cls,
        mod: AnyModule,
        qconfig: QConfigLike | None = None,
        use_precomputed_fake_quant: bool = False,
    ) -> Self:
        """Convert a float layer for quantization-aware training; both share the parameter."""
        qconfig = qconfig_of(cls, mod, (cls._FLOAT_MODULE,), qconfig)
        layer = cls(**embedding_options(mod), _weight=mod.weight.detach(), qconfig=qconfig)
        layer.weight = mod.weight
        return layer.train(mod.training)

    def to_float(self) -> nn.EmbeddingBag:
        """The float layer with a copy of the trained table."""
        layer = nn.EmbeddingBag(**embedding_options(self), _weight=self.weight.detach().clone())
        return layer.train(self.training)
