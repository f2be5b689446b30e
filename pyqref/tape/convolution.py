"""Convolution and transposed convolution in one, two or three dimensions.

With the windows laid out as columns (:mod:`~pyqref.tape.windows`) a convolution is a
matrix product, and everything else follows:

- convolution: ``y = W @ unfold(x)``; ``grad_x = fold(W^T @ grad_y)``;
  ``grad_W = grad_y @ unfold(x)^T``;
- transposed convolution, its adjoint: ``y = fold(W^T @ x)``; ``grad_x = W @ unfold(grad_y)``;
  ``grad_W = x @ unfold(grad_y)^T``.

The BLAS computes these products for float64, and the gradients of images for windows of one pixel.
The kernels compute all other convolutions of float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import empty

from . import products
from .integers import in_integers
from .operation import Array, Operation
from .products import matmul
from .sums import total_but_channels
from .windows import Windows, fold, unfold

__all__ = ["ConvTranspose", "Convolution", "channels_first", "channels_second"]


#: Places of the windows for which a product is worth its call: images with fewer share one.
_PLACES = 256
_FLOAT32 = np.dtype(np.float32)


def channels_first(x: Array, groups: int) -> Array:
    """``(N, C, *size)`` as matrices ``(groups, C / groups, N * L)``."""
    columns = x.shape[0] * math.prod(x.shape[2:])
    return x.swapaxes(0, 1).reshape(groups, x.shape[1] // groups, columns)


def channels_second(matrix: Array, batch: int, size: tuple[int, ...]) -> Array:
    """The inverse of :func:`channels_first`, contiguous."""
    return np.ascontiguousarray(
        matrix.reshape(math.prod(matrix.shape[:2]), batch, *size).swapaxes(0, 1)
    )


@functools.lru_cache(maxsize=1024)
def _windows_that_meet(
    size: tuple[int, ...], *geometry: tuple[int, ...]
) -> tuple[Windows, tuple[slice, ...], tuple[int, ...], bool]:
    """The windows of a layer on images of this size, and which of their taps meet these.

    Then how many windows there are along each axis, and whether they are pixels.
    """
    windows, taps = Windows.make(*geometry).within(size)
    return windows, taps, windows.output_size(size), windows.are_pixels()


class Convolution(Operation):
    """``Convolution(x, weight, bias, stride, padding, dilation, groups)``.

    ``x`` is ``(N, C_in, *size)``, ``weight`` ``(C_out, C_in / groups, *kernel)``, ``bias``
    ``(C_out,)`` or None; the others are tuples with one int for each spatial axis.
    """

    makes_gradients = True

    def forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> Array:
        if x.dtype.kind in "iu":
            terms = math.prod(weight.shape[1:])
            geometry = stride, padding, dilation, groups
            return in_integers(self._forward, x, weight, bias, terms, *geometry)
        return self._forward(x, weight, bias, stride, padding, dilation, groups)

    def _forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        dilation: tuple[int, ...],
        groups: int,
    ) -> Array:
        geometry = weight.shape[2:], stride, padding, dilation
        found = _windows_that_meet(x.shape[2:], *geometry)
        self.windows, self.taps, self.count, self.are_pixels = found
        self.groups, self.size, self.weight_shape = groups, x.shape[2:], weight.shape
        depthwise = weight.shape[0] == weight.shape[1] * groups == groups
        self.is_single = x.dtype == weight.dtype == _FLOAT32
        if x.dtype.kind == "f" and depthwise and not (self.is_single and len(self.size) == 3):
            return self._depthwise(x, weight, bias)
        self.save(weight if self.needs[0] else None, x if self.needs[1] else None)
        if self.is_single:
            return _kernels.convolution(x, self._met(weight), bias, self.windows, groups)
        return self._of_columns(x, weight, bias)

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if self.saved[2:]:
            grad_x, grad_weight, grad_bias = self._depthwise_backward(grads[0])
        elif self.is_single and grads[0].dtype == _FLOAT32:
            grad_x, grad_weight, grad_bias = self._single_backward(grads[0])
        else:
            grad_x, grad_weight, grad_bias = self._of_columns_backward(grads[0], *self.saved)
        if grad_weight is not None and grad_weight.shape != self.weight_shape:
            met, grad_weight = grad_weight, np.zeros(self.weight_shape, grad_weight.dtype)
            for at in np.ndindex(self.windows.kernel):  # few taps, of many channels
                tap = (part.start + k for part, k in zip(self.taps, at, strict=True))
                grad_weight[(..., *tap)] = met[(..., *at)]
        return grad_x, grad_weight, grad_bias

    def _met(self, weight: Array) -> Array:
        """Return the part of the weight that meets the image."""
        where: tuple[Any, ...] = (..., *self.taps)
        return weight if self.windows.kernel == weight.shape[2:] else weight[where]

    def _single_backward(self, grad: Array) -> tuple[Array | None, ...]:
        (weight, x), grad_x, grad_weight = self.saved, None, None
        if weight is not None and self.are_pixels and self.groups == 1:
            # They are one matrix already, which the BLAS multiplies as it lies.
            grad_x = self._of_columns_backward(grad, weight, None)[0]
        elif weight is not None:
            grad_x = _kernels.convolution_gradient(
                grad, self._met(weight), None, self.windows, self.groups, self.size
            )
        if x is not None:
            grad_weight = _kernels.convolution_weight_gradient(grad, x, self.windows, self.groups)
        return grad_x, grad_weight, total_but_channels(grad) if self.needs[2] else None

    def _of_columns(self, x: Array, weight: Array, bias: Array | None) -> Array:
        """The product with one column for each window."""
        matrix, size = self._matrix(weight), self.count
        y: Array = empty((len(x), len(weight), *size), np.result_type(x, weight))

        def fill(images: slice, multiply: Any) -> None:
            part, columns = y[images], self._columns(x[images])
            if len(part) == 1:
                shape = self.groups, len(weight) // self.groups, math.prod(size)
                multiply(matrix, columns, self._stacked(part.reshape(shape)))
            else:
                product = multiply(matrix, columns).reshape(len(weight), len(part), *size)
                part[:] = product.swapaxes(0, 1)
            if bias is not None:
                part += bias.reshape(-1, *(1,) * len(size))

        self._run(fill, y, matrix.shape[-1])
        return y

    def _of_columns_backward(
        self, grad: Array, weight: Array | None, x: Array | None
    ) -> tuple[Array | None, ...]:
        """The columns are laid out anew, and not kept meanwhile."""
        kernel, size = self.windows.kernel, grad.shape[2:]
        outputs, inputs = self.weight_shape[:2]
        depth, channels = inputs * math.prod(kernel), inputs * self.groups
        grad_x: Array = empty((len(grad), channels, *self.size), grad.dtype)
        turned = None if weight is None else self._matrix(weight).swapaxes(-1, -2)
        total = products.OrderedSum((*self._stack(), outputs // self.groups, depth), grad.dtype)

        def fill(images: slice, multiply: Any) -> None:
            part = self._stacked(channels_first(grad[images], self.groups))
            if turned is not None:
                columns = multiply(turned, part).reshape(channels, *kernel, -1, *size)
                grad_x[images] = fold(columns, self.windows, self.size)
            if x is not None:
                total.add(images, multiply(part, self._columns(x[images]).swapaxes(-1, -2)))

        self._run(fill, grad, depth)
        return (
            None if weight is None else grad_x,
            None if x is None else total.total.reshape(outputs, inputs, *kernel),
            total_but_channels(grad) if self.needs[2] else None,
        )

    def _run(self, fill: Callable[[slice, Any], None], y: Array, depth: int) -> None:
        """Call ``fill`` with some images and how to multiply, until all results are there."""
        step = max(_PLACES // max(math.prod(y.shape[2:]), 1), 1)
        starts = range(0, len(y), step)
        tasks = [functools.partial(fill, slice(i, min(i + step, len(y)))) for i in starts]
        products.run(tasks, y.size * depth)

    def _stack(self) -> tuple[int, ...]:
        return (self.groups,) if self.groups > 1 else ()

    def _stacked(self, matrices: Array) -> Array:
        """Matrices by group; that of the only group is a matrix alone, whose parts are shared."""
        return matrices.reshape(*self._stack(), *matrices.shape[-2:])

    def _matrix(self, weight: Array) -> Array:
        met = self._met(weight)
        return self._stacked(
            met.reshape(self.groups, len(weight) // self.groups, math.prod(met.shape[1:]))
        )

    def _columns(self, x: Array) -> Array:
        depth = x.shape[1] // self.groups * math.prod(self.windows.kernel)
        places = len(x) * math.prod(self.count)
        # An image of pixels is its own columns.
        columns = x if self.are_pixels and len(x) == 1 else unfold(x, self.windows)
        return self._stacked(columns.reshape(self.groups, depth, places))

    def _depthwise(self, x: Array, weight: Array, bias: Array | None) -> Array:
        """One filter for each channel."""
        self.save(weight, x if self.needs[1] else None, x.shape[1])
        return _kernels.depthwise(x, self._met(weight)[:, 0], bias, self.windows)

    def _depthwise_backward(self, grad: Array) -> tuple[Array | None, ...]:
        weight, x, _ = self.saved
        grad_x = grad_weight = None
        if self.needs[0]:
            filters = self._met(weight)[:, 0]
            grad_x = _kernels.depthwise_gradient(grad, filters, self.windows, self.size)
        if self.needs[1]:
            total = _kernels.depthwise_weight_gradient(grad, x, self.windows)
            grad_weight = total[:, np.newaxis]
        return grad_x, grad_weight, total_but_channels(grad) if self.needs[2] else None


def _first(size: tuple[int, ...]) -> Any:
    return (..., *map(slice, size))


class ConvTranspose(Operation):
    """``ConvTranspose(x, weight, bias, stride, padding, output_padding, groups, dilation)``.

    ``x`` is ``(N, C_in, *size)``, ``weight`` ``(C_in, C_out / groups, *kernel)``, ``bias``
    ``(C_out,)`` or None; the others are tuples with one int for each spatial axis.
    """

    def forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        output_padding: tuple[int, ...],
        groups: int,
        dilation: tuple[int, ...],
    ) -> Array:
        geometry = stride, padding, output_padding, groups, dilation
        if x.dtype.kind in "iu":
            terms = weight.shape[0] * math.prod(weight.shape[2:])
            return in_integers(self._forward, x, weight, bias, terms, *geometry)
        return self._forward(x, weight, bias, *geometry)

    def _forward(
        self,
        x: Array,
        weight: Array,
        bias: Array | None,
        stride: tuple[int, ...],
        padding: tuple[int, ...],
        output_padding: tuple[int, ...],
        groups: int,
        dilation: tuple[int, ...],
    ) -> Array:
        kernel = weight.shape[2:]
        size = tuple(
            (length - 1) * s - 2 * p + d * (k - 1) + extra + 1
            for length, s, p, d, k, extra in zip(
                x.shape[2:], stride, padding, dilation, kernel, output_padding, strict=True
            )
        )
        self.windows = Windows.make(kernel, stride, padding, dilation)
        self.groups, self.input_size = groups, x.shape[2:]
        self.save(weight, x if self.needs[1] else None)
        if x.dtype == weight.dtype == _FLOAT32:
            return _kernels.convolution_gradient(x, weight, bias, self.windows, groups, size)
        matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
        columns = matmul(matrix.swapaxes(1, 2), channels_first(x, groups))
        shape = (weight.shape[1] * groups, *kernel, x.shape[0], *x.shape[2:])
        y = np.ascontiguousarray(fold(columns.reshape(shape), self.windows, size))
        if bias is not None:
            y += bias.reshape(-1, *(1,) * (y.ndim - 2))
        return y

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        weight, x = self.saved
        grad_x = grad_weight = grad_bias = None
        if weight.dtype == grads[0].dtype == _FLOAT32:
            return self._single_backward(grads[0])
        if self.needs[0] or self.needs[1]:
            columns = self._columns(grads[0]).reshape(self.groups, math.prod(weight.shape[1:]), -1)
        if self.needs[0]:
            matrix = weight.reshape(self.groups, weight.shape[0] // self.groups, -1)
            grad_x = channels_second(matmul(matrix, columns), grads[0].shape[0], self.input_size)
        if self.needs[1]:
            grad_weight = matmul(channels_first(x, self.groups), columns.swapaxes(1, 2))
            grad_weight = grad_weight.reshape(weight.shape)
        if self.needs[2]:
            grad_bias = total_but_channels(grads[0])
        return grad_x, grad_weight, grad_bias

    def _single_backward(self, grad: Array) -> tuple[Array | None, ...]:
        (weight, x), grad_x, grad_weight = self.saved, None, None
        if self.needs[0]:  # output padding may make room for more windows than there are inputs
            every = _kernels.convolution(grad, weight, None, self.windows, self.groups)
            grad_x = every[_first(self.input_size)]
        if x is not None:
            grad_weight = _kernels.convolution_weight_gradient(x, grad, self.windows, self.groups)
        return grad_x, grad_weight, total_but_channels(grad) if self.needs[2] else None

    def _columns(self, grad: Array) -> Array:
        """The windows of the gradient; output padding may make room for more than were used."""
        return unfold(grad, self.windows)[_first(self.input_size)]
