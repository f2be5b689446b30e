"""Filling tensors with first values, in place.

Each function changes its tensor, records nothing on the tape, and returns the tensor.
With the same seed the random ones draw the same numbers as ``torch``.
"""

from __future__ import annotations

import math
import warnings
from statistics import NormalDist
from typing import Any

import numpy as np

from .._typing import Generator, Tensor
from ..tensor.filling import fans_of, fills
from .gain import calculate_gain

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]


@fills
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with values drawn uniformly from [a, b).

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.uniform_(pyqref.empty(1000), -3.0, -1.0)
    >>> bool((-3.0 <= weight).all() and (weight < -1.0).all())
    True
    """
    return tensor.uniform_(a, b, generator=generator)


@fills
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Fill with values drawn from the normal distribution.

    Examples
    --------
    >>> import pyqref
    >>> abs(pyqref.nn.init.normal_(pyqref.empty(10000), 5.0, 0.1).mean().item() - 5.0) < 0.01
    True
    """
    return tensor.normal_(mean, std, generator=generator)


@fills
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with ``val``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.init.constant_(pyqref.empty(3), 0.25).tolist()
    [0.25, 0.25, 0.25]
    """
    return tensor.fill_(val)


@fills
def zeros_(tensor: Tensor) -> Tensor:
    """:func:`constant_` with 0."""
    return constant_(tensor, 0.0)


@fills
def ones_(tensor: Tensor) -> Tensor:
    """:func:`constant_` with 1."""
    return constant_(tensor, 1.0)


@fills
def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix `(rows, columns)` the identity.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.init.eye_(pyqref.empty(2, 3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if tensor._array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _set(tensor, np.eye(*tensor._array.shape))


@fills
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution, `(C_out, C_in, *kernel)`, pass its input on.

    Parameters
    ----------
    tensor
        Weight of 3, 4 or 5 dimensions.
    groups
        Number of groups of output channels; each group is filled by itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.init.dirac_(pyqref.empty(2, 2, 3)).tolist()
    [[[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """
    shape = tensor._array.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups != 0:
        raise ValueError(f"dim 0 must be divisible by groups, got {shape[0]} and {groups}")
    values = np.zeros(shape)
    out_per_group = shape[0] // groups
    middle = tuple(length // 2 for length in shape[2:])
    for group in range(groups):
        for channel in range(min(out_per_group, shape[1])):
            values[(group * out_per_group + channel, channel, *middle)] = 1
    return _set(tensor, values)


@fills
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Uniform in [-b, b), ``b = gain * sqrt(6 / (fan_in + fan_out))`` (Glorot, Bengio 2010).

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.xavier_uniform_(pyqref.empty(50, 100))
    >>> 0.195 < weight.abs().max().item() <= 0.2  # sqrt(6 / 150)
    True
    """
    fan_in, fan_out = fans_of(tensor)
    std = gain * math.sqrt(2.0 / float(fan_in + fan_out))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


@fills
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal, ``std = gain * sqrt(2 / (fan_in + fan_out))`` (Glorot, Bengio 2010).

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.xavier_normal_(pyqref.empty(50, 150))
    >>> abs(weight.std().item() - 0.1) < 0.005  # sqrt(2 / 200)
    True
    """
    fan_in, fan_out = fans_of(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


@fills
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in [-b, b), ``b = gain * sqrt(3 / fan)`` (He et al. 2015).

    Parameters
    ----------
    tensor
        Weight `(C_out, C_in, ...)`.
    a
        Negative slope, for ``leaky_relu``.
    mode
        ``"fan_in"`` keeps the variance on the way forward, ``"fan_out"`` on the way back.
    nonlinearity
        A name that :func:`calculate_gain` knows.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.kaiming_uniform_(pyqref.empty(100, 6), nonlinearity="relu")
    >>> 0.95 < weight.abs().max().item() <= 1.0  # sqrt(2) * sqrt(3 / 6)
    True
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


@fills
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal, ``std = gain / sqrt(fan)``; see :func:`kaiming_uniform_`.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.kaiming_normal_(pyqref.empty(200, 200), nonlinearity="relu")
    >>> abs(weight.std().item() - 0.1) < 0.002  # sqrt(2 / 200)
    True
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, _kaiming_std(tensor, a, mode, nonlinearity), generator)


@fills
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal, but within [a, b]: what falls outside is drawn again.

    Where more than 0.3 of the normal distribution lies within, its values are drawn and
    kept if they do; otherwise values are drawn uniformly from [a, b] and kept with the
    probability ``exp(-((x - mean) / std)**2 / 2)`` relative to its largest value.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.init.trunc_normal_(pyqref.empty(1000), a=-0.5, b=0.5).abs().max().item() <= 0.5
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )
    normal = NormalDist()
    inside = normal.cdf((b - mean) / std) - normal.cdf((a - mean) / std)
    if inside > 0.3:
        return _reject_from_normal(tensor, mean, std, a, b, generator)
    return _reject_from_uniform(tensor, mean, std, a, b, generator)


def _reject_from_normal(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> Any:
    dtype = tensor._array.dtype.type
    values = normal_(tensor, mean, std, generator)._array.copy()
    while (outside := (values < dtype(a)) | (values > dtype(b))).any():
        fresh = normal_(tensor, mean, std, generator)._array
        values = np.where(outside, fresh, values)
    return _set(tensor, values)


def _reject_from_uniform(
    tensor: Any, mean: float, std: float, a: float, b: float, generator: Any
) -> Any:
    log_peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    values = np.empty_like(tensor._array)
    pending = np.ones(values.shape, bool)
    while pending.any():
        fresh = uniform_(tensor, a, b, generator)._array.copy()
        values = np.where(pending, fresh, values)
        log_density = ((fresh - mean) / std) ** 2 * -0.5 - log_peak
        with np.errstate(divide="ignore"):
            pending &= np.log(uniform_(tensor, 0.0, 1.0, generator)._array) > log_density
    return _set(tensor, values)


@fills
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Rows (or columns, if there are more rows) of length ``gain``, at right angles.

    Dimensions after the first count as one (Saxe et al. 2013).

    Examples
    --------
    >>> import pyqref
    >>> rows = pyqref.nn.init.orthogonal_(pyqref.empty(3, 5))
    >>> pyqref.allclose(rows @ rows.T, pyqref.eye(3), atol=1e-6)
    True
    """
    array = tensor._array
    if array.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if array.size == 0:
        return tensor
    normal_(tensor, 0.0, 1.0, generator)
    rows = array.shape[0]
    flat = array.reshape(rows, array.size // rows)
    wide = rows < flat.shape[1]
    q, r = np.linalg.qr(flat.T if wide else flat)
    q = q * np.sign(np.diag(r))
    return _set(tensor, (q.T if wide else q).reshape(array.shape) * gain)


@fills
def sparse_(
    tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None
) -> Tensor:
    """Normal, with a fraction ``sparsity`` of each column zero (Martens 2010).

    Which elements are zero is drawn from the same generator, but not as ``torch`` does.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.init.sparse_(pyqref.empty(10, 4), sparsity=0.3)
    >>> (weight == 0).sum(0).tolist()
    [3, 3, 3, 3]
    """
    if tensor._array.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows = tensor._array.shape[0]
    normal_(tensor, 0.0, std, generator)
    values = tensor._array.copy()
    order = normal_(tensor, 0.0, 1.0, generator)._array.argsort(axis=0)
    np.put_along_axis(values, order[: math.ceil(sparsity * rows)], 0, axis=0)
    return _set(tensor, values)


@fills
def _set(tensor: Any, values: Any) -> Any:
    """Write NumPy values into the tensor."""
    tensor._array[...] = values
    tensor._version[0] += 1
    return tensor


def _is_empty(tensor: Any) -> bool:
    if 0 not in tensor._array.shape:
        return False
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=4)
    return True


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    modes = ["fan_in", "fan_out"]
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    fan = fans_of(tensor)[modes.index(mode)]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


_calculate_fan_in_and_fan_out = fans_of
