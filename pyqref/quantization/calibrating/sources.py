"""From a loader, an iterator, arrays or a folder of images to batches of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from pyqref.tensor.foreign import kind_of
from pyqref.tensor.tensor import Tensor

__all__ = ["SUFFIXES", "batches_of", "grouped"]

#: Files of a folder that are images.
SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")


def batches_of(
    data: object, batch_size: int, transform: Callable[[Any], Any] | None
) -> Iterator[Any]:
    """Yield the batches of ``data``, in an order that does not vary.

    Raises
    ------
    TypeError
        ``data`` is nothing that can be taken apart, or ``transform`` has no effect on it.
    ValueError
        There is no folder of this name, or no image in it.
    """
    if isinstance(data, str | PathLike):
        return _images(Path(fspath(data)), transform)
    if transform is not None:
        raise TypeError(
            "calibrate: transform is for a folder of images; apply it in your own iterator "
            f"instead, got data of type {kind_of(data)}"
        )
    if isinstance(data, np.ndarray | Tensor):
        if not data.ndim:
            raise TypeError("calibrate: data must have a first axis of examples, got one number")
        return (data[start : start + batch_size] for start in range(0, len(data), batch_size))
    if isinstance(data, Iterable) and not isinstance(data, Mapping):
        return iter(data)
    raise TypeError(
        "calibrate: data must be a DataLoader, an iterator of batches, an array or a tensor of "
        f"examples, or the path of a folder of images, got {kind_of(data)}"
    )


def grouped(batches: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of ``size`` batches, the last one perhaps shorter.

    Examples
    --------
    >>> list(grouped(iter("abcde"), 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    while piece := list(islice(batches, size)):
        yield piece


def _images(folder: Path, transform: Callable[[Any], Any] | None) -> Iterator[Any]:
    """Each image of a folder, sorted by name, as a batch of one."""
    if not folder.is_dir():
        raise ValueError(f"calibrate: data is the path of no folder: {str(folder)!r}")
    files = sorted(each for each in folder.rglob("*") if each.suffix.lower() in SUFFIXES)
    if not files:
        raise ValueError(
            f"calibrate: the folder {str(folder)!r} holds no image; images end in "
            f"{', '.join(SUFFIXES)}"
        )
    return (_image(each, transform) for each in files)


def _image(file: Path, transform: Callable[[Any], Any] | None) -> Any:
    """Return a batch of one: the colours in [0, 1], or what ``transform`` makes of the image."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            "calibrate reads images with Pillow: pip install pillow, or give arrays"
        ) from error
    with Image.open(file) as opened:
        image = opened.convert("RGB")
    if transform is None:
        made = np.asarray(image, np.float32).transpose(2, 0, 1) / np.float32(255)
    else:
        made = transform(image)
    if not isinstance(made, np.ndarray | Tensor):
        raise TypeError(
            f"calibrate: transform must return an array or a tensor, got {kind_of(made)} for "
            f"{str(file)!r}"
        )
    return made[None]
