"""Attention with masks that are functions, which ``torch`` compiles: named, for signatures."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

__all__ = ["AuxRequest", "BlockMask", "create_block_mask", "flex_attention"]

#: Rows and columns of a block, as in torch.
_DEFAULT_SPARSE_BLOCK_SIZE = 128


def _refused(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name}: masks are tensors here; give scaled_dot_product_attention an attn_mask"
    )


class AuxRequest(NamedTuple):
    """Request for additional results of attention.

    Examples
    --------
    >>> AuxRequest(lse=True).max_scores
    False
    """

    lse: bool = False
    max_scores: bool = False


class BlockMask:
    """Refused when one is made. Signatures may name it.

    Examples
    --------
    >>> BlockMask()
    Traceback (most recent call last):
        ...
    NotImplementedError: BlockMask: masks are tensors here; give scaled_dot_product_attention ...
    """

    def __init__(self, *_: object, **__: object) -> None:
        raise _refused("BlockMask")


def create_block_mask(*_: object, **__: object) -> BlockMask:
    """Refused: see :class:`BlockMask`.

    Examples
    --------
    >>> create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 4, 4)
    Traceback (most recent call last):
        ...
    NotImplementedError: create_block_mask: masks are tensors here; give ...
    """
    raise _refused("create_block_mask")


def flex_attention(*_: object, **__: object) -> NoReturn:
    """Refused: see :class:`BlockMask`.

    Examples
    --------
    >>> flex_attention()
    Traceback (most recent call last):
        ...
    NotImplementedError: flex_attention: masks are tensors here; give ...
    """
    raise _refused("flex_attention")
