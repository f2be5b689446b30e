"""Batch normalization over all processes; there is one here."""

from __future__ import annotations

from typing import Any

from ..._typing import Device, Dtype, Module
from .batchnorm import BatchNormBase

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(BatchNormBase):
    """Batch normalization of `(N, C, ...)` whose moments are those of all processes.

    There is one process, so it computes what :class:`BatchNorm2d` does, for any number of
    dimensions from two on. ``torch`` runs it on GPUs only.

    Parameters
    ----------
    num_features, eps, momentum, affine, track_running_stats, bias
        See :class:`BatchNorm2d`.
    process_group
        Without meaning here.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.SyncBatchNorm(3)
    >>> layer(pyqref.zeros(2, 3, 4, 4)).shape
    pyqref.Size([2, 3, 4, 4])
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-05,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object = None,
        device: Device = None,
        dtype: Dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if getattr(input, "ndim", 2) < 2:
            raise ValueError(f"SyncBatchNorm: expected at least 2D input (got {input.ndim}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """Put a ``SyncBatchNorm`` in place of every batch normalization, with its tensors.

        Parameters
        ----------
        module
            The module; it is changed and returned, unless it is a batch normalization itself.
        process_group
            Without meaning here.

        Examples
        --------
        >>> import pyqref
        >>> model = pyqref.nn.Sequential(pyqref.nn.BatchNorm2d(3))
        >>> type(pyqref.nn.SyncBatchNorm.convert_sync_batchnorm(model)[0]).__name__
        'SyncBatchNorm'
        """
        made = module
        if isinstance(module, BatchNormBase):
            made = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for members in ("_parameters", "_buffers"):
                made.__dict__[members].update(module.__dict__[members])
            made.training = module.training
            if hasattr(module, "qconfig"):
                made.qconfig = module.qconfig
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
