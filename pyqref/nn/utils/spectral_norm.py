"""A weight divided by its largest singular value."""

from __future__ import annotations

from typing import Any

from ..._typing import Module, Tensor
from ...tape import no_grad
from ...tensor.linalg import dot, mv
from ...tensor.parameter import Parameter
from ..functional.normalization import normalize

__all__ = ["remove_spectral_norm", "spectral_norm"]


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with ``dim`` as rows and all else as columns."""
    if dim != 0:
        weight = (
            weight.transpose(0, dim)
            if weight.ndim == 2
            else weight.permute(dim, *[axis for axis in range(weight.ndim) if axis != dim])
        )
    return weight.reshape(weight.shape[0], -1)


def default_dim(module: Module) -> int:
    """The axis of the output channels: 1 of a transposed convolution, otherwise 0."""
    return int(any(cls.__name__.startswith("ConvTranspose") for cls in type(module).__mro__))


def power_iterations(matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float) -> None:
    """Turn ``u`` and ``v`` towards the largest singular vectors, in place.

    ``v = normalize(W^T u)``, then ``u = normalize(W v)``.
    """
    with no_grad():
        for _ in range(times):
            v.copy_(normalize(mv(matrix.t(), u), dim=0, eps=eps))
            u.copy_(normalize(mv(matrix, v), dim=0, eps=eps))


class SpectralNorm:
    """The hook that computes a weight from its original before every call.

    Parameters
    ----------
    name, n_power_iterations, dim, eps
        See :func:`spectral_norm`.
    """

    _version = 1

    def __init__(
        self,
        name: str = "weight",
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """``W / sigma``, with ``sigma = u . W v``."""
        weight = getattr(module, f"{self.name}_orig")
        u, v = getattr(module, f"{self.name}_u"), getattr(module, f"{self.name}_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            power_iterations(matrix.detach(), u, v, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()
        return weight / dot(u, mv(matrix, v))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Give a module the original weight and two vectors."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}; call "
                    "remove_spectral_norm first"
                )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters.get(name)
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with no_grad():
            rows, columns = as_matrix(weight.detach(), dim).shape
            u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
        del module._parameters[name]
        module.register_parameter(f"{name}_orig", weight)
        # Not a parameter, and no buffer: until the first call it is the weight itself.
        setattr(module, name, weight.detach())
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Keep the weight of now."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for name in ("u", "v"):
            del module._buffers[f"{self.name}_{name}"]
        del module._parameters[f"{self.name}_orig"]
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: tuple[Any, ...]) -> None:
        weight = self.compute_weight(module, do_power_iteration=module.training)
        setattr(module, self.name, weight)


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Let a module divide a weight by its largest singular value.

    ``weight = W / (u . W v)`` (Miyato et al., 2018), where every call in training mode turns `u`
    and `v` a little: ``v = normalize(W^T u)``, ``u = normalize(W v)``. The parameter is
    ``weight_orig``, the vectors are buffers.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.
    n_power_iterations
        Turns in a call, > 0.
    eps
        Least length that a vector is divided by.
    dim
        The axis of the outputs; 0, or 1 of a transposed convolution, by default.

    Raises
    ------
    RuntimeError
        The weight is divided already.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.utils.spectral_norm(pyqref.nn.Linear(20, 40))
    >>> layer.weight_u.shape
    pyqref.Size([40])
    """
    dim = default_dim(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Let a weight be a plain parameter again, with its value of now.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.

    Raises
    ------
    ValueError
        The weight is not divided.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.utils.spectral_norm(pyqref.nn.Linear(2, 2))
    >>> sorted(pyqref.nn.utils.remove_spectral_norm(layer).state_dict())
    ['bias', 'weight']
    """
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
