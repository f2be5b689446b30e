"""Warnings of the workflows, and the errors that replace them in the strict form.

Nothing is silently ignored: what has no effect, or an effect that cannot be intended, gives
a :class:`QuantizationWarning` with the path of the module and the remedy. With
``strict=True`` exactly these warnings become a :class:`QuantizationError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from pyqref.nn.diagnostics import NarrowRangeWarning as NarrowRangeWarning
from pyqref.nn.diagnostics import NoEffectWarning as NoEffectWarning
from pyqref.nn.diagnostics import QuantizationWarning as QuantizationWarning
from pyqref.nn.diagnostics import SaturatedBiasWarning as SaturatedBiasWarning
from pyqref.nn.diagnostics import SharedObserverWarning as SharedObserverWarning
from pyqref.nn.diagnostics import UnlikeGridsWarning as UnlikeGridsWarning
from pyqref.nn.diagnostics import warn as warn

__all__ = [
    "ConstantChannelWarning",
    "ExampleInputsWarning",
    "NarrowRangeWarning",
    "NoEffectWarning",
    "NoMatchWarning",
    "NotPreparedWarning",
    "NotQuantizedWarning",
    "NotRepairedWarning",
    "QConfigMismatchWarning",
    "QuantizationError",
    "QuantizationWarning",
    "SaturatedBiasWarning",
    "SharedObserverWarning",
    "UncalibratedWarning",
    "UnlikeGridsWarning",
    "UnusedMappingWarning",
    "WrongModeWarning",
    "WrongOrderWarning",
    "strictly",
    "warn",
]


class UncalibratedWarning(QuantizationWarning):
    """An observer that saw no data was asked for quantization parameters.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> prepared = quantization.prepare(model)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     converted = quantization.convert(prepared)  # without calibration
    >>> [each.category.__name__ for each in caught]
    ['UncalibratedWarning']
    """


class NoMatchWarning(QuantizationWarning):
    """A key of a qconfig dictionary, or a name in a list, fits no module.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2)).eval()
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     quantized = quantization.quantize_dynamic(model, {"classifier", nn.Linear})
    >>> [each.category.__name__ for each in caught]
    ['NoMatchWarning']
    """


class NotQuantizedWarning(QuantizationWarning):
    """A module that was to be quantized stays as it is, or nothing was to be quantized.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     prepared = quantization.prepare(nn.Sequential(nn.Linear(4, 2)).eval())  # no qconfig
    >>> [each.category.__name__ for each in caught]
    ['NotQuantizedWarning']
    """


class NotRepairedWarning(QuantizationWarning):
    """A function of :mod:`pyqref.quantization.repair` leaves a layer as it was.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> layers = nn.Linear(4, 3), nn.ReLU6(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 2)
    >>> model = nn.Sequential(*layers)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     equal = quantization.repair.cross_layer_equalization(model)
    >>> [each.category.__name__ for each in caught]
    ['NotRepairedWarning']
    """


class UnusedMappingWarning(QuantizationWarning):
    """An entry of a mapping from types to types was not used.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Linear(4, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> config = {"non_traceable_module_class": [nn.Conv2d]}
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     prepared = quantization.prepare(model, prepare_custom_config_dict=config)
    >>> [each.category.__name__ for each in caught]
    ['UnusedMappingWarning']
    """


class ConstantChannelWarning(QuantizationWarning):
    """A weight channel, or an activation, of one value got parameters that cannot hold it.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2))
    >>> _ = model[0].weight.data.fill_(0.3)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     quantized = quantization.quantize_dynamic(model)
    >>> [each.category.__name__ for each in caught]
    ['ConstantChannelWarning']
    """


class NotPreparedWarning(QuantizationWarning):
    """A model with a qconfig is to be converted, but was never prepared.

    Perhaps what ``prepare`` returned was thrown away: it is a copy.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Linear(4, 2)).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> _ = quantization.prepare(model)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     converted = quantization.convert(model)
    >>> [each.category.__name__ for each in caught]
    ['NotPreparedWarning']
    """


class WrongModeWarning(QuantizationWarning):
    """A model is calibrated in training mode, so that its statistics and dropout still move.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Sequential(nn.Linear(4, 2), nn.Dropout(0.5)))
    >>> model.qconfig = quantization.default_qconfig
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     prepared = quantization.prepare(model)  # without model.eval()
    >>> [each.category.__name__ for each in caught]
    ['WrongModeWarning']
    """


class WrongOrderWarning(QuantizationWarning):
    """A step comes after one that it must come before, such as fusing after ``prepare``.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2), nn.ReLU()).eval()
    >>> model.qconfig = quantization.default_qconfig
    >>> prepared = quantization.prepare(model)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     fused = quantization.fuse_modules(prepared, ["0", "1"])
    >>> [each.category.__name__ for each in caught]
    ['WrongOrderWarning']
    """


class QConfigMismatchWarning(QuantizationWarning):
    """A QConfig does not fit the workflow or the back end, so that layers stay float.

    Examples
    --------
    >>> import warnings
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2)).train()
    >>> model.qconfig = quantization.default_qconfig  # observers, no fake quantizers
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     prepared = quantization.prepare_qat(model)
    >>> [each.category.__name__ for each in caught]
    ['QConfigMismatchWarning']
    """


class ExampleInputsWarning(QuantizationWarning):
    """The example inputs of graph mode cannot be inputs of this model.

    Nothing is computed with them, but a wrong number or shape is a sign of a mistake.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Conv2d(3, 4, 1)).eval()
    >>> mapping = quantization.get_default_qconfig_mapping()
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     prepared = quantization.quantize_fx.prepare_fx(model, mapping, pyqref.ones(1, 1, 8, 8))
    >>> [each.category.__name__ for each in caught]
    ['ExampleInputsWarning']
    """


class QuantizationError(RuntimeError):
    """A :class:`QuantizationWarning` where ``strict=True`` was asked for.

    Its ``category`` is the class of the warning.

    Parameters
    ----------
    warning
        The warning.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> try:
    ...     quantization.prepare(nn.Sequential(nn.Linear(4, 2)).eval(), strict=True)
    ... except quantization.QuantizationError as error:
    ...     problem = str(error)
    >>> problem[:35]
    'prepare: no module got a qconfig, s'
    """

    def __init__(self, warning: QuantizationWarning) -> None:
        super().__init__(str(warning))
        self.category = type(warning)


@contextmanager
def strictly(strict: bool) -> Iterator[None]:
    """Turn the warnings of quantization into errors inside, if ``strict``.

    Parameters
    ----------
    strict
        Whether to.

    Raises
    ------
    QuantizationError
        A :class:`QuantizationWarning` was given inside.

    Examples
    --------
    >>> with strictly(True):
    ...     warnings.warn("no data", UncalibratedWarning)
    Traceback (most recent call last):
        ...
    pyqref.quantization.diagnostics.QuantizationError: no data
    """
    if not isinstance(strict, bool):
        raise TypeError(f"strict must be a bool, got {strict!r}")
    if not strict:
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=QuantizationWarning)
        try:
            yield
        except QuantizationWarning as warning:
            raise QuantizationError(warning) from None
