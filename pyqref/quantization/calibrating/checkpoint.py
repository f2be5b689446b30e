"""A calibration on disk: what was seen so far, and how many pieces that were."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from pyqref.nn.modules.module import Module
from pyqref.quantization.merging import watchers
from pyqref.quantization.observer.recording import RecordingObserver
from pyqref.serialization import load, save
from pyqref.tensor.base import wrap

__all__ = ["Checkpoint"]

_STATE = "state."


class Checkpoint:
    """The file of a calibration, which is written anew after each piece.

    It is a safetensors file with the number of pieces, their size, a fingerprint of the model and
    the state of its observers. It takes the place of the old one at once, so that a process that is
    killed leaves the old file or the new one, and no other.

    Parameters
    ----------
    path
        The file.
    model
        The prepared model.
    piece
        Batches of a piece.
    """

    def __init__(self, path: str | os.PathLike[str], model: Module, piece: int) -> None:
        self.path = Path(path)
        self.model = model
        self.piece = piece
        for place, each in watchers(model):
            if isinstance(each, RecordingObserver):
                raise ValueError(
                    f"calibrate: checkpoint cannot keep the tensors of the RecordingObserver at "
                    f"'{place}'; leave checkpoint out"
                )
        self.fingerprint = _fingerprint(model)

    def resume(self) -> int:
        """Load the state of an earlier run, and return how many pieces it saw; 0 without a file.

        Raises
        ------
        ValueError
            The file is that of another model, of another size of pieces, or no checkpoint at all.
        """
        if not self.path.exists():
            return 0
        kept = self._read()
        for name, own in (("fingerprint", self.fingerprint), ("piece", [self.piece])):
            found = kept[name].tolist()
            if list(own) != found:
                what = "another model" if name == "fingerprint" else f"pieces of {found[0]} batches"
                raise ValueError(
                    f"calibrate: the checkpoint {str(self.path)!r} was written for {what}; give "
                    "the same model and piece to go on, or remove the file to begin anew"
                )
        state = {
            key.removeprefix(_STATE): each for key, each in kept.items() if key.startswith(_STATE)
        }
        self.model.load_state_dict(state, strict=False)
        return int(kept["pieces"].item())

    def _read(self) -> dict[str, Any]:
        try:
            kept: dict[str, Any] = load(self.path)
            complete = {"fingerprint", "piece", "pieces"} <= set(kept)
        except Exception as error:
            raise ValueError(
                f"calibrate: {str(self.path)!r} cannot be read as a checkpoint ({error}); remove "
                "it to begin anew"
            ) from error
        if not complete:
            raise ValueError(
                f"calibrate: {str(self.path)!r} is no checkpoint of a calibration; give another "
                "path"
            )
        return kept

    def write(self, pieces: int) -> None:
        """Keep the state of the model after so many pieces."""
        kept = {
            "fingerprint": wrap(np.array(self.fingerprint, np.uint8)),
            "piece": wrap(np.array([self.piece])),
            "pieces": wrap(np.array([pieces])),
        }
        for path, each in watchers(self.model):
            for key, tensor in each.state_dict().items():
                kept[f"{_STATE}{path}.{key}"] = tensor
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        try:
            with open(beside, "wb") as file:
                save(kept, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        finally:
            beside.unlink(missing_ok=True)


def _fingerprint(model: Module) -> list[int]:
    """A digest of the modules of a model and of its numbers outside of observers."""
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
    return list(digest.digest())
