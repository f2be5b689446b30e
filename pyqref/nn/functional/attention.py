"""Scaled dot-product attention, and attention with several heads."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pyqref import _kernels

from ..._typing import Tensor
from ...tape.attention import Attention
from ...tensor.base import wrap
from ...tensor.dispatch import apply
from ...tensor.joining import cat
from ...tensor.wrong_arguments import explain_errors
from .checks import require, require_floating, shape_text
from .dropout import dropout
from .linear import linear
from .padding import pad
from .softmax import softmax

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]


def _is_bool(mask: Any) -> bool:
    return bool(mask._array.dtype.kind == "b")


def as_bias(mask: Tensor | None, like: Tensor, *, masked: bool) -> Tensor | None:
    """A boolean mask as numbers to add to scores: minus infinity where it equals ``masked``."""
    if mask is None or not _is_bool(mask):
        return mask
    dtype = like._array.dtype
    hidden = mask._array if masked else ~mask._array
    return wrap(np.where(hidden, dtype.type(-np.inf), dtype.type(0)))


def causal_mask(queries: int, keys: int) -> Tensor:
    """Boolean mask, True where a query may look: at keys not after it."""
    return wrap(np.tril(np.ones((queries, keys), dtype=np.bool_)))


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """``softmax(query @ key^T * scale + mask) @ value``.

    Parameters
    ----------
    query
        Shape `(*, L, E)`.
    key, value
        Shapes `(*, S, E)` and `(*, S, E_v)`.
    attn_mask
        Broadcast to `(*, L, S)`: booleans, True where attention is allowed, or numbers to add.
    dropout_p
        Probability of dropping an attention weight (always, also outside training).
    is_causal
        A query looks only at keys that are not after it.
    scale
        ``1 / sqrt(E)`` by default.
    enable_gqa
        Repeat the heads (third dimension from the end) of key and value to those of query.

    Returns
    -------
    Tensor
        Shape `(*, L, E_v)`. A query that may look nowhere gives zeros.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> query, key = pyqref.tensor([[100.0, 0.0]]), pyqref.tensor([[100.0, 0.0], [0.0, 100.0]])
    >>> F.scaled_dot_product_attention(query, key, pyqref.tensor([[1.0], [2.0]])).tolist()
    [[1.0]]
    """
    for name, each in (("query", query), ("key", key), ("value", value)):
        require_floating("scaled_dot_product_attention", name, each)
    require(
        query.ndim >= 2 and query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2],
        "scaled_dot_product_attention(): expected query [*, L, E], key [*, S, E] and value "
        f"[*, S, E_v], got {shape_text(query)}, {shape_text(key)} and {shape_text(value)}",
    )
    require(
        not (is_causal and attn_mask is not None),
        "scaled_dot_product_attention(): attn_mask must be None with is_causal=True",
    )
    if enable_gqa:
        repeats = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(repeats, -3)
        value = value.repeat_interleave(repeats, -3)
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    bias = as_bias(attn_mask, query, masked=False)
    if not dropout_p and _is_covered(query, key, value, bias):
        return apply(Attention, query, key, value, bias, is_causal, scale)
    if is_causal:
        bias = as_bias(causal_mask(query.shape[-2], key.shape[-2]), query, masked=False)
    scores = (query * scale) @ key.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
        weights = softmax(scores, -1)
        nowhere = np.isneginf(scores._array).all(axis=-1, keepdims=True)
        if nowhere.any():
            weights = weights.masked_fill(wrap(nowhere), 0.0)
    else:
        weights = softmax(scores, -1)
    return dropout(weights, dropout_p) @ value


def _is_covered(query: Any, key: Any, value: Any, bias: Any) -> bool:
    """Return True if attention is one operation: the bias, if any, broadcasts to the scores."""
    shape = (*query.shape[:-1], key.shape[-2])
    if bias is not None and not _broadcasts(tuple(bias.shape), shape):
        return False
    arrays: list[Any] = [
        None if each is None else each._array for each in (query, key, value, bias)
    ]
    return _kernels.is_attention_covered(*arrays)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    last = zip(reversed(shape), reversed(to), strict=False)
    return len(shape) <= len(to) and all(each in (1, other) for each, other in last)


class Projections(NamedTuple):
    """Query, key and value after their linear maps, `(length, batch, embedding)`."""

    query: Any
    key: Any
    value: Any


def _project(
    query: Any,
    key: Any,
    value: Any,
    in_proj_weight: Any,
    in_proj_bias: Any,
    separate: tuple[Any, Any, Any] | None,
) -> Projections:
    biases = (None,) * 3 if in_proj_bias is None else in_proj_bias.chunk(3)
    if separate is None:
        if query is key and key is value:
            return Projections(*linear(query, in_proj_weight, in_proj_bias).chunk(3, -1))
        separate = in_proj_weight.chunk(3)
    inputs = zip((query, key, value), separate, biases, strict=True)
    return Projections(*(linear(x, weight, bias) for x, weight, bias in inputs))


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, between linear maps; see ``nn.MultiheadAttention``.

    ``query`` is `(L, N, E)` or `(L, E)`, ``key`` and ``value`` `(S, N, E)` or `(S, E)`.
    ``attn_mask`` `(L, S)` or `(N * heads, L, S)` and ``key_padding_mask`` `(N, S)` or `(S,)` are
    booleans, True where attention is *forbidden*, or numbers to add. Returns the output
    `(L, N, E)` and the attention weights `(N, L, S)` (of each head `(N, heads, L, S)` unless
    ``average_attn_weights``), None unless ``need_weights``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> layer, x = pyqref.nn.MultiheadAttention(4, 2), pyqref.randn(3, 1, 4)
    >>> maps = layer.in_proj_weight, layer.in_proj_bias
    >>> last = layer.out_proj.weight, layer.out_proj.bias
    >>> y, _ = F.multi_head_attention_forward(x, x, x, 4, 2, *maps, None, None, False, 0.0, *last)
    >>> pyqref.equal(y, layer(x, x, x)[0])
    True
    """
    batched = query.ndim == 3
    require(
        query.ndim in (2, 3) and key.ndim == value.ndim == query.ndim,
        "query, key and value must all be 2-D (unbatched) or 3-D (batched), got "
        f"{shape_text(query)}, {shape_text(key)} and {shape_text(value)}",
    )
    require(
        query.shape[-1] == embed_dim_to_check,
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {query.shape[-1]}",
    )
    require(
        key.shape[0] == value.shape[0],
        f"key {shape_text(key)} and value {shape_text(value)} must have the same length",
    )
    require(
        not is_causal or attn_mask is not None,
        "Need attn_mask if specifying the is_causal hint.",
    )
    same = query is key and key is value
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        if same:
            key = value = query
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, embed_dim = query.shape
    head_dim = embed_dim // num_heads
    separate = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, separate)
    bias = as_bias(attn_mask, q, masked=True)
    if bias is not None and bias.ndim == 3:
        bias = bias.reshape(batch, num_heads, *bias.shape[1:])
    padding = as_bias(key_padding_mask, q, masked=True)
    if padding is not None:
        require(
            tuple(padding.shape) == (batch, k.shape[0]),
            f"expecting key_padding_mask shape of {[batch, k.shape[0]]}, but got "
            f"{shape_text(padding)}",
        )
        padding = padding.reshape(batch, 1, 1, -1)
        bias = padding if bias is None else bias + padding
    if bias_k is not None and bias_v is not None:
        k = _append(k, bias_k.expand(1, batch, embed_dim))
        v = _append(v, bias_v.expand(1, batch, embed_dim))
        bias = None if bias is None else pad(bias, (0, 1))
    q = q.reshape(length, batch, num_heads, head_dim).permute(1, 2, 0, 3)
    k = _heads(k, batch, num_heads, head_dim) if static_k is None else _given(static_k, batch)
    v = _heads(v, batch, num_heads, head_dim) if static_v is None else _given(static_v, batch)
    if add_zero_attn:
        zeros = q.new_zeros((batch, num_heads, 1, head_dim))
        k, v = _append(k, zeros, 2), _append(v, zeros, 2)
        bias = None if bias is None else pad(bias, (0, 1))
    if need_weights:
        scores = (q * math.sqrt(1.0 / head_dim)) @ k.transpose(-2, -1)
        weights = softmax(scores if bias is None else scores + bias, -1)
        weights = dropout(weights, dropout_p, training)
        mixed = weights @ v
    else:
        mixed = scaled_dot_product_attention(q, k, v, bias, dropout_p if training else 0.0)
    mixed = mixed.permute(2, 0, 1, 3).reshape(length, batch, embed_dim)
    output = linear(mixed, out_proj_weight, out_proj_bias)
    if not need_weights:
        return (output if batched else output.squeeze(1)), None
    if average_attn_weights:
        weights = weights.mean(dim=1)
    return (output, weights) if batched else (output.squeeze(1), weights.squeeze(0))


def _append(x: Any, last: Any, dim: int = 0) -> Any:
    return cat([x, last], dim)


def _heads(x: Any, batch: int, num_heads: int, head_dim: int) -> Any:
    """`(S, N, E)` to `(N, heads, S, head_dim)`."""
    return x.reshape(x.shape[0], batch, num_heads, head_dim).permute(1, 2, 0, 3)


def _given(x: Any, batch: int) -> Any:
    """`(N * heads, S, head_dim)` to `(N, heads, S, head_dim)`."""
    return x.reshape(batch, -1, *x.shape[1:])


explain_errors(globals())
