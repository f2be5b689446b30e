"""The batch norm of a group, as it is trained: freezing it and thawing it, alone or model-wide."""

from __future__ import annotations

from typing import Any

from pyqref.nn import init
from pyqref.nn.modules import Module

from ....._typing import Self

__all__ = ["WithBatchNorm", "freeze_bn_stats", "update_bn_stats"]


class WithBatchNorm(Module):
    """A group that ends in a batch norm; it stands before the layer among the bases."""

    bn: Any
    freeze_bn: bool

    def train(self, mode: bool = True) -> Self:
        """Set training mode; frozen batch norm stays in evaluation mode."""
        super().train(mode)
        if self.freeze_bn:
            self.bn.eval()
        return self

    def freeze_bn_stats(self) -> Module:
        """Use the running statistics from now on, and leave them as they are."""
        self.freeze_bn = True
        self.bn.eval()
        return self

    def update_bn_stats(self) -> Module:
        """Use the statistics of the batch from now on, and update the running ones."""
        self.freeze_bn = False
        self.bn.train()
        return self

    def reset_running_stats(self) -> None:
        """Set the running statistics to mean 0 and variance 1."""
        self.bn.reset_running_stats()

    def reset_bn_parameters(self) -> None:
        """Set batch norm to mean 0, variance 1, bias 0 and weights drawn from [0, 1)."""
        self.bn.reset_running_stats()
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)


def freeze_bn_stats(mod: Module) -> None:
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
    if isinstance(mod, WithBatchNorm):
        mod.freeze_bn_stats()


def update_bn_stats(mod: Module) -> None:
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
    if isinstance(mod, WithBatchNorm):
        mod.update_bn_stats()
