"""Options with which a layer was made, by name, to make another one like it."""

from __future__ import annotations

from typing import Any

from .._typing import AnyModule, Module

__all__ = ["convolution_options", "embedding_options", "recurrent_options"]


def convolution_options(conv: AnyModule) -> dict[str, Any]:
    """The arguments of a convolution, transposed or not.

    Examples
    --------
    >>> from pyqref import nn
    >>> options = convolution_options(nn.Conv1d(4, 6, 3, stride=2, bias=False))
    >>> nn.Conv1d(**options)
    Conv1d(4, 6, kernel_size=(3,), stride=(2,), bias=False)
    """
    names = ["in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation"]
    names += ["groups", "padding_mode"] + ["output_padding"] * conv.transposed
    return _named(conv, *names) | {"bias": conv.bias is not None}


def embedding_options(table: AnyModule) -> dict[str, Any]:
    """The arguments of an embedding, or of a bag of embeddings, but for the weight.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.EmbeddingBag(**embedding_options(nn.EmbeddingBag(10, 3, mode="sum")))
    EmbeddingBag(10, 3, mode='sum')
    """
    names = ["num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type"]
    names += ["scale_grad_by_freq", "sparse"]
    return _named(
        table, *names, *(["mode", "include_last_offset"] if hasattr(table, "mode") else [])
    )


def recurrent_options(layers: Module) -> dict[str, Any]:
    """The arguments of an LSTM or a GRU.

    Examples
    --------
    >>> from pyqref import nn
    >>> nn.GRU(**recurrent_options(nn.GRU(4, 6, num_layers=2)))
    GRU(4, 6, num_layers=2)
    """
    names = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout")
    return _named(layers, *names, "bidirectional")


def _named(layer: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(layer, name) for name in names}
