"""Sums over named axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._typing import Tensor
from ..tape.matmul import Einsum
from .diagonals import diagonal
from .dispatch import apply
from .memory import require_memory
from .wrong_arguments import explain_errors

__all__ = ["einsum", "tensordot"]


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] = 2) -> Tensor:
    """Sum of products over pairs of axes: the last ``dims`` of ``a``, or two lists of axes.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.tensordot(pyqref.ones(2, 3, 4), pyqref.ones(3, 4, 5), dims=2).shape
    pyqref.Size([2, 5])
    """
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot: dims must be in [0, {min(a.ndim, b.ndim)}], got {dims}")
        axes_a, axes_b = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        axes_a = [axis % a.ndim for axis in dims[0]]
        axes_b = [axis % b.ndim for axis in dims[1]]
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names_a = letters[: a.ndim]
    names_b = list(letters[a.ndim : a.ndim + b.ndim])
    for axis_a, axis_b in zip(axes_a, axes_b, strict=True):
        names_b[axis_b] = names_a[axis_a]
    left = [name for name in names_a if name not in names_b]
    right = [name for name in names_b if name not in names_a]
    return einsum(f"{names_a},{''.join(names_b)}->{''.join(left + right)}", a, b)


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """Einstein's sum, such as ``einsum("bij,bjk->bik", a, b)``; ``...`` is allowed.

    Raises
    ------
    RuntimeError
        The equation does not fit the operands.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([[3.0, 4.0], [5.0, 6.0]])
    >>> pyqref.einsum("ij,kj->ik", x, y).tolist()
    [[11.0, 17.0]]
    """
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(operands):
        raise RuntimeError(
            f"einsum(): the equation names {len(terms)} operands, but {len(operands)} were given"
        )
    terms, output = _without_ellipsis(terms, output if arrow else None, operands)
    tensors = []
    for position, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        if len(term) != operand.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(term)}) does not match "
                f"the number of dimensions ({operand.ndim}) for operand {position}"
            )
        terms[position], operand = _without_repeats(term, operand)
        tensors.append(operand)
    lengths = {
        letter: length
        for term, tensor in zip(terms, tensors, strict=True)
        for letter, length in zip(term, tensor._array.shape, strict=True)
        if length != 1
    }
    shape = [lengths.get(letter, 1) for letter in output]
    require_memory(shape, tensors[0]._array.itemsize, "einsum: a result")
    try:
        return apply(Einsum, f"{','.join(terms)}->{output}", *tensors)
    except ValueError as error:
        raise RuntimeError(f"einsum(): {error}") from None


def _without_ellipsis(
    terms: list[str], output: str | None, operands: tuple[Any, ...]
) -> tuple[list[str], str]:
    """Letters of their own for the axes that ``...`` stands for."""
    widths = [
        operand.ndim - len(term) + 3 if "..." in term else 0
        for term, operand in zip(terms, operands, strict=True)
    ]
    used = "".join(terms) + (output or "")
    free = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBAzyxwvutsrqponmlkjihgfedcba" if c not in used]
    letters = "".join(free[: max(widths, default=0)])
    named = [
        term.replace("...", letters[len(letters) - width :])
        for term, width in zip(terms, widths, strict=True)
    ]
    if output is None:
        everything = "".join(named)
        once = sorted({c for c in everything if everything.count(c) == 1 and c not in letters})
        return named, letters + "".join(once)
    return named, output.replace("...", letters)


def _without_repeats(term: str, operand: Any) -> tuple[str, Any]:
    """Take the diagonal of axes that share a letter."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            first = term.index(letter)
            second = term.index(letter, first + 1)
            operand = diagonal(operand, 0, first, second)
            term = term[:first] + term[first + 1 : second] + term[second + 1 :] + letter
    return term, operand


explain_errors(globals())
