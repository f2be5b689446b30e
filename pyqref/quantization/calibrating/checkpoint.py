"""A calibration on disk: what was seen so far, and how many pieces that were."""

from __future__ import annotations

import copy
import os

import numpy as np

from pyqref.nn.modules.module import Module
from pyqref.quantization.merging import watchers
from pyqref.quantization.observer.recording import RecordingObserver
from pyqref.tensor.base import wrap
from pyqref.tensor.tensor import Tensor

from .whole_file import WholeFile, digest_of

__all__ = ["Checkpoint"]

_STATE = "state."


class Checkpoint:
    """The file of a calibration, which is written anew after each piece.

    It holds the number of pieces, their size, a fingerprint of the model and the state of its
    observers.

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
        keys = ("fingerprint", "piece", "pieces")
        self.file = WholeFile("calibrate", path, "a calibration", keys)
        self.model = model
        self.piece = piece
        for place, each in watchers(model):
            if isinstance(each, RecordingObserver):
                raise ValueError(
                    f"calibrate: checkpoint cannot keep the tensors of the RecordingObserver at "
                    f"'{place}'; leave checkpoint out"
                )
        self.fingerprint = list(digest_of(model).digest())

    def resume(self) -> int:
        """Load the state of an earlier run, and return how many pieces it saw; 0 without a file.

        Raises
        ------
        ValueError
            The file is that of another model, of another size of pieces, damaged, or no checkpoint
            at all. The model stays as it is.
        """
        kept = self.file.read()
        if kept is None:
            return 0
        for name, own in (("fingerprint", self.fingerprint), ("piece", [self.piece])):
            found = kept[name].reshape(-1).tolist()
            if own != found:
                what = (
                    "another model"
                    if name == "fingerprint"
                    else f"pieces of {', '.join(map(str, found))} batches"
                )
                raise ValueError(
                    f"calibrate: the checkpoint {str(self.file.path)!r} was written for {what}; "
                    "give the same model and piece to go on, or remove the file to begin anew"
                )
        state = {
            key.removeprefix(_STATE): each for key, each in kept.items() if key.startswith(_STATE)
        }
        try:
            pieces = _count(kept["pieces"])
            trial = copy.deepcopy(self.model)  # what fails half way leaves the model as it is
            unexpected = trial.load_state_dict(state, strict=False).unexpected_keys
            if unexpected:
                raise ValueError(f"there is no {unexpected[0]!r} in the model")
        except Exception as error:
            raise ValueError(
                f"calibrate: {str(self.file.path)!r} cannot be read as a checkpoint ({error}); "
                "remove it to begin anew"
            ) from error
        self.model.load_state_dict(state, strict=False)
        return pieces

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
        self.file.write(kept)


def _count(kept: Tensor) -> int:
    """The number of pieces in a file, which is written after the first one."""
    found = kept.item()
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise ValueError(f"pieces is {found}")
    return found
