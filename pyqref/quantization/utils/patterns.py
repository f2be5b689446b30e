"""Placeholders that a pattern may hold besides operations."""

from __future__ import annotations

__all__ = ["MatchAllNode"]


class MatchAllNode:
    """Pattern that matches every node, such as the other operand of a sum.

    Notes
    -----
    Source: ``torch.ao.quantization.utils.MatchAllNode``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> from pyqref.quantization.backend_config import BackendPatternConfig
    >>> from pyqref.quantization.utils import MatchAllNode
    >>> pattern = (pyqref.add, MatchAllNode, nn.Conv2d)
    >>> config = BackendPatternConfig()._set_pattern_complex_format(pattern)
    >>> config._pattern_complex_format == pattern
    True
    """
