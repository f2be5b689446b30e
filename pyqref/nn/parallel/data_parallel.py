"""``DataParallel``: a wrapper that scripts put around a model, and checkpoints show."""

from __future__ import annotations

from collections.abc import Sequence

from ..._typing import Device, Tensor
from ...devices import device, require_cpu
from ..modules.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """Calls a module. With several GPUs ``torch`` would divide the batch among them.

    The module is ``.module``; keys of the state begin with ``module.``, as in checkpoints that
    were written on such a machine.

    Parameters
    ----------
    module
        The model.
    device_ids
        None or an empty list: there is no GPU.
    output_device
        None, or the CPU.
    dim
        Of no use here: the batch is not divided.

    Raises
    ------
    RuntimeError
        A GPU is named.

    Notes
    -----
    Source: documentation of ``torch.nn.DataParallel``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> model = nn.DataParallel(nn.Linear(2, 1))
    >>> list(model.state_dict()), model(pyqref.ones(3, 2)).shape
    (['module.weight', 'module.bias'], pyqref.Size([3, 1]))
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Device] | None = None,
        output_device: Device = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        if not isinstance(module, Module):
            raise TypeError(f"DataParallel: module must be a module, got {type(module).__name__}")
        for each in (*(device_ids or ()), *(() if output_device is None else (output_device,))):
            require_cpu(
                f"cuda:{each}" if isinstance(each, int) else device(each),
                "DataParallel: ",
                "leave device_ids and output_device out",
            )
        self.dim = dim
        self.module = module
        self.device_ids: list[int] = []
        self.output_device = output_device

    def forward(self, *inputs: Tensor, **kwargs: object) -> Tensor:
        """Return the output of the module."""
        return self.module(*inputs, **kwargs)
