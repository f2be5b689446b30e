"""The windows of pictures as columns of a matrix, and back."""

from __future__ import annotations

import math
from typing import Any

from ..._typing import Ints, Tensor
from ...tape import folding as tape
from ...tape.windows import Windows
from ...tensor.dispatch import apply
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, shape_text, tuple_of

__all__ = ["fold", "unfold"]


def _windows(function: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Windows:
    return Windows.make(
        tuple_of(function, "kernel_size", kernel_size, 2, 1),
        tuple_of(function, "stride", stride, 2, 1),
        tuple_of(function, "padding", padding, 2),
        tuple_of(function, "dilation", dilation, 2, 1),
    )


def unfold(
    input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Tensor:
    """`(N, C, H, W)` to `(N, C K_h K_w, L)`: a column for each of the ``L`` windows.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.unfold(pyqref.arange(9.0).reshape(1, 1, 3, 3), 2).tolist()
    [[[0.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 5.0], [3.0, 4.0, 6.0, 7.0], [4.0, 5.0, 7.0, 8.0]]]
    """
    require_floating("unfold", "input", input)
    if input.ndim not in (3, 4):
        raise RuntimeError(
            f"unfold(): expected input of 3 (unbatched) or 4 dimensions, got {shape_text(input)}"
        )
    windows = _windows("unfold", kernel_size, dilation, padding, stride)
    count = windows.output_size(tuple(input.shape[-2:]))
    if not all(n > 0 for n in count):
        raise RuntimeError(
            f"unfold(): kernel of size {list(windows.kernel)} does not fit into input of shape "
            f"{shape_text(input)}"
        )
    if input.ndim == 3:
        return apply(tape.Unfold, input.unsqueeze(0), windows).squeeze(0)
    return apply(tape.Unfold, input, windows)


def fold(
    input: Tensor,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> Tensor:
    """`(N, C K_h K_w, L)` to `(N, C, *output_size)`: overlapping columns are added up.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> columns = F.unfold(pyqref.ones(1, 1, 3, 3), 2)
    >>> F.fold(columns, (3, 3), 2).tolist()  # how many windows see each place
    [[[[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]]]
    """
    require_floating("fold", "input", input)
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"fold(): expected input of 2 (unbatched) or 3 dimensions, got {shape_text(input)}"
        )
    windows = _windows("fold", kernel_size, dilation, padding, stride)
    size = tuple_of("fold", "output_size", output_size, 2, 1)
    count = math.prod(windows.output_size(size))
    if not (input.shape[-2] % math.prod(windows.kernel) == 0 and input.shape[-1] == count):
        raise RuntimeError(
            f"fold(): expected input of shape [N, C * {math.prod(windows.kernel)}, {count}], got "
            f"{shape_text(input)}"
        )
    if input.ndim == 2:
        return apply(tape.Fold, input.unsqueeze(0), windows, size).squeeze(0)
    return apply(tape.Fold, input, windows, size)


explain_errors(globals())
