"""Packed weights of torch, which its files hold as objects of C++ classes: the tensors in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensor.base import TensorBase
from .inert import short

if TYPE_CHECKING:
    from .values import Builder

__all__ = ["script_object"]

_CLASSES = "__torch__.torch.classes."
_PACKED = ("Linear", "Conv1d", "Conv2d", "Conv3d")


def script_object(builder: Builder, name: str, state: object, where: str) -> object:
    """The weights that an object holds, as ``state_dict`` of pyqref has them.

    Parameters
    ----------
    builder
        Makes the tensors.
    name
        Class of the object, such as ``__torch__.torch.classes.quantized.LinearPackedParamsBase``.
    state
        Its state, inert. Of a linear layer the pair of weight and bias; of a convolution its
        geometry and tensors, in a layout that changed between releases; of an embedding the
        table; of a recurrent layer its two products.
    where
        The place in the file.

    Returns
    -------
    tuple or Tensor
        ``(weight, bias)``; the table; ``(weight_ih, bias_ih, weight_hh, bias_hh)``.
    """
    kind = name.removeprefix(_CLASSES)
    known = {f"quantized.{each}PackedParamsBase" for each in _PACKED}
    if kind not in known | {"quantized.EmbeddingPackedParamsBase", "rnn.CellParamsBase"}:
        builder.refuse(where, f"is an object of the class {name[:200]}, which is not read")
    if kind == "rnn.CellParamsBase":
        products = state[4] if isinstance(state, tuple) and len(state) == 5 else None
        made = builder.build(products, where, 1)
        if not isinstance(made, list) or len(made) != 2 or not all(map(_is_pair, made)):
            builder.refuse(where, f"has the packed products {short(made)}")
        return (*made[0], *made[1])
    tensors = list(_tensors(builder.build(state, where, 1)))
    if kind.startswith("quantized.Embedding"):
        if len(tensors) != 1:
            builder.refuse(where, f"has {len(tensors)} tables")
        return tensors[0]
    if kind.startswith("quantized.Linear"):
        weights, biases = tensors[:1], tensors[1:]
    else:
        weights = [each for each in tensors if each.is_quantized]
        biases = [each for each in tensors if not each.is_quantized and each.is_floating_point()]
    if len(weights) != 1 or len(biases) > 1:
        builder.refuse(where, f"has {len(weights)} packed weights and {len(biases)} biases")
    return weights[0], biases[0] if biases else None


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 2
        and isinstance(value[0], TensorBase)
        and (value[1] is None or isinstance(value[1], TensorBase))
    )


def _tensors(value: Any) -> Any:
    """The tensors in nested lists and tuples."""
    if isinstance(value, TensorBase):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)
