"""Linear and bilinear maps."""

from __future__ import annotations

from ..._typing import Tensor
from ...tape import linear as tape
from ...tensor.dispatch import apply
from ...tensor.wrong_arguments import explains_errors
from .checks import require_same_dtype, require_shape, require_tensor, shape_text

__all__ = ["bilinear", "linear"]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight^T + bias``.

    Parameters
    ----------
    input
        Shape `(*, in_features)`.
    weight
        Shape `(out_features, in_features)`, or `(in_features,)` for one output without axis.
    bias
        Shape `(out_features,)`, or None; of one output without axis, a number.

    Returns
    -------
    Tensor
        Shape `(*, out_features)`; `(*)` of one output without axis.

    Examples
    --------
    >>> import pyqref
    >>> weight, bias = pyqref.tensor([[3.0, 4.0], [5.0, 6.0]]), pyqref.tensor([0.0, 100.0])
    >>> pyqref.nn.functional.linear(pyqref.tensor([1.0, 2.0]), weight, bias).tolist()
    [11.0, 117.0]
    """
    require_tensor("linear", "input", input)
    require_tensor("linear", "weight", weight)
    require_tensor("linear", "bias", bias, optional=True)
    if not input.is_quantized:
        require_same_dtype("linear", "input", input, weight=weight, bias=bias)
        rows, columns = input._array.shape, weight._array.shape
        if not (rows and len(columns) in (1, 2) and rows[-1] == columns[-1]):
            depth = weight.shape[-1] if weight.ndim else "?"
            raise RuntimeError(
                f"linear(): expected input of shape [*, {depth}] "
                f"for weight of shape {shape_text(weight)}, got {shape_text(input)}"
            )
        require_shape("linear", "bias", bias, columns[:-1])
        if len(columns) == 1:
            bias = None if bias is None else bias.reshape(1)
            return apply(tape.Linear, input, weight.unsqueeze(0), bias).squeeze(-1)
    return apply(tape.Linear, input, weight, bias)


@explains_errors
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input1^T W_k input2 + b_k`` for each output ``k``.

    Parameters
    ----------
    input1, input2
        Shapes `(*, in1)` and `(*, in2)`.
    weight
        Shape `(out, in1, in2)`.
    bias
        Shape `(out,)`, or None.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[1.0, 2.0]]), pyqref.tensor([[3.0, 4.0]])
    >>> pyqref.nn.functional.bilinear(x, y, pyqref.eye(2).unsqueeze(0)).tolist()
    [[11.0]]
    """
    for name, value in (("input1", input1), ("input2", input2), ("weight", weight)):
        require_tensor("bilinear", name, value)
    require_same_dtype("bilinear", "input1", input1, input2=input2, weight=weight, bias=bias)
    if not (
        weight.ndim == 3
        and tuple(input1.shape[:-1]) == tuple(input2.shape[:-1])
        and (input1.shape[-1], input2.shape[-1]) == tuple(weight.shape[1:])
    ):
        raise RuntimeError(
            f"bilinear(): expected inputs of shapes [*, {weight.shape[1]}] and "
            f"[*, {weight.shape[2]}], got {shape_text(input1)} and {shape_text(input2)}"
        )
    require_shape("bilinear", "bias", bias, weight.shape[:1])
    return apply(tape.Bilinear, input1, input2, weight, bias)
