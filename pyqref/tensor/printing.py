"""``repr`` of a tensor, digit by digit as ``torch`` writes it.

All elements of a tensor are written alike: as integers with a dot if all of them are
whole, in scientific notation if they differ much in size, else with ``precision``
digits after the point. Long axes are shortened to ``edgeitems`` at both ends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from .._kernels.parts import taken
from .._typing import Array, Number, TensorBase
from .arguments import described
from .promotion import get_default_dtype

__all__ = ["set_printoptions", "tensor_repr"]


class _Options:
    precision = 4
    threshold: float = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None


_options = _Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are printed.

    Parameters
    ----------
    precision
        Digits after the point.
    threshold
        Number of elements above which a tensor is shortened.
    edgeitems
        Elements at each end of a shortened axis.
    linewidth
        Characters in a line.
    profile
        ``"default"``, ``"short"`` or ``"full"``: sets all of the above.
    sci_mode
        True or False for scientific notation; None lets the numbers decide.

    Raises
    ------
    ValueError
        If a number is negative, or the profile is not known. Nothing is set then.
    TypeError
        If something else than a number is given for one.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_printoptions(precision=2)
    >>> pyqref.tensor([1 / 3])
    tensor([0.33])
    >>> pyqref.set_printoptions(profile="default")
    """
    profiles = {"default": (4, 1000, 3), "short": (2, 1000, 2), "full": (4, math.inf, 3)}
    if profile is not None and profile not in profiles:
        raise ValueError(f"profile must be one of {', '.join(profiles)}, got {profile!r}")
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    for name, value in given.items():
        kind, said = ((int, float), "a number") if name == "threshold" else (int, "an integer")
        if value is not None and not isinstance(value, kind):
            raise TypeError(f"set_printoptions: {name} must be {said}, got {described(value)}")
        if value is not None and value < 0:
            raise ValueError(f"set_printoptions: {name} must not be negative, got {value}")
    if profile is not None:
        _options.precision, _options.threshold, _options.edgeitems = profiles[profile]
        _options.linewidth = 80
    for name, value in given.items():
        if value is not None:
            setattr(_options, name, value)
    _options.sci_mode = sci_mode


class _Formatter:
    """Decides from all the elements how one is written."""

    def __init__(self, array: Array) -> None:
        self.floating = array.dtype.kind == "f"
        self.whole, self.scientific, self.width = True, False, 1
        flat = array.reshape(-1)
        if not self.floating:
            self.width = max((len(self._integer(value)) for value in flat), default=1)
            return
        flat = flat.astype(np.float64)
        used = flat[np.isfinite(flat) & (flat != 0)]
        if used.size == 0:
            return
        size = np.abs(used)
        smallest, largest = float(size.min()), float(size.max())
        self.whole = bool((used == np.ceil(used)).all())
        wide = largest / smallest > 1000.0 or largest > 1.0e8
        self.scientific = wide if self.whole else wide or smallest < 1.0e-4
        if _options.sci_mode is not None:
            self.scientific = _options.sci_mode
        if self.whole and not self.scientific:
            self.width = max(len(f"{value:.0f}") for value in used) + 1
        else:
            self.width = max(len(self._digits(value)) for value in used)

    def _digits(self, value: float) -> str:
        return f"{value:.{_options.precision}{'e' if self.scientific else 'f'}}"

    @staticmethod
    def _integer(value: Any) -> str:
        return str(value.item())

    def text(self, value: Number) -> str:
        """One element, right-aligned."""
        if not self.floating:
            written = self._integer(value)
        elif self.scientific:
            written = self._digits(float(value))
        elif self.whole:
            written = f"{float(value):.0f}"
            if math.isfinite(value):
                written += "."
        else:
            written = self._digits(float(value))
        return written.rjust(self.width)


def _vector(array: Any, indent: int, formatter: _Formatter, shorten: bool) -> str:
    in_line = max(1, (_options.linewidth - indent) // (formatter.width + 2))
    edge = _options.edgeitems
    if shorten and not edge:
        words = ["..."]
    elif shorten and array.shape[0] > 2 * edge:
        words = [*map(formatter.text, array[:edge]), " ...", *map(formatter.text, array[-edge:])]
    else:
        words = [formatter.text(value) for value in array]
    lines = [words[i : i + in_line] for i in range(0, len(words), in_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(", ".join(line) for line in lines) + "]"


def _block(array: Any, indent: int, formatter: _Formatter, shorten: bool) -> str:
    if array.ndim == 0:
        return formatter.text(array[()])
    if array.ndim == 1:
        return _vector(array, indent, formatter, shorten)
    edge = _options.edgeitems
    if shorten and array.shape[0] > 2 * edge:
        parts: list[Any] = [*array[:edge], "...", *array[len(array) - edge :]]
    else:
        parts = list(array)
    written = [
        part if isinstance(part, str) else _block(part, indent + 1, formatter, shorten)
        for part in parts
    ]
    separator = "," + "\n" * (array.ndim - 1) + " " * (indent + 1)
    return "[" + separator.join(written) + "]"


def _shortened(array: Any) -> Any:
    """The elements that are written when long axes are shortened."""
    edge = _options.edgeitems
    for axis, length in enumerate(array.shape):
        if length > 2 * edge:
            ends = [*range(edge), *range(length - edge, length)]
            array = taken(array, np.array(ends, np.intp), axis)
    return array


def ends(shape: tuple[int, ...]) -> list[tuple[int, Any]] | None:
    """Axes whose ends alone are written, and their places: one too many, for which ``...`` stands.

    None where all of an array is written.
    """
    edge = _options.edgeitems
    if math.prod(shape) <= _options.threshold:
        return None
    return [
        (axis, np.array([*range(edge + 1), *range(length - edge, length)]))
        for axis, length in enumerate(shape)
        if length > 2 * edge
    ]


def array_text(array: Array, indent: int, shorten: bool | None = None) -> str:
    """The elements of an array in brackets, as they stand after ``indent`` characters.

    Parameters
    ----------
    shorten
        Whether long axes are shortened; None: those of a large array.
    """
    if array.size == 0:
        return "[]"
    shorten = array.size > _options.threshold if shorten is None else shorten
    formatter = _Formatter(_shortened(array) if shorten else array)
    return _block(array, indent, formatter, shorten)


def with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append suffixes, each on the line if it fits, else on a new one."""
    written = [text]
    last = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > _options.linewidth:
            written.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            written.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(written) + ")"


def tensor_repr(tensor: TensorBase) -> str:
    """The whole text, such as ``tensor([1., 2.], requires_grad=True)``."""
    prefix = "tensor("
    suffixes = []
    array = tensor._array
    usual = {get_default_dtype(), dtypes.int64, dtypes.bool_}
    if array.size == 0 and array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    if tensor.dtype not in usual or (array.size == 0 and tensor.dtype is not get_default_dtype()):
        suffixes.append(f"dtype={tensor.dtype!r}")
    text = prefix + array_text(array, len(prefix))
    if tensor.grad_fn is not None:
        suffixes.append(f"grad_fn=<{tensor.grad_fn.name()}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return with_suffixes(text, suffixes, len(prefix))
