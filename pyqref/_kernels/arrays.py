"""How kernels see arrays: the functions of :mod:`.layout`, compiled where they were built."""

from __future__ import annotations

try:
    from ._layout import (
        contiguous,
        dense,
        elements_per_channel,
        empty,
        images,
        in_one_order,
        in_result_order,
        laid_as,
        output_like,
        side_by_side,
    )
except ModuleNotFoundError:  # not if it was built from other sources than these
    from .layout import (
        contiguous,
        dense,
        elements_per_channel,
        empty,
        images,
        in_one_order,
        in_result_order,
        laid_as,
        output_like,
        side_by_side,
    )

__all__ = [
    "contiguous",
    "dense",
    "elements_per_channel",
    "empty",
    "images",
    "in_one_order",
    "in_result_order",
    "laid_as",
    "output_like",
    "side_by_side",
]
