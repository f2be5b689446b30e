"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from .._typing import Tensor
from ..tape.matmul import Matmul
from .arithmetic import add, mul
from .axes import require_rank
from .contraction import tensordot
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
    "inner",
    "matmul",
    "mm",
    "mv",
    "outer",
    "trace",
    "vdot",
]


def matmul(input: Tensor, other: Tensor) -> Tensor:
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


def mm(input: Tensor, mat2: Tensor) -> Tensor:
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


def bmm(input: Tensor, mat2: Tensor) -> Tensor:
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


def mv(input: Tensor, vec: Tensor) -> Tensor:
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


def dot(input: Tensor, tensor: Tensor) -> Tensor:
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


def inner(input: Tensor, other: Tensor) -> Tensor:
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


def outer(input: Tensor, vec2: Tensor) -> Tensor:
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


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([[3.0], [4.0]])
    >>> pyqref.addmm(pyqref.tensor([1.0]), x, y, beta=10).tolist()
    [[21.0]]
    """
    return _scaled_sum(input, mm(mat1, mat2), beta, alpha)


def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``.

    Examples
    --------
    >>> import pyqref
    >>> matrix, vector = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([3.0, 4.0])
    >>> pyqref.addmv(pyqref.tensor([1.0]), matrix, vector, alpha=10).tolist()
    [111.0]
    """
    return _scaled_sum(input, mv(mat, vec), beta, alpha)


def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``beta * input + alpha * (batch1 @ batch2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.ones(2, 1, 3), pyqref.ones(2, 3, 1)
    >>> pyqref.baddbmm(pyqref.ones(2, 1, 1), x, y).flatten().tolist()
    [4.0, 4.0]
    """
    return _scaled_sum(input, bmm(batch1, batch2), beta, alpha)


def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Tensor:
    """``beta * input + alpha * sum(batch1 @ batch2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.ones(3, 1, 2), pyqref.ones(3, 2, 1)
    >>> pyqref.addbmm(pyqref.zeros(1, 1), x, y).tolist()  # summed over the batch
    [[6.0]]
    """
    return _scaled_sum(input, bmm(batch1, batch2).sum(0), beta, alpha)


def trace(input: Tensor) -> Tensor:
    """Sum of the diagonal of a matrix.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.trace(pyqref.tensor([[1, 2], [3, 4]])).item()
    5
    """
    require_rank("trace", "input", input, 2)
    return diagonal(input).sum()


def cross(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
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


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
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


def vdot(input: Tensor, other: Tensor) -> Tensor:
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


explain_errors(globals(), quiet=False)
