"""Fake quantization whose scale and zero point get gradients, too."""

from __future__ import annotations

from typing import Any

from pyqref._kernels.fake_quantize import fake_quantize_per_channel, fake_quantize_per_tensor
from pyqref.numerics.affine import along_axis
from pyqref.numerics.fake_quantize import straight_through
from pyqref.numerics.learnable_fake_quantize import (
    learnable_positions,
    learnable_scale_gradient,
    learnable_zero_point_gradient,
    whole_zero_point,
)
from pyqref.numerics.types import Convention

from .operation import Array, Operation

__all__ = ["FakeQuantizeLearnablePerChannelAffine", "FakeQuantizeLearnablePerTensorAffine"]


class Learnable(Operation):
    """Base class of both: three gradients from the positions on the grid.

    ``eq-learnable-position``, ``eq-straight-through``, ``eq-learnable-scale-gradient`` and
    ``eq-learnable-zero-point-gradient``.
    """

    makes_gradients = True

    options: tuple[int, int, float]

    def _gradients(
        self, grad: Array, grid: tuple[Any, Any], axis: int | None
    ) -> tuple[Array | None, ...]:
        x, given_scale, given_zero_point = self.saved
        positions = learnable_positions(x, *grid)
        quant_min, quant_max, _ = self.options
        to_x = to_scale = to_zero_point = None
        if self.needs[0]:
            inside = (positions >= quant_min) & (positions <= quant_max)
            to_x = straight_through(grad, inside)
        if self.needs[1]:
            scale, zero_point = grid
            to_scale = learnable_scale_gradient(
                x, grad, positions, scale, zero_point, *self.options, axis
            )
            to_scale = to_scale.reshape(given_scale.shape).astype(given_scale.dtype)
        if self.needs[2]:
            to_zero_point = learnable_zero_point_gradient(
                grad, positions, grid[0], *self.options, axis
            )
            to_zero_point = to_zero_point.reshape(given_zero_point.shape)
            to_zero_point = to_zero_point.astype(given_zero_point.dtype)
        return to_x, to_scale, to_zero_point


class FakeQuantizeLearnablePerTensorAffine(Learnable):
    """To the grid and back, where the grid learns, too (``eq-fake-quantize``)."""

    def forward(
        self,
        x: Array,
        scale: Array,
        zero_point: Array,
        *,
        limits: tuple[int, int],
        factor: float,
        convention: Convention,
    ) -> Array:
        """One scale and one zero point, which is rounded (``eq-learnable-zero-point``)."""
        self.save(x, scale, zero_point)
        self.options = (*limits, factor)
        y, _ = fake_quantize_per_tensor(x, *self._grid(), *limits, convention, False)
        return y

    def _grid(self) -> tuple[float, int]:
        _, scale, zero_point = self.saved
        quant_min, quant_max, _ = self.options
        return scale.item(), int(whole_zero_point(zero_point, quant_min, quant_max).item())

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return self._gradients(grads[0], self._grid(), None)


class FakeQuantizeLearnablePerChannelAffine(Learnable):
    """Learnable fake quantization with a scale and zero point for each index of an axis."""

    def forward(
        self,
        x: Array,
        scale: Array,
        zero_point: Array,
        *,
        axis: int,
        limits: tuple[int, int],
        factor: float,
        convention: Convention,
    ) -> Array:
        """Zero points are rounded (``eq-learnable-zero-point``)."""
        self.save(x, scale, zero_point)
        self.options, self.axis = (*limits, factor), axis
        y, _ = fake_quantize_per_channel(x, *self._grid(), axis, *limits, convention, False)
        return y

    def _grid(self) -> tuple[Array, Array]:
        _, scale, zero_point = self.saved
        quant_min, quant_max, _ = self.options
        whole = whole_zero_point(zero_point, quant_min, quant_max)
        return scale.astype("float32", copy=False), whole.astype("int64")

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        ndim = self.saved[0].ndim
        scale, offset = (along_axis(each, ndim, self.axis) for each in self._grid())
        return self._gradients(grads[0], (scale, offset), self.axis)
