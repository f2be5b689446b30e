"""``ObservationType``: which observer stands behind an operation."""

from __future__ import annotations

from enum import Enum

__all__ = ["ObservationType"]


class ObservationType(Enum):
    """How the output of a pattern is observed, seen from its input.

    Examples
    --------
    A maximum of quantized numbers is one of them, so max pooling keeps the parameters of
    its input; a linear layer needs its own:

    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> from pyqref import nn
    >>> found = {each.pattern: each for each in get_native_backend_config().configs}
    >>> found[nn.MaxPool2d].observation_type.name
    'OUTPUT_SHARE_OBSERVER_WITH_INPUT'
    >>> found[nn.Linear].observation_type.name
    'OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT'
    """

    OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT = 0
    """Input and output are observed by observers of their own, as of a convolution.

    The types must agree with a :class:`DTypeConfig` of the pattern."""

    OUTPUT_SHARE_OBSERVER_WITH_INPUT = 1
    """Input and output have one observer, and so one scale and zero point, as of ``cat``,
    ``max_pool2d`` or ``view``. Where the input comes from something that is not quantized,
    nothing is observed."""

    INPUT_OUTPUT_NOT_OBSERVED = 2
    """Neither is observed, as of ``x.size()``: no tensor comes out."""
