"""Weights that stay orthogonal: functions from any matrix to one with orthonormal columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tape.inverse import Inverse
from ...tensor.base import wrap
from ...tensor.dispatch import apply
from ...tensor.joining import cat
from ...tensor.random import randn
from ..modules.module import Module
from .parametrize import register_parametrization

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")
#: Terms of the series of exp; with a norm below 1/2, the next one is below 2**-70.
_TERMS = 16


class _Orthogonal(Module):
    """A matrix with orthonormal columns (rows, if it has fewer), from one without conditions."""

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape = tuple(weight.shape)
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        """The orthogonal matrix of a parameter."""
        is_wide = X.shape[-2] < X.shape[-1]
        X = X.transpose(-2, -1) if is_wide else X
        rows, columns = X.shape[-2:]
        if self.orthogonal_map == "householder":
            Q = _reflections(X)
        else:
            lower = X.tril()
            if rows != columns:
                rest = lower.new_zeros((*X.shape[:-1], rows - columns))
                lower = cat([lower, rest], -1)
            skew = lower - lower.transpose(-2, -1)
            Q = _exponential(skew) if self.orthogonal_map == "matrix_exp" else _cayley(skew)
            Q = Q[..., :columns]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.transpose(-2, -1) if is_wide else Q

    def right_inverse(self, Q: Tensor) -> Tensor:
        """The parameter of a matrix; the first time the matrix is made orthogonal."""
        if tuple(Q.shape) != self.shape:
            raise ValueError(
                f"orthogonal: expected a matrix or batch of matrices of shape {self.shape}, got "
                f"{tuple(Q.shape)}"
            )
        array = Q.detach().numpy()
        is_wide = array.shape[-2] < array.shape[-1]
        array = np.swapaxes(array, -1, -2) if is_wide else array
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "orthogonal: a weight cannot be assigned through matrix_exp or cayley where "
                    "use_trivialization is False; use orthogonal_map='householder', or let "
                    "use_trivialization be True"
                )
            found = _parameter_of(array)
            return wrap(np.swapaxes(found, -1, -2).copy() if is_wide else found)
        rows, columns = array.shape[-2:]
        if self.base is None:
            array = _orthonormal(array)
        self.base = wrap(_completed(array) if rows != columns else np.array(array, order="C"))
        identity = np.broadcast_to(-np.eye(*self.shape[-2:], dtype=array.dtype), self.shape)
        return wrap(identity.copy())


def _reflections(X: Any) -> Any:
    """The product of the reflections whose vectors stand below the diagonal, times its signs."""
    rows, columns = X.shape[-2:]
    below = X.tril(-1)
    factors = 2.0 / (1.0 + (below * below).sum(-2))
    unit = wrap(np.eye(rows, columns, dtype=X._array.dtype))
    vectors = below + unit
    Q = unit.expand(X.shape)
    for column in reversed(range(columns)):
        v = vectors[..., column : column + 1]
        Q = Q - factors[..., column, None, None] * (v @ (v.transpose(-2, -1) @ Q))
    signs = wrap(np.trunc(np.diagonal(X._array, axis1=-2, axis2=-1)).astype(X._array.dtype))
    return Q * signs.unsqueeze(-2)


def _exponential(A: Any) -> Any:
    """The series of exp, of a matrix halved so often that it ends early, and squared as often."""
    largest = float(np.abs(A._array).sum(-1).max(initial=0.0))
    halvings = max(0, math.frexp(largest)[1] + 1) if math.isfinite(largest) else 0
    small = A * 0.5**halvings
    term = result = wrap(np.eye(A.shape[-1], dtype=A._array.dtype)).expand(A.shape)
    for number in range(1, _TERMS):
        term = (term @ small) * (1.0 / number)
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result


def _cayley(A: Any) -> Any:
    unit = wrap(np.eye(A.shape[-1], dtype=A._array.dtype))
    return apply(Inverse, unit - A * 0.5) @ (unit + A * 0.5)


def _orthonormal(array: Any) -> Any:
    """Q of the decomposition QR whose R has no negative number on its diagonal."""
    Q, R = np.linalg.qr(array)
    return Q * np.sign(np.diagonal(R, axis1=-2, axis2=-1))[..., None, :].astype(array.dtype)


def _completed(array: Any) -> Any:
    """Square: columns that are orthonormal, followed by others, drawn and then made so."""
    *batch, rows, columns = array.shape
    others = randn(*batch, rows, rows - columns).numpy().astype(array.dtype)
    for _ in range(2):  # once leaves what rounding makes of it
        others = others - array @ (np.swapaxes(array, -1, -2) @ others)
        others = _orthonormal(others)
    return np.concatenate([array, others], -1)


def _parameter_of(array: Any) -> Any:
    """Reflections and signs that give a matrix with orthonormal columns."""
    result = np.empty_like(array)
    for where in np.ndindex(array.shape[:-2]):
        raw, factors = np.linalg.qr(array[where], mode="raw")
        found = raw.T.astype(array.dtype).copy()
        places = np.arange(found.shape[1])
        # A factor of zero means no reflection, and would be one with the vector (1, 0, ...).
        found[places, places] = np.sign(found[places, places]) * np.where(factors == 0, -1, 1)
        result[where] = found
    return result


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    r"""Let a module compute a weight with orthonormal columns, or rows where it has fewer.

    For a matrix of shape `(n, k)` with :math:`n \ge k`, and :math:`A` the skew-symmetric matrix
    with the parameter's lower triangle:

    .. math::
        Q = e^A, \qquad Q = (I - A/2)^{-1} (I + A/2), \qquad
        Q = \prod_i \left(I - \frac{2}{v_i^T v_i} v_i v_i^T\right)

    Parameters
    ----------
    module
        The module; it is returned.
    name
        Of the weight, which has two dimensions or more; the last two are those of matrices.
    orthogonal_map
        ``"matrix_exp"``, ``"cayley"`` or ``"householder"``. None: the first of square matrices, the
        last of others.
    use_trivialization
        Keep an orthogonal matrix in ``parametrizations.weight[0].base``, which the function is
        multiplied by.

    Raises
    ------
    ValueError
        The module has no such weight, it is no matrix, or ``orthogonal_map`` is unknown.

    Notes
    -----
    The weight begins as the one that it was, made orthogonal; with ``use_trivialization=False`` and
    ``"matrix_exp"`` or ``"cayley"``, the old weight is the parameter.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.utils import parametrizations
    >>> layer = parametrizations.orthogonal(pyqref.nn.Linear(20, 40))
    >>> Q = layer.weight
    >>> bool(pyqref.dist(Q.T @ Q, pyqref.eye(20)) < 1e-5)
    True
    """
    weight = getattr(module, name, None)
    if weight is None or not hasattr(weight, "detach"):
        raise ValueError(
            f"Module '{type(module).__name__}' has no parameter or buffer with name '{name}'"
        )
    if weight.dim() < 2:
        raise ValueError(
            f"orthogonal: expected a matrix or batch of matrices, got {weight.dim()} dimension(s)"
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder", got '
            f"{orthogonal_map!r}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
