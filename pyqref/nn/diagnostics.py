"""What quantized and observed layers warn of; :mod:`pyqref.quantization` adds its own kinds."""

from __future__ import annotations

from pyqref.tensor.diagnostics import QuantizationWarning as QuantizationWarning
from pyqref.tensor.diagnostics import UnlikeGridsWarning as UnlikeGridsWarning
from pyqref.tensor.diagnostics import warn as warn

__all__ = [
    "NarrowRangeWarning",
    "NoEffectWarning",
    "QuantizationWarning",
    "SaturatedBiasWarning",
    "SharedObserverWarning",
    "UnlikeGridsWarning",
    "warn",
]


class SharedObserverWarning(QuantizationWarning):
    """One observer sees two values of a pass: its range is that of neither.

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
    """A setting of a float layer has no effect on the quantized layer.

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


class SaturatedBiasWarning(QuantizationWarning):
    """A bias in units of the accumulator does not fit into 32 bits and is cut off."""
