"""Attention with several heads."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tensor.arguments import as_flag
from ...tensor.creation import empty
from ...tensor.parameter import Parameter
from .. import functional as F
from .. import init
from .arguments import number, sizes
from .linear import NonDynamicallyQuantizableLinear
from .module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Scaled dot-product attention of ``num_heads`` heads, between linear maps.

    ``concat(head_1, ..., head_h) W_out`` with
    ``head_i = softmax(q_i k_i^T / sqrt(embed_dim / h)) v_i``, where ``q``, ``k``, ``v`` are linear
    maps of the inputs, cut into heads.

    Parameters
    ----------
    embed_dim
        Features of query and output, divisible by ``num_heads``.
    num_heads
        The heads.
    dropout
        Probability of dropping an attention weight in training.
    bias
        Whether the linear maps have biases.
    add_bias_kv, add_zero_attn
        Append a learned key and value, or one of zeros.
    kdim, vdim
        Features of key and value, ``embed_dim`` by default.
    batch_first
        The batch is the first dimension of the inputs and the output, not the second.

    Attributes
    ----------
    in_proj_weight, in_proj_bias : Parameter or None
        The three input maps below each other, `(3 embed_dim, embed_dim)` and `(3 embed_dim,)`.
    q_proj_weight, k_proj_weight, v_proj_weight : Parameter or None
        In place of ``in_proj_weight`` if ``kdim`` or ``vdim`` is not ``embed_dim``.
    out_proj : Linear
        The output map.

    Notes
    -----
    Source: documentation of ``torch.nn.MultiheadAttention``; arXiv 1706.03762.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(5, 2, 8)
    >>> output, weights = pyqref.nn.MultiheadAttention(8, 4)(x, x, x)
    >>> output.shape, weights.shape
    (pyqref.Size([5, 2, 8]), pyqref.Size([2, 5, 5]))
    """

    in_proj_weight: Parameter
    in_proj_bias: Parameter
    q_proj_weight: Parameter
    k_proj_weight: Parameter
    v_proj_weight: Parameter
    bias_k: Parameter
    bias_v: Parameter

    __constants__ = ["batch_first"]

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        embed_dim, num_heads, kdim, vdim = sizes(
            embed_dim=embed_dim,
            num_heads=num_heads,
            kdim=embed_dim if kdim is None else kdim,
            vdim=embed_dim if vdim is None else vdim,
        )
        bias, add_bias_kv = as_flag(bias, "bias"), as_flag(add_bias_kv, "add_bias_kv")
        if embed_dim == 0 or num_heads == 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        if embed_dim % num_heads != 0:
            raise ValueError(
                f"embed_dim must be divisible by num_heads, got {embed_dim} and {num_heads}"
            )
        self.embed_dim = embed_dim
        self.kdim = kdim
        self.vdim = vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = number(dropout, "dropout")
        self.batch_first = as_flag(batch_first, "batch_first")
        self.head_dim = embed_dim // num_heads
        same = self._qkv_same_embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": None if same else (embed_dim, embed_dim),
            "k_proj_weight": None if same else (embed_dim, self.kdim),
            "v_proj_weight": None if same else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if same else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        if same:
            shapes = {"in_proj_weight": shapes.pop("in_proj_weight"), **shapes}
        self._make_parameters(shapes, device, dtype)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        extra = (1, 1, embed_dim) if add_bias_kv else None
        self._make_parameters({"bias_k": extra, "bias_v": extra}, device, dtype)
        self.add_zero_attn = as_flag(add_zero_attn, "add_zero_attn")
        self._reset_parameters()

    def _make_parameters(
        self, shapes: dict[str, tuple[int, ...] | None], device: Any, dtype: Any
    ) -> None:
        for name, shape in shapes.items():
            value = None
            if shape is not None:
                value = Parameter(empty(shape, device=device, dtype=dtype))
            self.register_parameter(name, value)

    def _reset_parameters(self) -> None:
        """Draw the parameters anew; biases are zeros."""
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            for weight in (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Parameters
        ----------
        query
            Shape `(L, N, embed_dim)`, `(N, L, embed_dim)` with ``batch_first``, or
            `(L, embed_dim)`.
        key, value
            Likewise with length ``S`` and ``kdim``, ``vdim`` features.
        key_padding_mask
            Shape `(N, S)`: booleans, True for a key that is hidden, or numbers to add.
        need_weights
            Also return the weights.
        attn_mask
            Shape `(L, S)` or `(N num_heads, L, S)`: booleans, True where attention is
            forbidden, or numbers to add.
        average_attn_weights
            Return the mean of the heads' weights instead of all of them.
        is_causal
            A hint that ``attn_mask`` is the causal one.

        Returns
        -------
        tuple of Tensor
            The output, like ``query``, and the weights `(N, L, S)` or
            `(N, num_heads, L, S)`, None unless ``need_weights``.
        """
        transposed = self.batch_first and query.ndim == 3
        if transposed:
            if query is key and key is value:
                query = key = value = query.transpose(0, 1)
            else:
                query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(0, 1) if transposed else output), weights
