"""Quantized convolutions: the canvas of a transposed one, and zero points of channels."""

from __future__ import annotations

import itertools

import numpy as np

from pyqref.numerics.convolution import quantized_conv, quantized_conv_transpose, transpose_canvas
from pyqref.numerics.requantize import requantization


def test_eq_conv_transpose_accumulator__canvas() -> None:
    """Position p of the canvas holds input ``(p - margin) / stride`` where that is one, else fill.

    Also where the padding takes all of the input away.
    """
    every = itertools.product((1, 2, 3), (1, 2, 3), (1, 2, 3), range(6), (0, 1), (1, 2))
    for length, kernel, stride, padding, extra, dilation in every:
        margin = dilation * (kernel - 1) - padding
        size = (length - 1) * stride - 2 * padding + dilation * (kernel - 1) + extra + 1
        if size < 1:
            continue
        row = np.arange(1, length + 1).reshape(1, 1, -1)
        expected = [
            (p - margin) // stride + 1
            if (p - margin) % stride == 0 and 0 <= (p - margin) // stride < length
            else 9
            for p in range(size + dilation * (kernel - 1))
        ]
        found = transpose_canvas(row, 9, [kernel], [stride], [padding], [extra], [dilation])
        assert expected == found[0, 0].tolist(), (length, kernel, stride, padding, extra, dilation)


def test_eq_conv_accumulator__zero_points_of_outputs() -> None:
    """Each output has its own zero point of the weight, in a convolution of either kind."""
    requant = requantization("fbgemm", 1.0, 1.0, 1.0, 0)
    x, points = np.array([[[11], [12], [13]]], np.uint8), [2, -3]
    weight = np.array([[5, 6, 7], [-4, 1, 0]], np.int8)
    centred = np.array([1, 2, 3]) @ (weight.astype(int) - np.reshape(points, (2, 1))).T
    expected = np.clip(centred, 0, 255).tolist()
    one, none = [1], [0]
    found = quantized_conv(x, 10, weight[..., None], points, requant, one, none, one, 1)
    assert expected == found[0, :, 0].tolist()
    swapped = weight.T[..., None]
    found = quantized_conv_transpose(x, 10, swapped, points, requant, one, none, none, one, 1)
    assert expected == found[0, :, 0].tolist()
