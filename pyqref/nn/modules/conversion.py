"""Changing the dtype of a module's parameters and buffers, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._typing import Device, Dtype, Tensor
from ...devices import device, refuse_move, require_cpu
from ...dtypes import channels_last_3d, dtype, float16, float32, float64
from ...tensor.base import TensorBase, wrap
from .traversal import Traversal

if TYPE_CHECKING:
    from typing_extensions import Self
else:
    Self = Any  # typing.get_type_hints reads it

__all__ = ["Converts"]


class Converts(Traversal):
    """``to``, ``float``, ``zero_grad``... of :class:`~pyqref.nn.Module`."""

    def _apply(self, fn: Callable[[Any], Any], recurse: bool = True) -> Self:
        """Replace the elements of every parameter, gradient and buffer by ``fn`` of them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            parameter._array = fn(wrap(parameter._array))._array
            if parameter.grad is not None:
                parameter.grad = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Dtype | Device | Tensor | bool, **kwargs: Any) -> Self:
        """Change the dtype of floating point parameters and buffers, in place.

        ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(tensor)``; the only
        device is ``cpu``. ``memory_format`` orders tensors of 4 dimensions (5 for
        ``channels_last_3d``) in memory.

        Raises
        ------
        TypeError
            ``dtype`` is no floating point type.
        RuntimeError
            Another device was asked for.
        """
        target = _target_dtype(args, kwargs)
        order = kwargs.get("memory_format")
        if order is not None:
            self._apply(lambda tensor: _in_order(tensor, order))
        if target is None:
            return self
        if not target.is_floating_point:
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, "
                f"but got desired dtype={target}"
            )
        return self._apply(lambda tensor: _cast_floating(tensor, target))

    def type(self, dst_type: dtype) -> Self:
        """Change the dtype of all parameters and buffers, whatever it is now."""
        return self._apply(lambda tensor: _cast(tensor, dst_type))

    def float(self) -> Self:
        """Make floating point parameters and buffers float32."""
        return self.to(float32)

    def double(self) -> Self:
        """Make floating point parameters and buffers float64."""
        return self.to(float64)

    def half(self) -> Self:
        """Make floating point parameters and buffers float16."""
        return self.to(float16)

    def cpu(self) -> Self:
        """The module itself: everything is on the CPU."""
        return self

    def cuda(self, device: Device = None) -> Self:
        """Refused: there is no other device than the CPU."""
        refuse_move("Module.cuda()", _cuda(device))
        return self

    def to_empty(self, *, device: Device, recurse: bool = True) -> Self:
        """Give every parameter and buffer new memory, elements undefined."""
        self.to(device)
        return self._apply(lambda tensor: wrap(np.empty_like(tensor._array)), recurse)

    def share_memory(self) -> Self:
        """Refused: memory is not shared between processes."""
        raise RuntimeError("share_memory is not available: pyqref trains in one process")

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set whether gradients are collected for the parameters."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            elif parameter.grad is not None:
                parameter.grad.detach().zero_()


def _cuda(given: Any) -> Any:
    return f"cuda:{given}" if isinstance(given, int) else given or "cuda"


def _target_dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dtype | None:
    """The dtype among the arguments of ``to``; devices are checked on the way."""
    known = {"device", "dtype", "tensor", "non_blocking", "copy", "memory_format"}
    for name in kwargs:
        if name not in known:
            raise TypeError(f"to() got an unexpected keyword argument '{name}'")
    target: dtype | None = None
    for value in (*args, *(kwargs.get(name) for name in ("device", "dtype", "tensor"))):
        if isinstance(value, dtype):
            target = value
        elif isinstance(value, TensorBase):
            target = value.dtype
        elif isinstance(value, device | str | int) and not isinstance(value, bool):
            require_cpu(value, "Module.to(): ", "leave the call out, or use device='cpu'")
        elif value is not None and not isinstance(value, bool):
            raise TypeError(f"to() takes a device, a dtype or a tensor, got {type(value).__name__}")
    return target


def _in_order(tensor: Any, order: Any) -> Any:
    dimensions = 5 if order is channels_last_3d else 4
    return tensor.contiguous(memory_format=order) if tensor.dim() == dimensions else tensor


def _cast(tensor: Any, target: dtype) -> Any:
    if tensor.is_quantized or tensor.dtype is target:
        return tensor
    return wrap(tensor._array.astype(target.numpy_dtype))


def _cast_floating(tensor: Any, target: dtype) -> Any:
    return _cast(tensor, target) if tensor.dtype.is_floating_point else tensor
