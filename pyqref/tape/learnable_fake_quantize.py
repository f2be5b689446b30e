"""Fake quantization whose scale and zero point get gradients, too."""

from __future__ import annotations

import numpy as np

from pyqref._kernels.fake_quantize import (
    fake_quantize_per_channel,
    fake_quantize_per_tensor,
    learnable_gradients,
)
from pyqref.numerics.learnable_fake_quantize import whole_zero_point
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
        self, grad: Array, grid: tuple[Array, Array], axis: int | None
    ) -> tuple[Array | None, ...]:
        x, given_scale, given_zero_point = self.saved
        quant_min, quant_max, factor = self.options
        needs = self.needs[0], self.needs[1], self.needs[2]
        found = learnable_gradients(x, grad, *grid, (quant_min, quant_max), factor, axis, needs)
        return found[0], _alike(found[1], given_scale), _alike(found[2], given_zero_point)


def _alike(gradient: Array | None, given: Array) -> Array | None:
    """A gradient with the shape and dtype of what it is a gradient of."""
    if gradient is None:
        return None
    return gradient.reshape(given.shape).astype(given.dtype, copy=False)


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
        scale, zero_point = self._grid()
        grid = np.array([scale], np.float32), np.array([zero_point])
        return self._gradients(grads[0], grid, None)


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
        return self._gradients(grads[0], self._grid(), self.axis)
