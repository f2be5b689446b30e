"""Convolution and transposed convolution in one, two or three dimensions.

With the windows laid out as columns (:mod:`~pyqref.tape.windows`) a convolution is a
matrix product, and everything else follows:

- convolution: ``y = W @ unfold(x)``; ``grad_x = fold(W^T @ grad_y)``;
  ``grad_W = grad_y @ unfold(x)^T``;
- transposed convolution, its adjoint: ``y = fold(W^T @ x)``; ``grad_x = W @ unfold(grad_y)``;
  ``grad_W = x @ unfold(grad_y)^T``.

So the BLAS multiplies float64 and windows of one pixel: with groups as a batch of products, without
some pixels (:mod:`~pyqref.tape.columns`) or images at a time. Kernels convolve other float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref import _kernels

from . import products
from .columns import are_rows_faster, multiply_columns
from .integers import in_integers
from .operation import Array, Operation
from .products import matmul
from .sums import total_but_channels
from .windows import Windows, fold, unfold

__all__ = ["ConvTranspose", "Convolution", "channels_first", "channels_second"]


#: Windows that are laid out at a time: so many numbers, but not less than so many rows.
_BLOCK, _FEWEST_ROWS = 1 << 17, 128
_FLOAT32 = np.dtype(np.float32)
#: Pixels of an image for which its gradients are products of their own.
_MANY_PIXELS = 512


def channels_first(x: Array, groups: int) -> Array:
    """``(N, C, *size)`` as matrices ``(groups, C / groups, N * L)``."""
    columns = x.shape[0] * math.prod(x.shape[2:])
    return x.swapaxes(0, 1).reshape(groups, x.shape[1] // groups, columns)


def channels_second(matrix: Array, batch: int, size: tuple[int, ...]) -> Array:
    """The inverse of :func:`channels_first`, contiguous."""
    return np.ascontiguousarray(
        matrix.reshape(math.prod(matrix.shape[:2]), batch, *size).swapaxes(0, 1)
    )


@functools.lru_cache
def _windows_that_meet(
    size: tuple[int, ...], *geometry: tuple[int, ...]
) -> tuple[Windows, tuple[slice, ...]]:
    """The windows of a layer on images of this size, and which of their taps meet these."""
    return Windows.make(*geometry).within(size)


class Convolution(Operation):
    """``Convolution(x, weight, bias, stride, padding, dilation, groups)``.

    ``x`` is ``(N, C_in, *size)``, ``weight`` ``(C_out, C_in / groups, *kernel)``, ``bias``
    ``(C_out,)`` or None; the others are tuples with one int for each spatial axis.
    """

    makes_gradients = True
    are_many_pixels = False

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
        self.windows, self.taps = _windows_that_meet(x.shape[2:], *geometry)
        self.groups, self.size, self.weight_shape = groups, x.shape[2:], weight.shape
        floating = x.dtype.kind == "f"
        depthwise = weight.shape[0] == weight.shape[1] * groups == groups
        # Pixels alone are one matrix already, which the BLAS multiplies as it lies.
        self.is_single = x.dtype == weight.dtype == _FLOAT32 and not (
            self.windows.are_pixels() and groups == 1
        )
        if self.is_single and not (depthwise and len(self.size) < 3):
            self.save(weight if self.needs[0] else None, x if self.needs[1] else None)
            return _kernels.convolution(x, self._met(weight), bias, self.windows, groups)
        if floating and depthwise:
            return self._depthwise(x, weight, bias)
        if floating and groups == 1:
            self.save(weight if self.needs[0] else None, x if self.needs[1] else None)
            length = math.prod(self.size)
            self.are_many_pixels = self.windows.are_pixels() and length >= _MANY_PIXELS
            if are_rows_faster(x, self.windows):
                return self._of_rows(x, weight, bias)
            filters = self._met(weight).reshape(len(weight), -1)
            return multiply_columns(x, self.windows, filters, bias)
        matrices = self._met(weight).reshape(groups, weight.shape[0] // groups, -1)
        columns = unfold(x, self.windows).reshape(groups, matrices.shape[2], -1)
        self.save(weight if self.needs[0] else None, columns if self.needs[1] else None)
        product = matmul(matrices, columns)
        if bias is not None:
            product += bias.reshape(groups, -1, 1)
        return channels_second(product, x.shape[0], self.windows.output_size(self.size))

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        if self.saved[2:]:
            grad_x, grad_weight, grad_bias = self._depthwise_backward(grads[0])
        elif self.is_single and grads[0].dtype == _FLOAT32:
            grad_x, grad_weight, grad_bias = self._single_backward(grads[0])
        elif self.groups == 1 and self.are_many_pixels:
            grad_x, grad_weight, grad_bias = self._of_pixels_backward(grads[0])
        elif self.groups == 1:
            grad_x, grad_weight, grad_bias = self._of_rows_backward(grads[0])
        else:
            grad_x, grad_weight, grad_bias = self._of_columns_backward(grads[0])
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
        if weight is not None:
            grad_x = _kernels.convolution_gradient(
                grad, self._met(weight), None, self.windows, self.groups, self.size
            )
        if x is not None:
            grad_weight = _kernels.convolution_weight_gradient(grad, x, self.windows, self.groups)
        return grad_x, grad_weight, total_but_channels(grad) if self.needs[2] else None

    def _of_columns_backward(self, grad_y: Array) -> tuple[Array | None, ...]:
        weight, columns = self.saved
        grad = channels_first(grad_y, self.groups)
        grad_x = grad_weight = grad_bias = None
        if self.needs[0]:
            met = self._met(weight)
            matrix = met.reshape(self.groups, weight.shape[0] // self.groups, -1)
            channels = weight.shape[1] * self.groups
            shape = (channels, *met.shape[2:], grad_y.shape[0], *grad_y.shape[2:])
            grad_columns = matmul(matrix.swapaxes(1, 2), grad).reshape(shape)
            grad_x = fold(grad_columns, self.windows, self.size)
        if self.needs[1]:
            shape = (*self.weight_shape[:2], *self.windows.kernel)
            grad_weight = matmul(grad, columns.swapaxes(1, 2)).reshape(shape)
        if self.needs[2]:
            grad_bias = total_but_channels(grad_y)
        return grad_x, grad_weight, grad_bias

    def _of_rows(self, x: Array, weight: Array, bias: Array | None) -> Array:
        """The product with one row for each window."""
        filters, size = _filters(self._met(weight)), self.windows.output_size(self.size)
        product = self._product_of_rows(x, filters, math.prod(size))
        if bias is not None:
            product += bias
        return _kernels.channels_first(product.reshape(len(x), *size, len(weight)))

    def _product_of_rows(self, x: Array, filters: Array, length: int) -> Array:
        step = _images_at_a_time(len(x), length, filters.shape[1])
        if step < len(x):
            with products.held_back() as n_threads:
                done = _kernels.multiply_windows(x, self.windows, filters, step, n_threads)
            if done is not None:
                return done
        product = np.empty((len(x) * length, len(filters)), np.result_type(x, filters))

        def fill(images: slice, pixels: slice, multiply: Any) -> None:
            rows = _kernels.unfold_rows(x[images], self.windows).reshape(-1, filters.shape[1])
            multiply(rows, filters.T, product[pixels])

        _run_by_blocks(fill, len(x), length, step, filters.size)
        return product

    def _of_rows_backward(self, grad: Array) -> tuple[Array | None, ...]:
        weight, x = self.saved
        matrix = _kernels.channels_last(grad)
        filters = None if weight is None else _filters(self._met(weight))
        grad_x, total = self._gradients_of_rows(grad, matrix, filters, x)
        grad_weight = None
        if total is not None:
            shape = (len(total), *self.windows.kernel, self.weight_shape[1])
            grad_weight = _kernels.channels_first(total.reshape(shape))
        return grad_x, grad_weight, total_but_channels(grad) if self.needs[2] else None

    def _of_pixels_backward(self, grad: Array) -> tuple[Array | None, ...]:
        """Images are the matrices of their pixels: nothing is laid out."""
        weight, x = self.saved
        grad_x = total = None
        if weight is not None:
            filters = np.ascontiguousarray(self._met(weight).reshape(len(weight), -1).T)
            grad_x = multiply_columns(grad, self.windows, filters, None)
        if x is not None:
            shape, length = self.weight_shape[:2], math.prod(self.size)
            of_images = products.OrderedSum(shape, grad.dtype)

            def fill(images: slice, pixels: slice, multiply: Any) -> None:
                of_outputs, of_channels = (
                    each[images.start].reshape(-1, length) for each in (grad, x)
                )
                of_images.add(images, multiply(of_outputs, of_channels.T))

            _run_by_blocks(fill, len(x), length, 1, math.prod(shape))
            total = of_images.total.reshape(*shape, *self.windows.kernel)
        return grad_x, total, total_but_channels(grad) if self.needs[2] else None

    def _gradients_of_rows(
        self, grad: Array, matrix: Array, filters: Array | None, x: Array | None
    ) -> tuple[Array | None, Array | None]:
        """Gradients of the images and of the filters; ``matrix`` is ``grad``, channels last."""
        (outputs, channels), kernel = self.weight_shape[:2], self.windows.kernel
        filters_shape = (outputs, math.prod(kernel) * channels)
        length, shape = math.prod(grad.shape[2:]), (len(grad), channels, *self.size)
        step = _images_at_a_time(len(grad), length, filters_shape[1])
        if step < len(grad):
            with products.held_back() as n_threads:
                done = _kernels.gradients_of_products(
                    matrix, self.windows, filters, x, shape, step, n_threads
                )
            if done is not None:
                return done
        grad_x = None if filters is None else np.empty(shape, grad.dtype)
        of_blocks = products.OrderedSum(filters_shape, grad.dtype)

        def fill(images: slice, pixels: slice, multiply: Any) -> None:
            part = matrix[pixels]
            if filters is not None and grad_x is not None:
                rows = multiply(part, filters).reshape(-1, *grad.shape[2:], *kernel, channels)
                grad_x[images] = _kernels.fold_rows(rows, self.windows, self.size)
            if x is not None:
                rows = _kernels.unfold_rows(x[images], self.windows)
                of_blocks.add(images, multiply(part.T, rows.reshape(len(part), -1)))

        _run_by_blocks(fill, len(grad), length, step, math.prod(filters_shape))
        return grad_x, None if x is None else of_blocks.total

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


def _images_at_a_time(images: int, length: int, depth: int) -> int:
    """Images of a block, from the windows of each and the numbers in a window.

    The windows of a block, as rows, fit a processor's cache; they are enough that reading the
    filters anew for each block costs little. Blocks are equal, and their number is a power of two,
    so that threads have as many.
    """
    rows, most = images * length, max(_BLOCK // max(depth, 1), 2 * _FEWEST_ROWS)
    count = max(-(-rows // most), min(rows // _FEWEST_ROWS, 2), 1)
    return max(-(-images // (1 << (count - 1).bit_length())), 1)


def _run_by_blocks(
    fill: Callable[[slice, slice, Any], None], images: int, length: int, step: int, each: int
) -> None:
    """Call ``fill`` with some images, their pixels and how to multiply, until all were filled.

    A pixel takes ``each`` multiplications.
    """
    starts = range(0, images, step)
    blocks = [(slice(i, i + step), slice(i * length, (i + step) * length)) for i in starts]
    products.run([functools.partial(fill, *block) for block in blocks], images * length * each)


def _filters(weight: Array) -> Array:  # (N, C, *kernel) as (N, K * C)
    return _kernels.channels_last(weight).reshape(len(weight), -1)


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
