"""x86 processors without VNNI: pairs of products saturate at 16 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.accumulator import saturating_pairs
from pyqref.numerics.linear import exact_matmul
from pyqref.numerics.types import IntArray

from .._typing import Array
from .base import Arithmetic
from .fbgemm import FBGEMM
from .layer import LINEAR, Layer
from .onednn import OneDNN
from .onnx import ONNX
from .step import Note

__all__ = ["ONNXSaturating", "OneDNNSaturating", "X86Saturating"]


class _Pairs(Arithmetic):
    """Pairs of products that saturate, one after the other in a row."""

    exact_sums = False

    def accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_points: int | Array,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> IntArray:
        """Sums of saturating pairs, less what the zero points contribute."""
        sums = saturating_pairs(x, weight)
        return without_zero_points(sums, x, x_zero_point, weight, weight_zero_points)

    def _accumulate(self, x: IntArray, x_zero_point: int, weight: IntArray, *rest: Any) -> IntArray:
        return noted_pairs(self, x, x_zero_point, weight, *rest)


class X86Saturating(_Pairs, FBGEMM):
    r"""torch's fbgemm and x86 on a processor without VNNI.

    Equation ``eq-saturating-pairs``, then as :class:`FBGEMM`. The pairs are neighbours in the row
    that the window of an output makes: taps one after the other, the channels of a tap side by
    side. Beside the image stands the zero point, which saturates like any other integer.

    Examples
    --------
    >>> x, weight = np.uint8([[255, 255]]), np.int8([[127, 127]])
    >>> X86Saturating().accumulate(x, 0, weight, 0).tolist()
    [[32767]]
    """

    name = "x86-saturating"
    summary = "torch's fbgemm and x86 without VNNI: pairs of products saturate at 16 bits"
    engine = "x86"


class OneDNNSaturating(_Pairs, OneDNN):
    r"""torch's onednn on a processor without VNNI.

    Equation ``eq-saturating-pairs``, then as :class:`OneDNN`. The pairs are neighbouring channels
    of one tap; taps beside the image are left out, and cannot saturate. Convolutions in groups add
    exactly unless a group has a multiple of four inputs and of four outputs.

    Examples
    --------
    >>> x, weight = np.uint8([[255, 255]]), np.int8([[127, 127]])
    >>> OneDNNSaturating().accumulate(x, 0, weight, 0).tolist()
    [[32767]]
    >>> OneDNNSaturating().accumulate(x, 0, weight, 0, Layer("conv", channels=1)).tolist()
    [[64770]]
    """

    name = "onednn-saturating"
    summary = "torch's onednn without VNNI: pairs of channels saturate at 16 bits"

    def accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_points: int | Array,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> IntArray:
        """Sums of saturating pairs of channels, less what the zero points contribute."""
        if layer.groups > 1 and (layer.channels % 4 or layer.outputs % 4):
            return Arithmetic.accumulate(self, x, x_zero_point, weight, weight_zero_points)
        rows, columns = layer.taps(np.asarray(x)), layer.taps(np.asarray(weight))
        total = np.zeros((*rows.shape[:-2], columns.shape[0]), np.int64)
        for tap in range(rows.shape[-2]):
            pairs = saturating_pairs(rows[..., tap, :], columns[:, tap])
            if outside is not None:
                exact = exact_matmul(rows[..., tap, :], columns[:, tap].T)
                pairs = np.where(outside[..., tap, None], exact, pairs)
            total += pairs
        return without_zero_points(total, x, x_zero_point, weight, weight_zero_points)


class ONNXSaturating(_Pairs, ONNX):
    r"""ONNX Runtime on an x86 processor without VNNI.

    Equation ``eq-saturating-pairs``, then as :class:`ONNX`. The pairs are those of
    :class:`X86Saturating`; convolutions with one input and one output a group add exactly.

    Examples
    --------
    >>> x, weight = np.uint8([[255, 255]]), np.int8([[127, 127]])
    >>> ONNXSaturating().accumulate(x, 0, weight, 0).tolist()
    [[32767]]
    """

    name = "onnx-saturating"
    summary = "ONNX Runtime on x86 without VNNI: pairs of products saturate at 16 bits"

    def accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_points: int | Array,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> IntArray:
        """Sums of saturating pairs, less what the zero points contribute."""
        if layer.kind == "conv" and layer.channels == layer.outputs == 1:
            return Arithmetic.accumulate(self, x, x_zero_point, weight, weight_zero_points)
        return super().accumulate(x, x_zero_point, weight, weight_zero_points)


def without_zero_points(
    sums: IntArray,
    x: IntArray,
    x_zero_point: int,
    weight: IntArray,
    weight_zero_points: int | Array,
) -> IntArray:
    r"""Sums of the stored integers as sums of the centred ones.

    :math:`\sum x w - z_x \sum w - z_w \sum x + K z_x z_w`, exactly.
    """
    z_w = np.broadcast_to(np.asarray(weight_zero_points, np.int64), weight.shape[:1])
    total = sums - int(x_zero_point) * np.asarray(weight).astype(np.int64).sum(axis=-1)
    if z_w.any():
        of_x = np.asarray(x).astype(np.int64).sum(axis=-1)
        total = total + z_w * (x.shape[-1] * int(x_zero_point) - of_x[..., None])
    return total


def noted_pairs(
    model: Arithmetic,
    x: IntArray,
    x_zero_point: int,
    weight: IntArray,
    weight_zero_point: int,
    layer: Layer,
    outside: np.ndarray | None,
    note: Note,
) -> IntArray:
    """The accumulator of one output, with what saturation took away."""
    places = layer, outside
    total = model.accumulate(x, x_zero_point, weight, weight_zero_point, *places)
    exact = without_zero_points(
        exact_matmul(x, np.asarray(weight).T), x, x_zero_point, weight, weight_zero_point
    )
    lost = note(
        "taken away by saturation",
        exact - total,
        "eq-saturating-pairs",
        "sum of (pair - min(max(pair, -32768), 32767)) over {count} products",
        lambda: "no pair saturates" if int(lost_of(exact, total)) == 0 else "pairs saturate",
        count=x.size,
    )
    return note(
        "accumulator",
        total,
        "eq-saturating-pairs",
        "{exact} - {lost}",
        exact=exact,
        lost=lost,
    )


def lost_of(exact: IntArray, total: IntArray) -> int:
    """Return how much saturation took from one sum; losses that cancel give 0."""
    return int((exact - total).reshape(-1)[0])
