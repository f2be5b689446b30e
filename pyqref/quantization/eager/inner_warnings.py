"""Warnings of a layer that converts its own parts, told with the path of the layer."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from pyqref.quantization.diagnostics import QuantizationWarning, warn

__all__ = ["at_path"]


@contextmanager
def at_path(asks: str, place: str) -> Iterator[None]:
    """Put the path of a layer in front of the warnings of its parts, which know only theirs.

    Parameters
    ----------
    asks
        Who asks.
    place
        The path of the layer, with its type.

    Examples
    --------
    >>> from pyqref.quantization import NoEffectWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     with at_path("convert_fx", "rnn (LSTM)"):
    ...         warn("convert: cell.igates has no effect", NoEffectWarning)
    >>> str(caught[0].message)
    'convert_fx: rnn (LSTM): cell.igates has no effect'
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", QuantizationWarning)
        yield
    for each in caught:
        if issubclass(each.category, QuantizationWarning):
            message = str(each.message).removeprefix("convert: ")
            warn(f"{asks}: {place}: {message}", each.category)
        else:
            warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
