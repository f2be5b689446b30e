"""Freezing the batch norms of a whole model, and thawing them."""

from __future__ import annotations

from typing import Any

from .conv_bn import _ConvBnNd
from .linear_bn import LinearBn1d

__all__ = ["freeze_bn_stats", "update_bn_stats"]


def freeze_bn_stats(mod: Any) -> None:
    """Call ``freeze_bn_stats`` of a group with batch norm; use with ``model.apply``.

    Other modules are left alone.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.intrinsic.qat import ConvBn2d, freeze_bn_stats
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> model = pyqref.nn.Sequential(ConvBn2d(1, 2, 3, qconfig=qconfig)).train()
    >>> model.apply(freeze_bn_stats)[0].bn.training
    False
    """
    if isinstance(mod, _ConvBnNd | LinearBn1d):
        mod.freeze_bn_stats()


def update_bn_stats(mod: Any) -> None:
    """Call ``update_bn_stats`` of a group with batch norm; use with ``model.apply``.

    Other modules are left alone.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.intrinsic.qat import ConvBn2d, update_bn_stats
    >>> qconfig = pyqref.quantization.get_default_qat_qconfig("fbgemm")
    >>> model = pyqref.nn.Sequential(ConvBn2d(1, 2, 3, qconfig=qconfig)).train()
    >>> model.apply(update_bn_stats)[0].bn.training
    True
    """
    if isinstance(mod, _ConvBnNd | LinearBn1d):
        mod.update_bn_stats()
