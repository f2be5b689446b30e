"""Making one batch of several samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import float64
from ...tensor.base import TensorBase
from ...tensor.creation import as_tensor, tensor
from ...tensor.foreign import is_torch_tensor
from ...tensor.joining import stack

__all__ = ["default_collate", "default_convert"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Put samples together along a new first dimension.

    Tensors (of ``torch`` too) and arrays are stacked, numbers become a tensor, strings stay a
    sequence; in mappings and sequences each entry is put together by itself.

    Parameters
    ----------
    batch
        Samples of one kind.

    Raises
    ------
    TypeError
        A sample is of a type that cannot be put into a tensor.
    RuntimeError
        Samples have different lengths or shapes.

    Examples
    --------
    >>> default_collate([(0, "a"), (1, "b")])
    [tensor([0, 1]), ('a', 'b')]
    """
    first = batch[0]
    if isinstance(first, TensorBase):
        return stack(list(batch), 0)
    if isinstance(first, np.ndarray) or is_torch_tensor(first):
        return default_collate([as_tensor(each) for each in batch])
    if isinstance(first, np.generic):
        return as_tensor(np.asarray(batch))
    if isinstance(first, float):
        return tensor(list(batch), dtype=float64)
    if isinstance(first, int):
        return tensor(list(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        entries = {key: default_collate([each[key] for each in batch]) for key in first}
        return _like(first, entries)
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        if hasattr(first, "_fields"):
            return type(first)(*columns)
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}"
    )


def default_convert(data: Any) -> Any:
    """Make tensors of the arrays in a sample; anything else stays what it is.

    Examples
    --------
    >>> import numpy as np
    >>> default_convert({"image": np.zeros(2, np.float32), "name": "seven"})
    {'image': tensor([0., 0.]), 'name': 'seven'}
    """
    if is_torch_tensor(data) or (isinstance(data, np.ndarray) and data.dtype.kind not in "SUO"):
        return as_tensor(data)
    if isinstance(data, np.generic):
        return as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _like(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(each) for each in data))
    if isinstance(data, tuple):
        return [default_convert(each) for each in data]
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return _like(data, [default_convert(each) for each in data])
    return data


def _like(sample: Any, entries: Any) -> Any:
    """``entries`` in the type of ``sample``, if that type can be made of them."""
    try:
        return type(sample)(entries)
    except TypeError:
        return entries
