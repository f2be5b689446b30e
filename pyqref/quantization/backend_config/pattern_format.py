"""Patterns as users write them, and as graphs read from the output.

``(Conv2d, BatchNorm2d, ReLU)`` is the order in which the operations run. Seen from the
output, where matching starts, it is ``(ReLU, (BatchNorm2d, Conv2d))``: a pair of the last
operation and the pattern of its input.
"""

from __future__ import annotations

from pyqref.quantization.utils.patterns import MatchAllNode as MatchAllNode

from .pattern_config import BackendPatternConfig

__all__ = ["MatchAllNode", "complex_format", "reversed_nested"]


def reversed_nested(pattern: object) -> object:
    """A sequence of operations as nested pairs from the output.

    Parameters
    ----------
    pattern
        An operation, or a tuple of them.

    Examples
    --------
    >>> reversed_nested("add")
    'add'
    >>> reversed_nested(("conv", "bn", "relu"))
    ('relu', ('bn', 'conv'))
    """
    if not isinstance(pattern, tuple):
        return pattern
    if len(pattern) == 0:
        raise ValueError("a pattern must have at least one operation, got ()")
    nested = pattern[0]
    for each in pattern[1:]:
        nested = (each, nested)
    return nested


def complex_format(config: BackendPatternConfig) -> object:
    """The pattern of a config as a graph from the output.

    Raises
    ------
    ValueError
        The config has none.
    """
    if config._pattern_complex_format is not None:
        return config._pattern_complex_format
    if config.pattern is None:
        raise ValueError("Either 'pattern' or 'pattern_complex_format' must be specified")
    return reversed_nested(config.pattern)
