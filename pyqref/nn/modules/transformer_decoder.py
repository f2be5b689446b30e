"""The decoder of a transformer, and the two together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from ..._typing import Device, Dtype, Tensor
from ...tensor.creation import full
from .. import functional as F
from .. import init
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm
from .transformer import TransformerEncoder, TransformerEncoderLayer, activation_function

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer"]


class TransformerDecoderLayer(Module):
    """Self-attention, attention to a memory, and two linear layers.

    Each has a shortcut and a layer normalization: ``x = norm1(x + attention(x, x))``,
    ``x = norm2(x + attention(x, memory))``,
    ``x = norm3(x + linear2(activation(linear1(x))))``; with ``norm_first`` the normalizations
    come before attention and linear layers instead.

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation
        See :class:`TransformerEncoderLayer`.
    layer_norm_eps, batch_first, norm_first, bias
        See :class:`TransformerEncoderLayer`.

    Notes
    -----
    Target and output `(T, N, d_model)`, memory `(S, N, d_model)`. Source: documentation of
    ``torch.nn.TransformerDecoderLayer``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(pyqref.zeros(5, 3, 8), pyqref.zeros(10, 3, 8)).shape
    pyqref.Size([5, 3, 8])
    """

    __constants__ = ["norm_first"]

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        layer_norm_eps: float = 1e-05,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        attention: dict[str, Any] = {"dropout": dropout, "batch_first": batch_first, **options}
        self.self_attn = MultiheadAttention(d_model, nhead, **attention)
        self.multihead_attn = MultiheadAttention(d_model, nhead, **attention)
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.norm3 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.dropout3 = Dropout(dropout)
        self.activation = activation_function(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`(T, N, d_model)` to the same; the masks are those of :class:`MultiheadAttention`."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        if self.norm_first:
            y = self.norm1(tgt)
            x = tgt + self.dropout1(_attend(self.self_attn, y, y, *own))
            x = x + self.dropout2(_attend(self.multihead_attn, self.norm2(x), memory, *other))
            return x + self._feed_forward(self.norm3(x))
        x = self.norm1(tgt + self.dropout1(_attend(self.self_attn, tgt, tgt, *own)))
        x = self.norm2(x + self.dropout2(_attend(self.multihead_attn, x, memory, *other)))
        return self.norm3(x + self._feed_forward(x))

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout3(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def _attend(
    attention: Any, query: Any, memory: Any, mask: Any, key_padding_mask: Any, is_causal: bool
) -> Any:
    output, _ = attention(
        query,
        memory,
        memory,
        attn_mask=mask,
        key_padding_mask=key_padding_mask,
        need_weights=False,
        is_causal=is_causal,
    )
    return output


class TransformerDecoder(Module):
    """``num_layers`` copies of a decoder layer on top of each other.

    Parameters
    ----------
    decoder_layer
        The layer; every copy begins with its parameters.
    num_layers
        How many.
    norm
        A normalization after the last, or None.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.TransformerDecoderLayer(4, 2, 8, batch_first=True)
    >>> decoder = pyqref.nn.TransformerDecoder(layer, 2).eval()
    >>> decoder(pyqref.zeros(1, 3, 4), pyqref.zeros(1, 5, 4)).shape
    pyqref.Size([1, 3, 4])
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`(T, N, d_model)` to the same; the masks are those of :class:`MultiheadAttention`."""
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder, and a decoder that attends to what it gives (Vaswani et al., 2017).

    Parameters
    ----------
    d_model, nhead, dim_feedforward, dropout, activation
        See :class:`TransformerEncoderLayer`.
    num_encoder_layers, num_decoder_layers
        How many layers each has.
    custom_encoder, custom_decoder
        Used in their place.
    layer_norm_eps, batch_first, norm_first, bias
        See :class:`TransformerEncoderLayer`.

    Notes
    -----
    Parameters of two dimensions are drawn by Glorot's rule. Source: documentation of
    ``torch.nn.Transformer``.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.nn.Transformer(8, 2, 1, 1, dim_feedforward=16, batch_first=True)
    >>> model(pyqref.zeros(1, 10, 8), pyqref.zeros(1, 5, 8)).shape
    pyqref.Size([1, 5, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Any], Any] = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-05,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: Dtype | None = None,
    ) -> None:
        super().__init__()
        options: dict[str, Any] = {"bias": bias, "device": device, "dtype": dtype}
        arguments = (d_model, nhead, dim_feedforward, dropout, activation)
        more = (layer_norm_eps, batch_first, norm_first)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, **options)

        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*arguments, *more, **options)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*arguments, *more, **options)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Sources `(S, N, d_model)` and targets `(T, N, d_model)` to `(T, N, d_model)`."""
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model, got "
                f"{src.shape[-1]} and {tgt.shape[-1]} for d_model={self.d_model}"
            )
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError(
                "the batch number of src and tgt must be equal, got "
                f"{src.shape[batch]} and {tgt.shape[batch]}"
            )
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device = None, dtype: Dtype | None = None
    ) -> Tensor:
        """A mask that hides the future: `(sz, sz)`, -inf above the diagonal and 0 elsewhere.

        Examples
        --------
        >>> import pyqref
        >>> pyqref.nn.Transformer.generate_square_subsequent_mask(2).tolist()
        [[0.0, -inf], [0.0, 0.0]]
        """
        return full((sz, sz), -math.inf, device=device, dtype=dtype).triu(1)
