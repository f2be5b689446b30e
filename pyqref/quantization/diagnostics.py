"""What the workflows warn of, and the strict form in which they refuse it.

Nothing is silently ignored: what has no effect, or an effect that nobody can want, gives
a :class:`QuantizationWarning` with the path of the module and the remedy. With
``strict=True`` exactly these warnings become a :class:`QuantizationError`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "ConstantChannelWarning",
    "NoMatchWarning",
    "NotQuantizedWarning",
    "QuantizationError",
    "QuantizationWarning",
    "UncalibratedWarning",
    "UnusedMappingWarning",
    "strictly",
    "warn",
]

_PACKAGE = __name__.rpartition(".")[0]


class QuantizationWarning(UserWarning):
    """Something about a model's quantization has no effect, or one nobody can want.

    Examples
    --------
    >>> from pyqref import quantization
    >>> issubclass(quantization.UncalibratedWarning, quantization.QuantizationWarning)
    True
    """


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
    """A weight channel of one value was given parameters that cannot hold this value.

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


def warn(message: str, category: type[QuantizationWarning]) -> None:
    """Warn at the line outside this package that led here.

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
    return module == "contextlib" or f"{module}.".startswith(f"{_PACKAGE}.")


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
