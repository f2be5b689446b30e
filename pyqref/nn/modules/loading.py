"""Small pieces of ``load_state_dict``: one tensor, and what to say of the keys."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._typing import AnyModule, Tensor
from ...tensor.base import TensorBase
from ...tensor.foreign import kind_of
from ...tensor.parameter import Parameter

__all__ = ["IncompatibleKeys", "complaints", "load_tensor"]


class IncompatibleKeys(NamedTuple):
    """Result of ``load_state_dict``: missing keys, and keys that have no place in the module."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )

    def __str__(self) -> str:
        return repr(self)


def complaints(keys: IncompatibleKeys) -> list[str]:
    """The missing and the unexpected keys, in words."""
    kinds = (("Missing", keys.missing_keys), ("Unexpected", keys.unexpected_keys))
    return [
        f"{kind} key(s) in state_dict: " + ", ".join(f'"{key}"' for key in found) + ". "
        for kind, found in kinds
        if found
    ]


def _hint(given: Any) -> str:
    kind = kind_of(given)
    return f", a {kind}" if kind != type(given).__name__ else ""


def load_tensor(
    module: AnyModule,
    name: str,
    tensor: Tensor,
    key: str,
    given: object,
    assign: bool,
    error_msgs: list[str],
) -> None:
    """Copy one given tensor into the module's own, or note why that cannot be."""
    if not isinstance(given, TensorBase):
        error_msgs.append(
            f'While copying the parameter named "{key}", expected pyqref.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}{_hint(given)}"
        )
        return
    source: Any = given
    if tensor._array.ndim == 0 and source._array.shape == (1,):
        source = source[0]
    if source._array.shape != tensor._array.shape:
        error_msgs.append(
            f"size mismatch for {key}: copying a param with shape {source.shape} from "
            f"checkpoint, the shape in current model is {tensor.shape}."
        )
        return
    if source.is_quantized and not tensor.is_quantized and not assign:
        error_msgs.append(
            f'While copying the parameter named "{key}": copying from a quantized tensor to one '
            "that is not is not allowed; dequantize() it, or load it into a quantized module"
        )
        return
    try:
        if assign and isinstance(tensor, Parameter):
            setattr(module, name, Parameter(source, requires_grad=tensor.requires_grad))
        elif assign:
            setattr(module, name, source)
        else:
            tensor.copy_(source)
    except Exception as error:
        error_msgs.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.shape} and whose dimensions in the checkpoint are {source.shape}, "
            f"an exception occurred : {error.args}."
        )
