"""The encoder of a transformer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from ..._typing import Device, Dtype, Tensor
from .. import functional as F
from .activation import GELU, ReLU
from .arguments import layer_count
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm

__all__ = ["TransformerEncoder", "TransformerEncoderLayer", "activation_function"]


class TransformerEncoderLayer(Module):
    """Self-attention, then two linear layers, each with a shortcut and a layer normalization.

    ``x = norm1(x + attention(x))``, ``x = norm2(x + linear2(activation(linear1(x))))``; with
    ``norm_first`` the normalizations come before attention and linear layers instead.

    Parameters
    ----------
    d_model, nhead
        Features and attention heads.
    dim_feedforward
        Features between the two linear layers.
    dropout
        Probability of dropping in training.
    activation
        ``"relu"``, ``"gelu"``, a function or a module.
    layer_norm_eps
        That of the normalizations.
    batch_first
        The batch is the first dimension, not the second.
    norm_first
        See above.
    bias
        Whether linear layers and normalizations have biases.

    Notes
    -----
    Input and output `(L, N, d_model)`. Source: documentation of
    ``torch.nn.TransformerEncoderLayer``.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16)
    >>> layer(pyqref.zeros(10, 3, 8)).shape
    pyqref.Size([10, 3, 8])
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
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, **options
        )
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **options)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        self.activation = activation_function(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """`(L, N, d_model)` to the same; the masks are those of :class:`MultiheadAttention`."""
        masks = (src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            x = src + self._attend(self.norm1(src), *masks)
            return x + self._feed_forward(self.norm2(x))
        x = self.norm1(src + self._attend(src, *masks))
        return self.norm2(x + self._feed_forward(x))

    def _attend(self, x: Any, mask: Any, key_padding_mask: Any, is_causal: bool) -> Any:
        output, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        return self.dropout1(output)

    def _feed_forward(self, x: Any) -> Any:
        return self.dropout2(self.linear2(self.dropout(self.activation(self.linear1(x)))))


def activation_function(activation: str | Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function of a word, or the function itself."""
    if isinstance(activation, str):
        named: dict[str, Callable[[Any], Any]] = {"relu": F.relu, "gelu": F.gelu}
        if activation not in named:
            raise RuntimeError(f"activation should be relu/gelu, not {activation}")
        return named[activation]
    if not callable(activation):
        raise TypeError(
            "activation must be 'relu', 'gelu', a function or a module such as "
            f"{ReLU.__name__}() or {GELU.__name__}(), got {activation!r}"
        )
    return activation


class TransformerEncoder(Module):
    """``num_layers`` copies of an encoder layer on top of each other.

    Parameters
    ----------
    encoder_layer
        The layer; every copy begins with its parameters.
    num_layers
        How many.
    norm
        A normalization after the last, or None.
    enable_nested_tensor, mask_check
        Without meaning here: there are no nested tensors.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    >>> encoder = pyqref.nn.TransformerEncoder(layer, 2).eval()
    >>> encoder(pyqref.zeros(1, 3, 4)).shape
    pyqref.Size([1, 3, 4])
    """

    __constants__ = ["norm"]

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        num_layers = layer_count(num_layers, "num_layers", 0)
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """`(L, N, d_model)` to the same; the masks are those of :class:`MultiheadAttention`."""
        output = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=bool(is_causal),
            )
        return output if self.norm is None else self.norm(output)
