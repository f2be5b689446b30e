"""Warnings of quantized and observed layers; :mod:`pyqref.quantization` adds more kinds."""

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
    """A converted operation cannot keep a range of integers narrower than that of its dtype.

    For a fake quantizer any range counts, except the 7 bits of ``reduce_range``; for an observer
    one of less than 7 bits. ``Quantize``, linear layers and convolutions keep it and are silent.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref import nn, quantization
    >>> four_bits = quantization.MinMaxObserver.with_args(quant_min=0, quant_max=15)
    >>> model = quantization.QuantWrapper(nn.Hardswish()).eval()
    >>> model.qconfig = quantization.QConfig(four_bits, quantization.default_weight_observer)
    >>> prepared = quantization.prepare(model)
    >>> y = prepared(pyqref.tensor([[-1.0, 2.0]]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     converted = quantization.convert(prepared)
    >>> [each.category.__name__ for each in caught]
    ['NarrowRangeWarning']
    """


class SaturatedBiasWarning(QuantizationWarning):
    """A bias in units of the accumulator does not fit into 32 bits and is cut off.

    The engine qnnpack keeps biases so (``eq-bias-integer``); tiny scales of weights are the usual
    reason. The scale of the input is known when the layer runs, so it is told then.

    Examples
    --------
    >>> import warnings, pyqref
    >>> from pyqref import nn
    >>> pyqref.backends.quantized.engine = "qnnpack"
    >>> layer = nn.quantized.Linear(1, 1)
    >>> weight = pyqref.quantize_per_tensor(pyqref.ones(1, 1), 1e-7, 0, pyqref.qint8)
    >>> layer.set_weight_bias(weight, pyqref.tensor([5.0]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     y = layer(pyqref.quantize_per_tensor(pyqref.ones(1, 1), 1e-3, 0, pyqref.quint8))
    >>> [each.category.__name__ for each in caught]
    ['SaturatedBiasWarning']
    >>> pyqref.backends.quantized.engine = "x86"
    """
