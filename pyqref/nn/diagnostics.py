"""What quantized and observed layers warn of; :mod:`pyqref.quantization` adds its own kinds."""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "NarrowRangeWarning",
    "NoEffectWarning",
    "QuantizationWarning",
    "SaturatedBiasWarning",
    "SharedObserverWarning",
    "UnlikeGridsWarning",
    "warn",
]

_PLACES = ("pyqref.nn.", "pyqref.ops.", "pyqref.quantization.")


class QuantizationWarning(UserWarning):
    """Something about a model's quantization has no effect, or one nobody can want.

    Examples
    --------
    >>> from pyqref import quantization
    >>> issubclass(quantization.UncalibratedWarning, quantization.QuantizationWarning)
    True
    """


class SharedObserverWarning(QuantizationWarning):
    """One observer sees two values of a pass: its range is that of neither.

    A QuantStub, a layer or a FloatFunctional that is used at two places has one observer.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref import nn, quantization
    >>> class Twice(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.sum = nn.quantized.FloatFunctional()
    ...     def forward(self, x):
    ...         return self.sum.add(self.sum.add(x, x), x)
    >>> model = Twice()
    >>> model.qconfig = quantization.default_qconfig
    >>> prepared = quantization.prepare(model)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     y = prepared(pyqref.ones(1))
    >>> [each.category.__name__ for each in caught]
    ['SharedObserverWarning']
    """


class NoEffectWarning(QuantizationWarning):
    """A setting or a call has no effect.

    Such is a setting of a float layer that the quantized layer does not know, or switching the
    fake quantizers of a model that has none.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> layer = nn.Embedding(4, 2, max_norm=1.0)
    >>> layer.qconfig = quantization.float_qparams_weight_only_qconfig
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     quantized = nn.quantized.Embedding.from_float(layer)
    >>> [each.category.__name__ for each in caught]
    ['NoEffectWarning']
    """


class NarrowRangeWarning(QuantizationWarning):
    """A converted operation cannot keep a range of integers narrower than that of its dtype."""


class UnlikeGridsWarning(QuantizationWarning):
    """Tensors on different grids are joined to one, whose grid is that of the first."""


class SaturatedBiasWarning(QuantizationWarning):
    """A bias in units of the accumulator does not fit into 32 bits and is cut off."""


def warn(message: str, category: type[QuantizationWarning]) -> None:
    """Warn at the line outside layers and workflows that led here.

    Parameters
    ----------
    message
        What happened where, and the remedy.
    category
        The kind of warning.
    """
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module == "contextlib" or f"{module}.".startswith(_PLACES)
