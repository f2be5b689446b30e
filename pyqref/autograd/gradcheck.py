"""Derivatives compared with differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import no_grad
from ..tensor.base import TensorBase
from .differentiate import grad

__all__ = ["GradcheckError", "gradcheck"]


class GradcheckError(RuntimeError):
    """A derivative does not agree with the differences.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0], dtype=pyqref.float64, requires_grad=True)
    >>> def forgets(x):
    ...     return x * x.detach()  # half of the gradient of x * x
    >>> try:
    ...     pyqref.autograd.gradcheck(forgets, (x,))
    ... except GradcheckError:
    ...     print("a gradient is missing")
    a gradient is missing
    """


def gradcheck(
    func: Callable[..., Any],
    inputs: Sequence[Tensor],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    r"""Compare the gradients of ``func`` with central differences.

    For each element of each input that requires a gradient the Jacobian's column is

    .. math:: \frac{f(x + \epsilon) - f(x - \epsilon)}{2 \epsilon}

    In double precision its error is about :math:`10^{-16} / \epsilon + \epsilon^2`
    times the size of the function and of its third derivative: 1e-10 with the default
    ``eps``, far below the default bounds.

    Parameters
    ----------
    func
        Takes tensors, gives a tensor or a tuple of tensors.
    inputs
        Its arguments; those that require a gradient are float64.
    eps
        Step.
    atol, rtol
        ``|analytic - numeric| <= atol + rtol * |numeric|`` must hold everywhere.
    raise_exception
        Raise :class:`GradcheckError` instead of returning False.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.5, 2.0], dtype=pyqref.float64, requires_grad=True)
    >>> gradcheck(lambda x: x.sin() * x, (x,))
    True
    """
    arguments = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    checked = [a for a in arguments if isinstance(a, TensorBase) and a.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them do"
        )
    for each in checked:
        if each._array.dtype != np.float64:
            raise ValueError(f"gradcheck: inputs must be float64, got {each.dtype}")
    count = len(_outputs(func(*arguments)))
    for output_index in range(count):
        for input_index, argument in enumerate(checked):
            analytic = _analytic(func, arguments, argument, output_index)
            numeric = _numeric(func, arguments, argument, output_index, eps)
            if not np.allclose(analytic, numeric, rtol, atol):
                if not raise_exception:
                    return False
                raise GradcheckError(
                    f"Jacobian mismatch for output {output_index} with respect to input "
                    f"{input_index},\nnumerical:{numeric}\nanalytical:{analytic}"
                )
    return True


def _outputs(result: Any) -> Sequence[Any]:
    several = result if isinstance(result, (tuple, list)) else (result,)
    return [each for each in several if each._array.dtype.kind == "f"]


def _analytic(func: Any, arguments: Any, argument: Any, output_index: int) -> Any:
    """Row by row: the gradient of one element of the output."""
    output = _outputs(func(*arguments))[output_index]
    rows = []
    for position in range(output._array.size):
        chosen = output.reshape(-1)[position]
        if not chosen.requires_grad:
            rows.append(np.zeros(argument._array.size))
            continue
        (found,) = grad(chosen, argument, retain_graph=True, allow_unused=True)
        rows.append(np.zeros(argument._array.size) if found is None else found._array.reshape(-1))
    return np.array(rows).reshape(output._array.size, argument._array.size)


def _numeric(func: Any, arguments: Any, argument: Any, output_index: int, eps: float) -> Any:
    """Column by column: what one element of the input changes."""
    columns = []
    with no_grad():
        for place in np.ndindex(argument._array.shape):
            original = argument._array[place]
            values = []
            for step in (eps, -eps):
                argument._array[place] = original + step
                values.append(_outputs(func(*arguments))[output_index]._array.reshape(-1).copy())
            argument._array[place] = original
            columns.append((values[0] - values[1]) / (2 * eps))
    return np.array(columns).reshape(argument._array.size, -1).T
