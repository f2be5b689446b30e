"""Fake quantization with its straight-through gradient."""

from __future__ import annotations

# By name: of a package that imports on first use, each use would look them up again.
from pyqref._kernels.fake_quantize import (
    fake_quantize_per_channel,
    fake_quantize_per_tensor,
    straight_through,
)
from pyqref.numerics.types import Convention

from .operation import Array, Operation

__all__ = ["FakeQuantizePerChannel", "FakeQuantizePerTensor"]


class StraightThrough(Operation):
    """Base class of both.

    The gradient passes unchanged where the rounded number is in
    ``[quant_min, quant_max]`` and is zero elsewhere (``eq-straight-through``).
    """

    makes_gradients = True
    saves_own = True
    is_quiet = True

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return (straight_through(grads[0], self.saved[0]),)

    def release(self) -> None:
        self.saved, self.released = (), True


class FakeQuantizePerTensor(StraightThrough):
    """To the grid of integers and back (``eq-fake-quantize``)."""

    def forward(self, x: Array, *, parameters: tuple[float, int, int, int, Convention]) -> Array:
        """See :func:`pyqref.numerics.fake_quantize.fake_quantize_per_tensor` for the arguments."""
        y, mask = fake_quantize_per_tensor(x, *parameters, self.needs[0])
        self.save(mask)
        return y


class FakeQuantizePerChannel(StraightThrough):
    """Fake quantization with a scale and zero point for each index of an axis.

    See ``eq-fake-quantize-channel`` and ``eq-straight-through``.
    """

    def forward(
        self, x: Array, *, parameters: tuple[Array, Array, int, int, int, Convention]
    ) -> Array:
        """See :func:`pyqref.numerics.fake_quantize.fake_quantize_per_channel` for the arguments."""
        y, mask = fake_quantize_per_channel(x, *parameters, self.needs[0])
        self.save(mask)
        return y
