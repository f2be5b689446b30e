"""A weight as its length and its direction."""

from __future__ import annotations

from typing import Any

from ..._typing import Module, Tensor
from ...tensor.parameter import Parameter

__all__ = ["remove_weight_norm", "weight_norm"]


def norm_except_dim(v: Tensor, dim: int | None) -> Tensor:
    """The Euclidean norm over all axes but one, which keep the length 1; over all for None.

    Examples
    --------
    >>> import pyqref
    >>> norm_except_dim(pyqref.tensor([[3.0, 4.0], [0.0, 2.0]]), 0).tolist()
    [[5.0], [2.0]]
    """
    if dim is None:
        return v.norm()
    others = [axis for axis in range(v.ndim) if axis != dim % v.ndim]
    return v.norm(dim=others, keepdim=True) if others else v.abs()


class WeightNorm:
    """The hook that computes a weight from its length and direction before every call.

    Parameters
    ----------
    name
        Of the weight.
    dim
        The axis whose elements have lengths of their own; None for one length of all.
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Module) -> Tensor:
        """``g * v / norm(v)``."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return v * (g / norm_except_dim(v, self.dim))

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Split the weight of a module."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, WeightNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}; call "
                    "remove_weight_norm first"
                )
        hook = WeightNorm(name, -1 if dim is None else dim)
        hook.dim = dim
        weight = getattr(module, name)
        del module._parameters[name]
        length = norm_except_dim(weight.detach(), dim)
        module.register_parameter(f"{name}_g", Parameter(length))
        module.register_parameter(f"{name}_v", Parameter(weight.detach()))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Put the two together again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a module compute a weight from a length ``g`` and a direction ``v``.

    ``weight = g * v / norm(v)`` (Salimans and Kingma, 2016); the parameters are ``weight_g`` and
    ``weight_v``. ``pyqref.nn.utils.parametrizations.weight_norm`` does the same without a
    hook.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.
    dim
        The axis whose elements have lengths of their own; None for one length of all.

    Raises
    ------
    RuntimeError
        The weight has such lengths already.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.utils.weight_norm(pyqref.nn.Linear(20, 40))
    >>> layer.weight_g.shape, layer.weight_v.shape
    (pyqref.Size([40, 1]), pyqref.Size([40, 20]))
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Let a weight be a plain parameter again.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.

    Raises
    ------
    ValueError
        The weight has no length and direction.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.utils.weight_norm(pyqref.nn.Linear(2, 2))
    >>> sorted(pyqref.nn.utils.remove_weight_norm(layer).state_dict())
    ['bias', 'weight']
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
