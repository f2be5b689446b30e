"""Embedding layers: tables whose rows are looked up."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tape import no_grad
from ...tensor.arguments import as_flag, as_integer
from ...tensor.creation import empty
from ...tensor.dispatch import require_tensor
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import number, sizes, word
from .module import Module

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """A table with a row for each of ``num_embeddings`` indices."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _make_weight(self, given: Any, freeze: bool, device: Any, dtype: Any) -> None:
        """The table: drawn from a normal distribution with row ``padding_idx`` zero, or given."""
        rows, columns = self.num_embeddings, self.embedding_dim
        if self.padding_idx is not None:
            self.padding_idx = as_integer(self.padding_idx, "padding_idx")
            if not -rows <= self.padding_idx < rows:
                raise ValueError(
                    f"padding_idx must be within num_embeddings, in [{-rows}, {rows}), "
                    f"got {self.padding_idx}"
                )
            self.padding_idx %= rows
        if given is None:
            table = empty((rows, columns), device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not freeze)
            self.reset_parameters()
            return
        require_tensor(type(self).__name__, "_weight", given)
        if list(given.shape) != [rows, columns]:
            raise ValueError(
                f"Shape of weight does not match num_embeddings and embedding_dim: expected "
                f"{[rows, columns]}, got {list(given.shape)}"
            )
        self.weight = Parameter(given, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw the table anew."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """A table of vectors, looked up by index.

    Parameters
    ----------
    num_embeddings, embedding_dim
        Number of rows and their length.
    padding_idx
        A row that starts as zeros and gets no gradient.
    max_norm, norm_type
        Rows that are looked up and whose norm is above ``max_norm`` are scaled to it.
    scale_grad_by_freq
        Divide the gradient of a row by the number of times that it was looked up.
    sparse
        Without effect: gradients are dense here; a warning says so.

    Attributes
    ----------
    weight : Parameter
        Shape `(num_embeddings, embedding_dim)`, standard normal at first.

    Notes
    -----
    Input integers `(*)`, output `(*, embedding_dim)`.
    Source: documentation of ``torch.nn.Embedding``.

    Examples
    --------
    >>> import pyqref
    >>> table = pyqref.tensor([[1.0, 2.3, 3.0], [4.0, 5.1, 6.3]])
    >>> pyqref.nn.Embedding.from_pretrained(table)(pyqref.tensor([1])).shape
    pyqref.Size([1, 3])
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "padding_idx",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "sparse",
    ]

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
        _freeze: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = sizes(
            num_embeddings=num_embeddings, embedding_dim=embedding_dim
        )
        self.padding_idx = padding_idx
        self.max_norm = None if max_norm is None else number(max_norm, "max_norm")
        self.norm_type = number(norm_type, "norm_type")
        self.scale_grad_by_freq = as_flag(scale_grad_by_freq, "scale_grad_by_freq")
        self.sparse = as_flag(sparse, "sparse")
        self._make_weight(_weight, _freeze, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """`(*)` to `(*, embedding_dim)`."""
        return F.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    def extra_repr(self) -> str:
        """The sizes, and what differs from its default."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse is not False:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Module:
        """A layer with this table, `(num_embeddings, embedding_dim)`, not trained if ``freeze``."""
        _require_table(embeddings)
        return cls(
            num_embeddings=embeddings.shape[0],
            embedding_dim=embeddings.shape[1],
            _weight=embeddings,
            _freeze=freeze,
            padding_idx=padding_idx,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            sparse=sparse,
        )


def _require_table(embeddings: Any) -> None:
    require_tensor("from_pretrained", "embeddings", embeddings)
    if embeddings.ndim != 2:
        raise ValueError(
            f"Embeddings parameter is expected to be 2-dimensional, got {embeddings.ndim}"
        )


class EmbeddingBag(_Table):
    """Sum, mean or maximum of the rows of each bag of indices.

    Parameters
    ----------
    num_embeddings, embedding_dim, max_norm, norm_type, scale_grad_by_freq, sparse
        As for :class:`Embedding`.
    mode
        ``"sum"``, ``"mean"`` or ``"max"``.
    include_last_offset
        The offsets have one entry more than there are bags, the end of the last.
    padding_idx
        Entries with this index are left out.

    Notes
    -----
    Input integers `(B, n)`, or `(total,)` with offsets `(B,)`; output `(B, embedding_dim)`, zeros
    for an empty bag. ``torch`` scales by the wrong counts with ``scale_grad_by_freq``.
    Source: documentation of ``torch.nn.EmbeddingBag``.

    Examples
    --------
    >>> import pyqref
    >>> table = pyqref.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> bag = pyqref.nn.EmbeddingBag.from_pretrained(table, mode="sum")
    >>> bag(pyqref.tensor([0, 1, 1]), pyqref.tensor([0, 2])).tolist()
    [[4.0, 6.0], [3.0, 4.0]]
    """

    __constants__ = [
        "num_embeddings",
        "embedding_dim",
        "max_norm",
        "norm_type",
        "scale_grad_by_freq",
        "mode",
        "sparse",
        "include_last_offset",
        "padding_idx",
    ]

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
    ) -> None:
        super().__init__()
        self.num_embeddings, self.embedding_dim = sizes(
            num_embeddings=num_embeddings, embedding_dim=embedding_dim
        )
        self.max_norm = None if max_norm is None else number(max_norm, "max_norm")
        self.norm_type = number(norm_type, "norm_type")
        self.scale_grad_by_freq = as_flag(scale_grad_by_freq, "scale_grad_by_freq")
        self.padding_idx = padding_idx
        self._make_weight(_weight, False, device, dtype)
        self.mode = word(mode, "mode", ("sum", "mean", "max"))
        self.sparse = as_flag(sparse, "sparse")
        self.include_last_offset = as_flag(include_last_offset, "include_last_offset")

    def forward(
        self, input: Tensor, offsets: Tensor | None = None, per_sample_weights: Tensor | None = None
    ) -> Tensor:
        """`(B, n)`, or `(total,)` with offsets, to `(B, embedding_dim)`."""
        return F.embedding_bag(
            input,
            self.weight,
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

    def extra_repr(self) -> str:
        """The sizes, and what differs from its default."""
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Module:
        """A layer with this table, `(num_embeddings, embedding_dim)`, not trained if ``freeze``."""
        _require_table(embeddings)
        bag = cls(
            num_embeddings=embeddings.shape[0],
            embedding_dim=embeddings.shape[1],
            _weight=embeddings,
            max_norm=max_norm,
            norm_type=norm_type,
            scale_grad_by_freq=scale_grad_by_freq,
            mode=mode,
            sparse=sparse,
            include_last_offset=include_last_offset,
            padding_idx=padding_idx,
        )
        bag.weight.requires_grad = not freeze
        return bag
