"""Known ways to compute a weight, as parametrizations."""

from __future__ import annotations

from typing import Any

from ..._typing import Tensor
from ...tape import no_grad
from ...tensor.linalg import dot, mv
from ..functional.normalization import normalize
from ..modules.module import Module
from .orthogonal import orthogonal as orthogonal
from .parametrize import register_parametrization
from .spectral_norm import as_matrix, default_dim
from .weight_norm import norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """``g * v / norm(v)``."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, weight_g: Any, weight_v: Any) -> Module:
        """The weight of a length and a direction."""
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Any, Any]:
        """Length and direction of a weight."""
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Let a module compute a weight from a length and a direction: ``g * v / norm(v)``.

    The parameters are ``parametrizations.weight.original0``, the length, and ``original1``.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.
    dim
        The axis whose elements have lengths of their own; None for one length of all.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.utils import parametrizations
    >>> layer = parametrizations.weight_norm(pyqref.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    pyqref.Size([40, 1])
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    """``W / (u . W v)``."""

    _u: Tensor
    _v: Tensor

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, "
                f"{weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            rows, columns = matrix.shape
            u, v = matrix.new_empty(rows).normal_(0, 1), matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._turn(matrix, 15)

    def _turn(self, matrix: Any, times: int) -> None:
        """Power iterations; unlike those of the hook, they turn `u` first."""
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """The weight divided by its largest singular value."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._turn(matrix.detach(), self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / dot(u, mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: it is taken for one that is divided already."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Let a module divide a weight by its largest singular value.

    ``weight = W / (u . W v)``, where every use in training mode turns `u` and `v` towards the
    singular vectors; 15 turns are made at once.

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight.
        Turns for each use, > 0.
    eps
        Least length that a vector is divided by.
    dim
        The axis of the outputs; 0, or 1 of a transposed convolution, by default.

    Raises
    ------
    ValueError
        The module has no such parameter.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.utils import parametrizations
    >>> layer = parametrizations.spectral_norm(pyqref.nn.Linear(20, 40))
    >>> layer.parametrizations.weight[0]._u.shape
    pyqref.Size([40])
    """
    weight = getattr(module, name, None)
    if weight is None or not hasattr(weight, "detach"):
        raise ValueError(f"Module '{type(module).__name__}' has no parameter or buffer '{name}'")
    dim = default_dim(module) if dim is None else dim
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
