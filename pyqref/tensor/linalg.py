"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from ..tape.matmul import Einsum, Matmul
from .arithmetic import add, mul
from .axes import require_rank
from .diagonals import diagonal
from .dispatch import apply, require_tensor
from .inplace import in_place
from .joining import stack
from .memory import require_memory
from .refusal import refuse_quantized
from .shape import reshape
from .wrong_arguments import explain_errors

__all__ = [
    "addbmm_",
    "addbmm",
    "addmm",
    "addmv",
    "baddbmm",
    "bmm",
    "cdist",
    "cross",
    "dot",
    "einsum",
    "inner",
    "matmul",
    "mm",
    "mv",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]


def matmul(input: Any, other: Any) -> Any:
    """Matrix product; leading axes are stacks and broadcast, vectors are rows or columns.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.matmul(pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([3.0, 4.0])).tolist()
    [11.0]
    >>> pyqref.matmul(pyqref.ones(7, 2, 3), pyqref.ones(3, 4)).shape
    pyqref.Size([7, 2, 4])
    """
    require_tensor("matmul", "input", input)
    require_tensor("matmul", "other", other)
    a, b = input._array, other._array
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        refuse_quantized(input, other)
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {input.dtype} != {other.dtype}"
        )
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else -1]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({_matrix(a)} and {_matrix(b, right=True)})"
        )
    return apply(Matmul, input, other)


def _matrix(array: Any, *, right: bool = False) -> str:
    shape = array.shape if array.ndim > 1 else ((*array.shape, 1) if right else (1, *array.shape))
    return "x".join(str(length) for length in shape)


def mm(input: Any, mat2: Any) -> Any:
    """Product of two matrices.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.mm(pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    require_rank("mm", "input", input, 2)
    require_rank("mm", "mat2", mat2, 2)
    return matmul(input, mat2)


def bmm(input: Any, mat2: Any) -> Any:
    """Products of two stacks of matrices of equal length.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.bmm(pyqref.ones(2, 3, 4), pyqref.ones(2, 4, 5)).shape
    pyqref.Size([2, 3, 5])
    """
    require_rank("bmm", "input", input, 3)
    require_rank("bmm", "mat2", mat2, 3)
    if input._array.shape[0] != mat2._array.shape[0]:
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"[{input._array.shape[0]}, {input._array.shape[2]}] but got: "
            f"[{mat2._array.shape[0]}, {mat2._array.shape[1]}]."
        )
    return matmul(input, mat2)


def mv(input: Any, vec: Any) -> Any:
    """Product of a matrix and a vector.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.mv(pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([3.0, 4.0])).tolist()
    [11.0]
    """
    require_rank("mv", "input", input, 2)
    require_rank("mv", "vec", vec, 1)
    return matmul(input, vec)


def dot(input: Any, tensor: Any) -> Any:
    """Sum of the products of two vectors.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.dot(pyqref.tensor([1.0, 2.0]), pyqref.tensor([3.0, 4.0])).item()
    11.0
    """
    require_rank("dot", "input", input, 1)
    require_rank("dot", "tensor", tensor, 1)
    if input._array.shape != tensor._array.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {list(input.shape)} and src "
            f"{list(tensor.shape)} to have the same number of elements"
        )
    return matmul(input, tensor)


def inner(input: Any, other: Any) -> Any:
    """Sum of products over the last axes.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.inner(pyqref.tensor([1.0, 2.0]), pyqref.tensor([[3.0, 4.0], [5.0, 6.0]])).tolist()
    [11.0, 17.0]
    """
    if input.ndim == 0 or other.ndim == 0:
        return mul(input, other)
    return tensordot(input, other, ([-1], [-1]))


def outer(input: Any, vec2: Any) -> Any:
    """``out[i][j] = input[i] * vec2[j]``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.outer(pyqref.tensor([1, 2]), pyqref.tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    require_rank("outer", "input", input, 1)
    require_rank("outer", "vec2", vec2, 1)
    size = input._array.size, vec2._array.size
    require_memory(size, input._array.itemsize, "outer: a result")
    return mul(reshape(input, -1, 1), vec2)


def _scaled_sum(input: Any, product: Any, beta: Any, alpha: Any) -> Any:
    product = product if alpha == 1 else mul(product, alpha)
    if beta == 0:
        return product
    return add(input if beta == 1 else mul(input, beta), product)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat1 @ mat2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([[3.0], [4.0]])
    >>> pyqref.addmm(pyqref.tensor([1.0]), x, y, beta=10).tolist()
    [[21.0]]
    """
    return _scaled_sum(input, mm(mat1, mat2), beta, alpha)


def addmv(input: Any, mat: Any, vec: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (mat @ vec)``.

    Examples
    --------
    >>> import pyqref
    >>> matrix, vector = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([3.0, 4.0])
    >>> pyqref.addmv(pyqref.tensor([1.0]), matrix, vector, alpha=10).tolist()
    [111.0]
    """
    return _scaled_sum(input, mv(mat, vec), beta, alpha)


def baddbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * (batch1 @ batch2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.ones(2, 1, 3), pyqref.ones(2, 3, 1)
    >>> pyqref.baddbmm(pyqref.ones(2, 1, 1), x, y).flatten().tolist()
    [4.0, 4.0]
    """
    return _scaled_sum(input, bmm(batch1, batch2), beta, alpha)


def addbmm(input: Any, batch1: Any, batch2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * input + alpha * sum(batch1 @ batch2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.ones(3, 1, 2), pyqref.ones(3, 2, 1)
    >>> pyqref.addbmm(pyqref.zeros(1, 1), x, y).tolist()  # summed over the batch
    [[6.0]]
    """
    return _scaled_sum(input, bmm(batch1, batch2).sum(0), beta, alpha)


def tensordot(a: Any, b: Any, dims: Any = 2) -> Any:
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


def einsum(equation: str, *operands: Any) -> Any:
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


def trace(input: Any) -> Any:
    """Sum of the diagonal of a matrix.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.trace(pyqref.tensor([[1, 2], [3, 4]])).item()
    5
    """
    require_rank("trace", "input", input, 2)
    return diagonal(input).sum()


def cross(input: Any, other: Any, dim: int = -1) -> Any:
    """Cross product of vectors of three numbers along ``dim``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cross(pyqref.tensor([1.0, 0.0, 0.0]), pyqref.tensor([0.0, 1.0, 0.0])).tolist()
    [0.0, 0.0, 1.0]
    """
    a, b = input.unbind(dim), other.unbind(dim)
    if len(a) != 3 or len(b) != 3:
        raise RuntimeError(f"cross: inputs dimension {dim} must have length 3")
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, dim)


def cdist(x1: Any, x2: Any, p: float = 2.0) -> Any:
    """Norms of the differences of all rows of ``x1`` and all rows of ``x2``.

    Examples
    --------
    >>> import pyqref
    >>> points = pyqref.tensor([[3.0, 4.0], [0.0, 1.0]])
    >>> pyqref.cdist(pyqref.tensor([[0.0, 0.0]]), points).tolist()
    [[5.0, 1.0]]
    """
    rows = x1._array.shape[-2:-1], x2._array.shape[-2:]
    require_memory(rows[0] + rows[1], x1._array.itemsize, "cdist: the differences")
    return (x1.unsqueeze(-2) - x2.unsqueeze(-3)).norm(p, dim=-1)


def vdot(input: Any, other: Any) -> Any:
    """:func:`dot`, for real vectors.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.vdot(pyqref.tensor([1.0, 2.0]), pyqref.tensor([3.0, 4.0])).item()
    11.0
    """
    return dot(input, other)


addmm_ = in_place(addmm)
addbmm_ = in_place(addbmm)
addmv_ = in_place(addmv)
baddbmm_ = in_place(baddbmm)


explain_errors(globals())
