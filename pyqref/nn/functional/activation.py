"""Activations of one tensor, element by element.

Each runs one operation of the tape (:mod:`pyqref.tape.activation`); with
``inplace=True`` the result is stored in the input.
"""

from __future__ import annotations

import math
from inspect import signature
from typing import Any

from ..._typing import Tensor
from ...tape import Operation, gated, unary
from ...tape import activation as tape
from ...tensor.arguments import as_flag, as_number
from ...tensor.dispatch import apply
from ...tensor.inplace import apply_
from ...tensor.wrong_arguments import explains_errors
from .checks import require_floating, require_tensor

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "logsigmoid",
    "mish",
    "relu",
    "relu6",
    "relu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def _run(
    name: str, operation: type[Operation], input: Any, *parameters: Any, inplace: bool = False
) -> Any:
    require_floating(name, "input", input)
    if inplace is not False:
        inplace = as_flag(inplace, f"{name}(): inplace")
    if any(type(each) is not float for each in parameters):
        names = list(signature(globals()[name]).parameters)[1:]  # constants, if any, come last
        parameters = tuple(
            each if type(each) is float else as_number(each, f"{name}(): {names[place]}")
            for place, each in enumerate(parameters)
        )
    return (apply_ if inplace else apply)(operation, input, *parameters)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """``max(input, 0)``, of any dtype; slope 0 at 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.relu(pyqref.tensor([-2.0, 0.0, 2.0])).tolist()
    [0.0, 0.0, 2.0]
    """
    require_tensor("relu", "input", input)
    if inplace is not False:
        inplace = as_flag(inplace, "relu(): inplace")
    return (apply_ if inplace else apply)(unary.Relu, input)


def relu_(input: Tensor) -> Tensor:
    """:func:`relu`, stored in ``input``."""
    return relu(input, inplace=True)


def sigmoid(input: Tensor) -> Tensor:
    """``1 / (1 + exp(-input))``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.sigmoid(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    require_tensor("sigmoid", "input", input)
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.tanh(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    require_tensor("tanh", "input", input)
    return input.tanh()


@explains_errors
def hardtanh(
    input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Tensor:
    """``min(max(input, min_val), max_val)``; slope 0 at both ends.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.hardtanh(pyqref.tensor([-5.0, 0.5, 5.0]), -1.0, 2.0).tolist()
    [-1.0, 0.5, 2.0]
    """
    if not min_val <= max_val:
        raise ValueError(f"min_val cannot be greater than max_val, got {min_val}, {max_val}")
    return _run("hardtanh", tape.Hardtanh, input, min_val, max_val, inplace=inplace)


def hardtanh_(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """:func:`hardtanh`, stored in ``input``."""
    return hardtanh(input, min_val, max_val, inplace=True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """``min(max(input, 0), 6)``; slope 0 at 0 and at 6.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.relu6(pyqref.tensor([-2.0, 3.0, 8.0])).tolist()
    [0.0, 3.0, 6.0]
    """
    return _run("relu6", tape.Hardtanh, input, 0.0, 6.0, inplace=inplace)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``negative_slope * input``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.leaky_relu(pyqref.tensor([-4.0, 4.0]), 0.25).tolist()
    [-1.0, 4.0]
    """
    return _run("leaky_relu", tape.LeakyRelu, input, negative_slope, inplace=inplace)


def leaky_relu_(input: Tensor, negative_slope: float = 0.01) -> Tensor:
    """:func:`leaky_relu`, stored in ``input``."""
    return leaky_relu(input, negative_slope, inplace=True)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``input`` where it is positive, else ``alpha * (exp(input) - 1)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.elu(pyqref.tensor([-1000.0, 2.0]), alpha=0.5).tolist()
    [-0.5, 2.0]
    """
    return _run("elu", tape.Elu, input, alpha, 1.0, 1.0, inplace=inplace)


def elu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """:func:`elu`, stored in ``input``."""
    return elu(input, alpha, inplace=True)


@explains_errors
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """``max(0, input) + min(0, alpha * (exp(input / alpha) - 1))``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.celu(pyqref.tensor([-1000.0, 2.0]), alpha=0.5).tolist()
    [-0.5, 2.0]
    """
    alpha = as_number(alpha, "celu(): alpha")
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _run("celu", tape.Elu, input, alpha, 1.0, 1.0 / alpha, inplace=inplace)


def celu_(input: Tensor, alpha: float = 1.0) -> Tensor:
    """:func:`celu`, stored in ``input``."""
    return celu(input, alpha, inplace=True)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """``1.0507 * elu(input, 1.6733)``, the constants that keep mean 0 and variance 1.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.selu(pyqref.tensor([-1000.0, 0.0, 1.0])).tolist()
    [-1.7580993175506592, 0.0, 1.0507010221481323]
    """
    return _run("selu", tape.Elu, input, SELU_ALPHA, SELU_SCALE, 1.0, inplace=inplace)


def selu_(input: Tensor) -> Tensor:
    """:func:`selu`, stored in ``input``."""
    return selu(input, inplace=True)


@explains_errors
def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """``input`` times the normal distribution function; ``approximate`` "none" or "tanh".

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.gelu(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-0.0, 0.0, 1000.0]
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu(): approximate must be 'none' or 'tanh', got {approximate!r}")
    require_floating("gelu", "input", input)
    return apply(gated.Gelu, input, approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * sigmoid(input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.silu(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-0.0, 0.0, 1000.0]
    """
    return _run("silu", tape.Silu, input, inplace=inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * tanh(log(1 + exp(input)))``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.mish(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-0.0, 0.0, 1000.0]
    """
    return _run("mish", tape.Mish, input, inplace=inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * relu6(input + 3) / 6``; slope 0 at -3 and 1 at 3.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.hardswish(pyqref.tensor([-3.0, -1.5, 1.0, 3.0])).tolist()
    [-0.0, -0.375, 0.6666666865348816, 3.0]
    """
    return _run("hardswish", tape.Hardswish, input, inplace=inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``relu6(input + 3) / 6``; slope 0 at -3 and 3.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.hardsigmoid(pyqref.tensor([-3.0, 0.0, 1.5, 3.0])).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """
    return _run("hardsigmoid", tape.Hardsigmoid, input, inplace=inplace)


def logsigmoid(input: Tensor) -> Tensor:
    """``log(sigmoid(input))``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.logsigmoid(pyqref.tensor([-1000.0])).item()  # where log(0) would be -inf
    -1000.0
    """
    return _run("logsigmoid", tape.LogSigmoid, input)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """``log(1 + exp(beta * input)) / beta``; ``input`` where ``beta * input > threshold``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.softplus(pyqref.tensor([-1000.0, 1000.0])).tolist()
    [0.0, 1000.0]
    """
    return _run("softplus", tape.Softplus, input, beta, threshold)


def softsign(input: Tensor) -> Tensor:
    """``input / (1 + |input|)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.softsign(pyqref.tensor([-1.0, 0.0, 3.0])).tolist()
    [-0.5, 0.0, 0.75]
    """
    return _run("softsign", tape.Softsign, input)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """``input`` where it is above ``threshold``, else ``value``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.threshold(pyqref.tensor([0.5, 1.0, 1.5]), 1.0, -7.0).tolist()
    [-7.0, -7.0, 1.5]
    """
    return _run("threshold", tape.Threshold, input, threshold, value, inplace=inplace)


def threshold_(input: Tensor, threshold: float, value: float) -> Tensor:
    """:func:`threshold`, stored in ``input``."""
    return _run("threshold_", tape.Threshold, input, threshold, value, inplace=True)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` where ``|input| > lambd``, else 0.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.hardshrink(pyqref.tensor([-1.0, 0.25, 1.0])).tolist()
    [-1.0, 0.0, 1.0]
    """
    return _run("hardshrink", tape.Hardshrink, input, lambd)


@explains_errors
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """``input`` moved towards 0 by ``lambd``, which is at least 0; 0 in between.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.softshrink(pyqref.tensor([-1.0, 0.25, 1.0])).tolist()
    [-0.5, 0.0, 0.5]
    """
    if not (lambd >= 0 and not math.isnan(lambd)):
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}")
    return _run("softshrink", tape.Softshrink, input, lambd)


def tanhshrink(input: Tensor) -> Tensor:
    """``input - tanh(input)``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.tanhshrink(pyqref.tensor([-1000.0, 0.0, 1000.0])).tolist()
    [-999.0, 0.0, 999.0]
    """
    require_floating("tanhshrink", "input", input)
    return input - input.tanh()
