"""Measurements of a search on disk, so that it can go on after an interruption."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from pyqref.backends import quantized as settings
from pyqref.explaining.metrics import Batch
from pyqref.explaining.values import leaves
from pyqref.measure.noise import numbers
from pyqref.nn.modules import Module
from pyqref.quantization.calibrating.whole_file import WholeFile, digest_of
from pyqref.tensor.base import wrap

__all__ = ["Measured", "Memory", "fingerprint_of"]


class Measured(NamedTuple):
    """Measurements of one model.

    Attributes
    ----------
    value
        The metric.
    noise
        Of the output, over the power of the float model's output.
    """

    value: Fraction
    noise: Fraction


def fingerprint_of(
    model: Module, batches: Iterable[Iterable[Batch]], texts: Iterable[object]
) -> list[int]:
    """A digest of a model, of all data, of the engine and of options."""
    digest = digest_of(model)
    for each in (settings.engine, settings.conventions, *texts):
        digest.update(f"{re.sub(r' at 0x[0-9a-f]+', '', str(each))}\n".encode())
    for data in batches:
        digest.update(b"data\n")
        for batch in data:
            for array in _arrays(batch):
                digest.update(f"{array.dtype.str} {array.shape}\n".encode())
                digest.update(np.ascontiguousarray(array).tobytes())
    return list(digest.digest())


def _arrays(batch: Batch) -> Iterator[np.ndarray[Any, Any]]:
    for each in leaves(batch.inputs):
        yield numbers(each)
    if batch.target is not None:
        for each in leaves(batch.target) or [batch.target]:
            yield numbers(each)


def _fraction(text: str) -> Fraction:
    """The fraction that ``str`` wrote; a text with an exponent, which could be huge, is none."""
    return Fraction(*map(int, text.split("/")))


class Memory:
    """The measurements so far, by the choice that was measured.

    Parameters
    ----------
    asks
        Who asks, for messages.
    path
        Of a file; None to keep them in memory only.
    fingerprint
        Of all that they depend on.

    Raises
    ------
    ValueError
        The file belongs to something else.
    """

    def __init__(self, asks: str, path: str | PathLike[str] | None, fingerprint: list[int]) -> None:
        self.known: dict[str, Measured] = {}
        self.fingerprint = fingerprint
        self.file: WholeFile | None = None
        if path is None:
            return
        keys = ("fingerprint", "measured")
        self.file = WholeFile(asks, path, "a search of bits", keys)
        kept = self.file.read()
        if kept is None:
            return
        if kept["fingerprint"].reshape(-1).tolist() != fingerprint:
            raise ValueError(
                f"{asks}: the checkpoint {str(path)!r} was written for another model, other data "
                "or other options; give the same ones to go on, or remove the file to begin anew"
            )
        try:
            text = bytes(kept["measured"].numpy()).decode()
            for key, (value, noise) in json.loads(text).items():
                self.known[key] = Measured(_fraction(value), _fraction(noise))
        except (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{asks}: {str(path)!r} cannot be read as a checkpoint ({error}); remove it to "
                "begin anew"
            ) from error

    def add(self, key: str, measured: Measured) -> None:
        """Remember a measurement, and write the file."""
        self.known[key] = measured
        if self.file is None:
            return
        text = json.dumps({name: [str(each) for each in m] for name, m in self.known.items()})
        self.file.write(
            {
                "fingerprint": wrap(np.array(self.fingerprint, np.uint8)),
                "measured": wrap(np.frombuffer(text.encode(), np.uint8).copy()),
            }
        )
