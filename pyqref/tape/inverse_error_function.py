"""The inverse of the error function, by the rational functions of Wichura's algorithm AS 241."""

from __future__ import annotations

import math

import numpy as np

from .of_one_array import OfArgument
from .operation import Array

__all__ = ["Erfinv", "erfinv"]

#: Numerators and denominators, from the constant term on: near 0, in the tails, far out.
_MIDDLE = (
    (3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
     1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
     3.3430575583588128105e4, 2.5090809287301226727e3),
    (1.0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
     2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4,
     5.2264952788528545610e3),
)  # fmt: skip
_TAIL = (
    (1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
     3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
     2.27238449892691845833e-2, 7.74545014278341407640e-4),
    (1.0, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
     1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
     1.05075007164441684324e-9),
)  # fmt: skip
_FAR = (
    (6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
     2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
     2.71155556874348757815e-5, 2.01033439929228813265e-7),
    (1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
     7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
     2.04426310338993978564e-15),
)  # fmt: skip


def _ratio(coefficients: tuple[tuple[float, ...], tuple[float, ...]], x: Array) -> Array:
    above, below = (np.polynomial.polynomial.polyval(x, each) for each in coefficients)
    return np.asarray(above / below)


def erfinv(x: Array) -> Array:
    """The number whose error function is ``x``, in [-1, 1]; nan outside.

    The normal quantile of ``(1 + x) / 2``, divided by ``sqrt(2)``.

    Examples
    --------
    >>> erfinv(np.array([0.0, 1.0, -2.0]))
    array([ 0., inf, nan])
    """
    wide = np.asarray(x, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        q = wide / 2
        middle = q * _ratio(_MIDDLE, 0.180625 - q * q)
        r = np.sqrt(-np.log((1 - np.abs(wide)) / 2))
        tail = np.where(r <= 5, _ratio(_TAIL, r - 1.6), _ratio(_FAR, r - 5))
        found = np.where(np.abs(q) <= 0.425, middle, np.copysign(tail, wide)) / math.sqrt(2)
        found = np.where(np.abs(wide) == 1, np.copysign(np.inf, wide), found)
        found = np.where(np.abs(wide) <= 1, found, np.nan)
    return np.asarray(found.astype(np.asarray(x).dtype))


class Erfinv(OfArgument):
    """The number whose error function is ``x``."""

    @staticmethod
    def value(x: Array) -> Array:
        return erfinv(x)

    def derivative(self, kept: Array) -> Array:
        return np.asarray((math.sqrt(math.pi) / 2) * np.exp(np.square(erfinv(kept))))
