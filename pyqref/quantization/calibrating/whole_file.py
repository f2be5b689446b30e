"""A file of tensors that is there as a whole or not at all, and a digest of a model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pyqref.nn.modules.module import Module
from pyqref.quantization.merging import watchers
from pyqref.serialization import load, save
from pyqref.tensor.base import wrap
from pyqref.tensor.tensor import Tensor

__all__ = ["WholeFile", "digest_of", "sum_of"]

_SUM = "sum"


class WholeFile:
    """A checkpoint that long work writes anew after each step.

    The new file takes the place of the old one at once, so that a process that is killed leaves
    the old file or the new one, and no other. A SHA-256 of what it holds is in it, so that a file
    that was damaged is refused.

    Parameters
    ----------
    asks
        Who asks, for messages.
    path
        The file; its format is safetensors.
    what
        What the file is a checkpoint of, for messages.
    keys
        Names of tensors that it has to have.
    """

    def __init__(
        self, asks: str, path: str | os.PathLike[str], what: str, keys: Collection[str]
    ) -> None:
        self.asks = asks
        self.path = Path(path)
        self.what = what
        self.keys = frozenset(keys)

    def read(self) -> dict[str, Tensor] | None:
        """Return the tensors; None where there is no file.

        Raises
        ------
        ValueError
            It is no file, no checkpoint of this kind, or damaged. It stays as it is.
        OSError
            The system does not let it be read.
        """
        if not self.path.exists():
            return None
        if not self.path.is_file():
            raise ValueError(
                f"{self.asks}: checkpoint must be the path of a file, got {str(self.path)!r}, "
                "which is none; give another path"
            )
        try:
            kept: dict[str, Tensor] = load(self.path)
            complete = isinstance(kept, dict) and self.keys | {_SUM} <= set(kept)
            complete = complete and all(isinstance(each, Tensor) for each in kept.values())
            if complete and kept.pop(_SUM).tolist() != sum_of(kept):
                raise ValueError("what it holds has another SHA-256 than was written")
        except (OSError, MemoryError):  # the file may be whole
            raise
        except Exception as error:
            raise ValueError(
                f"{self.asks}: {str(self.path)!r} cannot be read as a checkpoint ({error}); remove "
                "it to begin anew"
            ) from error
        if not complete:
            raise ValueError(
                f"{self.asks}: {str(self.path)!r} is no checkpoint of {self.what}; give another "
                "path"
            )
        return kept

    def write(self, kept: Mapping[str, Tensor]) -> None:
        """Put a file with these tensors in the place of the old one."""
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(beside, "wb") as file:
                save({**kept, _SUM: wrap(np.array(sum_of(kept), np.uint8))}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)


def sum_of(kept: Mapping[str, Tensor]) -> list[int]:
    """Return the 32 bytes of a SHA-256 of tensors, their names, types and shapes.

    Examples
    --------
    >>> import pyqref
    >>> one, two = pyqref.ones(2), pyqref.ones(2, 1)
    >>> len(sum_of({"a": one})), sum_of({"a": one}) == sum_of({"a": two})
    (32, False)
    """
    digest = hashlib.sha256()
    for name in sorted(kept):
        array = np.ascontiguousarray(kept[name]._array)
        shape = kept[name]._array.shape
        digest.update(f"{name!r} {kept[name].dtype} {shape}\n".encode(errors="backslashreplace"))
        digest.update(array.tobytes())
    return list(digest.digest())


def digest_of(model: Module) -> Any:
    """A SHA-256 of the modules of a model and of its numbers outside of observers, to be updated.

    Examples
    --------
    >>> from pyqref import nn
    >>> digest_of(nn.ReLU()).hexdigest() == digest_of(nn.ReLU()).hexdigest()
    True
    """
    digest = hashlib.sha256()
    watched = tuple(f"{path}." for path, _ in watchers(model))
    for path, module in model.named_modules():
        digest.update(f"{path} {type(module).__name__}\n".encode())
    for path, tensor in model.state_dict().items():
        if path.startswith(watched) or not hasattr(tensor, "_array"):
            continue
        array = np.ascontiguousarray(tensor._array)
        digest.update(f"{path} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest
