"""Warnings of quantization: their common class, and what quantized tensors themselves warn of.

:mod:`pyqref.nn.diagnostics` and :mod:`pyqref.quantization.diagnostics` add their own kinds.
"""

from __future__ import annotations

import warnings

from .._insides.stack import caller

__all__ = [
    "QuantizationWarning",
    "UnlikeGridsWarning",
    "warn",
]

_PLACES = (
    *("pyqref.tensor.", "pyqref.nn.", "pyqref.ops.", "pyqref.quantization."),
    *("pyqref.jit.", "pyqref.amp.", "pyqref.compiler.", "pyqref.profiler.", "pyqref.switches."),
    *("pyqref.utils.checkpoint.", "pyqref.utils.mobile_optimizer.", "pyqref.testing."),
)


class QuantizationWarning(UserWarning):
    """Something about a model's quantization has no effect, or an unintended one.

    Examples
    --------
    >>> from pyqref import quantization
    >>> issubclass(quantization.UncalibratedWarning, quantization.QuantizationWarning)
    True
    """


class UnlikeGridsWarning(QuantizationWarning):
    """Tensors on different grids are joined to one, whose grid is that of the first.

    Numbers of the others are rounded to its steps, and cut off where its range ends. No function
    warns that is given the grid of its result.

    Examples
    --------
    >>> import warnings, pyqref
    >>> narrow, wide = (
    ...     pyqref.quantize_per_tensor(pyqref.tensor([100.0]), scale, 0, pyqref.quint8)
    ...     for scale in (0.1, 1.0)
    ... )
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     joined = pyqref.cat([narrow, wide])
    >>> [each.category.__name__ for each in caught]
    ['UnlikeGridsWarning']
    >>> joined.dequantize().tolist()
    [25.5, 25.5]
    """


def warn(message: str, category: type[QuantizationWarning]) -> None:
    """Warn at the line outside layers and workflows that led here.

    Parameters
    ----------
    message
        What happened where, and the remedy.
    category
        The kind of warning.
    """
    level, frame = 1, caller(0)
    while frame is not None and _is_inside(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
        level += frame is not None
    warnings.warn(message, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module == "contextlib" or f"{module}.".startswith(_PLACES)
