"""A convolution and the addition behind it, for back ends that run both as one.

The convolution may stand on the left or on the right of the sum; the other summand is an
extra input of the fused module. Seen from the output::

    (ReLU, (add, (BatchNorm2d, Conv2d), MatchAllNode))        left
    (ReLU, (add, MatchAllNode, (BatchNorm2d, Conv2d)))        right
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn.quantized import reference as nnqr
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig
from pyqref.quantization.backend_config.pattern_format import MatchAllNode
from pyqref.quantization.fuser_method_mappings import fuse_conv_bn
from pyqref.tensor import add

from .building import DTypes, pattern

__all__ = ["conv_add_configs"]


def conv_add_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Convolution, perhaps with batch norm, plus anything, perhaps with ReLU."""
    return [
        *_all_forms(dtypes, with_relu=False, fused=nni.ConvAdd2d),
        _weighted(nni.ConvAdd2d, dtypes),
        *_all_forms(dtypes, with_relu=True, fused=nni.ConvAddReLU2d),
        _weighted(nni.ConvAddReLU2d, dtypes),
    ]


def _weighted(fused: Any, dtypes: DTypes) -> BackendPatternConfig:
    config = pattern(fused, dtypes).set_root_module(nn.Conv2d)
    return config.set_reference_quantized_module(nnqr.Conv2d)


def _all_forms(dtypes: DTypes, with_relu: bool, fused: Any) -> list[BackendPatternConfig]:
    found = []
    for left, with_bn, plus in product((True, False), (True, False), (add, operator.add)):
        conv: Any = (nn.BatchNorm2d, nn.Conv2d) if with_bn else nn.Conv2d
        total = (plus, conv, MatchAllNode) if left else (plus, MatchAllNode, conv)
        place = _Place(left=left, with_bn=with_bn, with_relu=with_relu)
        found.append(
            pattern(None, dtypes)
            ._set_pattern_complex_format((nn.ReLU, total) if with_relu else total)
            .set_fused_module(fused)
            .set_fuser_method(place.fuser(fused))
            ._set_root_node_getter(place.root_node)
            ._set_extra_inputs_getter(place.extra_inputs)
        )
    return found


class _Place:
    """Place of the convolution in the pattern."""

    def __init__(self, left: bool, with_bn: bool, with_relu: bool) -> None:
        self.left = left
        self.with_bn = with_bn
        self.with_relu = with_relu

    def _split(self, matched: Any) -> tuple[Any, Any, Any, Any]:
        """``(relu, conv, bn, other)`` of nodes, modules or types nested as the pattern."""
        relu, total = matched if self.with_relu else (None, matched)
        _, first, second = total
        conv, other = (first, second) if self.left else (second, first)
        bn, conv = conv if self.with_bn else (None, conv)
        return relu, conv, bn, other

    def root_node(self, matched: object) -> Any:
        """The node of the convolution."""
        return self._split(matched)[1]

    def extra_inputs(self, matched: object) -> list[Any]:
        """The other summand."""
        return [self._split(matched)[3]]

    def fuser(self, fused: type[Any]) -> Callable[..., Any]:
        """The function that puts the modules together."""

        def fuser_method(is_qat: bool, *matched: Any) -> Any:
            relu, conv, bn, _ = self._split(matched)
            if bn is not None:
                conv = fuse_conv_bn(is_qat, conv, bn)
            total = matched[1][0] if self.with_relu else matched[0]
            return fused(conv, total, relu) if self.with_relu else fused(conv, total)

        # Nothing trains a batch norm inside these: for training, convolution and batch norm
        # are fused alone.
        fuser_method.evaluation_only = self.with_bn  # type: ignore[attr-defined]
        return fuser_method
