"""Names for annotations, as ``torch.types`` has them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Union

from .dtypes import device, dtype, layout
from .tensor import Size, Tensor

__all__ = ["Device", "FileLike", "IntLikeType", "Number", "Storage"]

Number = Union[int, float, bool]  # noqa: UP007 (read at run time)
IntLikeType = int
_device, _dtype, _layout = device, dtype, layout
Device = Union[device, str, int, None]  # noqa: UP007
FileLike = Union[str, os.PathLike[str], Any]  # noqa: UP007
Storage = Any

_bool, _int, _float = bool, int, float
_size = Union[Size, list[int], tuple[int, ...]]  # noqa: UP007
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]  # noqa: UP007
