"""Run every compiled kernel on memory that ends, or begins, where the program may not go.

Each array of a call is moved so that it ends exactly at a page that may not be touched,
and once more so that it begins right behind one. A read or a write outside of it ends this
program with a signal. Larger arrays are moved to 16 bytes before such a page, too: only there do
rows of a vector's channels begin beside a cache line. ``python guarded.py KERNEL`` is what
``test_bounds.py`` runs.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from typing import Any

import numpy as np

from pyqref import _kernels, kernels
from pyqref._kernels import registry
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import requantization
from pyqref.numerics.windows import Windows

PAGE = mmap.PAGESIZE
NONE = np.zeros(1, np.int64)
LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Copies of arrays beside a page that may not be touched, and back."""

    def __init__(self, *, at_end: bool, gap: int = 0) -> None:
        self.at_end, self.gap = at_end, gap
        self.kept: list[Any] = []

    def place(self, array: np.ndarray) -> np.ndarray:
        """Copy of ``array`` whose last byte, or first, lies beside a forbidden page."""
        pages = -(-(array.nbytes + self.gap) // PAGE) + 1
        memory = mmap.mmap(-1, pages * PAGE)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        forbidden = start + (pages - 1) * PAGE if self.at_end else start
        if LIBC.mprotect(ctypes.c_void_p(forbidden), ctypes.c_size_t(PAGE), 0) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        offset = (pages - 1) * PAGE - array.nbytes - self.gap if self.at_end else PAGE
        # In the order in which it lies: what a kernel does may depend on it.
        order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        flat = np.frombuffer(memory, array.dtype, array.size, offset)
        moved = flat.reshape([array.shape[axis] for axis in order])
        moved = moved.transpose(np.argsort(order).astype(int))
        moved[...] = array
        self.kept.append(memory)
        return moved

    def move(self, argument: Any) -> Any:
        """Place arrays, those in tuples too; everything else is returned as it is."""
        if isinstance(argument, tuple):
            moved = map(self.move, argument)
            return type(argument)(*moved) if hasattr(argument, "_fields") else tuple(moved)
        return (
            self.place(argument) if isinstance(argument, np.ndarray) and argument.size else argument
        )


class GuardedKernel:
    """A compiled module whose functions, and what they make, get all of their arrays guarded."""

    def __init__(self, module: Any, *, at_end: bool, gap: int) -> None:
        self._module, self._at_end, self._gap = module, at_end, gap

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        return self._guard(found) if callable(found) else found

    def _guard(self, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            guarded = Guarded(at_end=self._at_end, gap=self._gap)
            moved = [guarded.move(each) for each in arguments]
            result = function(*moved)
            if hasattr(result, "run"):
                return GuardedKernel(result, at_end=self._at_end, gap=self._gap)
            results = result if isinstance(result, tuple) else (result,)
            if isinstance(results[0], np.ndarray):
                # The kernel has made room where it was told to: once more, into guarded room.
                wanted = [n for n, each in enumerate(arguments) if _is_wanted(each)]
                for place, each in zip(wanted, results, strict=False):
                    moved[place] = None if each is None else guarded.place(each)
                result = function(*moved)
            for original, copy in zip(arguments, moved, strict=True):
                if isinstance(original, np.ndarray) and original.flags.writeable:
                    original[...] = copy
            return result

        return call


def _is_wanted(argument: Any) -> bool:
    """Return True if the kernel is to make room for a result."""
    return argument is None or isinstance(argument, np.dtype | type)


def q8(x: np.ndarray) -> np.ndarray:
    """Some bytes, as many as there are numbers."""
    return np.ones(x.shape, np.uint8)


def exercise() -> None:
    """Call every operation on small shapes around its tiles."""
    rng = np.random.default_rng(0)
    for size in (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65):
        x = rng.standard_normal(size).astype(np.float32)
        for storage in (np.uint8, np.int8, np.int32):
            q = _kernels.quantize_per_tensor(x, 0.1, 3, 0, 100, storage)
            _kernels.dequantize_per_tensor(q, 0.1, 3)
        on = Grid(0.1, 3)
        for engine in ("fbgemm", "qnnpack"):
            _kernels.add(q8(x), on, q8(x), on, on, engine)
        _kernels.mul(q8(x), on, q8(x), on, on)
        _kernels.look_up(np.arange(256, dtype=np.uint8), q8(x))
        for image in (np.ones((2, size, 3, 4), np.uint8), np.ones((2, 3, 4, size), np.int8)):
            for each in (image, image.transpose(0, 3, 1, 2)):
                _kernels.max_pool(each, (2, 2), (1, 1), (1, 1), (1, 1))
                _kernels.avg_pool(each, 3, (2, 2), (1, 1), (1, 1))
                _kernels.adaptive_avg_pool(each, 3, (1, 2))
        # More taps than are listed at a time.
        for image in (np.ones((1, size, 9, 8), np.uint8), np.ones((1, 9, 8, size), np.int8)):
            for each in (image, image.transpose(0, 3, 1, 2)):
                _kernels.adaptive_avg_pool(each, 3, (1, 1))
        for volume in (np.ones((2, size, 2, 3, 4), np.uint8), np.ones((2, 3, 4, 2, size), np.int8)):
            for each in (volume, np.moveaxis(volume, -1, 1)):
                _kernels.max_pool(each, (2,) * 3, (1,) * 3, (1,) * 3, (1,) * 3)
                _kernels.avg_pool(each, 3, (2,) * 3, (1,) * 3, (1,) * 3)
                _kernels.adaptive_avg_pool(each, 3, (1, 1, 2))
        _kernels.min_max(x)
        seen = _kernels.merge_histogram(None, x, size, 16)
        _kernels.merge_histogram(seen, x, size, 16)
        _, mask = _kernels.fake_quantize_per_tensor(x, 0.1, 3, 0, 100)
        _kernels.straight_through(x, mask)
        _kernels.straight_through(x, x > 0)
        for shape, axis in (((1, size), 1), ((size, 1), 0), ((2, size, 3), 1), ((3, size), 0)):
            y = rng.standard_normal(shape).astype(np.float32)
            scales, zero_points = np.full(shape[axis], 0.1), np.full(shape[axis], 3)
            for storage in (np.uint8, np.int8, np.int32):
                q = _kernels.quantize_per_channel(y, scales, zero_points, axis, 0, 9, storage)
                _kernels.dequantize_per_channel(q, scales, zero_points, axis)
            _kernels.fake_quantize_per_channel(y, scales, zero_points, axis, 0, 9)
            ends = _kernels.min_max_per_channel(y, axis)
            _kernels.running_range(*ends, y, axis, 0.1)
            _kernels.min_max_per_channel(np.ones((40, size), np.float32), 0)
            _kernels.fake_quantize_per_channel(y, scales, zero_points, axis, 0, 9, masked=False)
        on_image = rng.standard_normal((2, size, 5, 4)).astype(np.float32)
        for kernel, stride in ((3, 2), (1, 2), (2, 1), (1, 1)):
            windows = Windows.make((kernel,) * 2, (stride,) * 2, (kernel // 2,) * 2, (1, 1))
            count = windows.output_size((5, 4))
            _, winner = _kernels.largest(on_image, windows, count)
            grad = np.ones(winner.shape, np.float32)
            _kernels.gradient_of_largest(grad, winner, windows, (5, 4))
            across = np.ascontiguousarray(on_image.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
            means, winner = _kernels.largest(across, windows, count)
            _kernels.means_of_windows(across, windows, count, np.ones((1, 1), np.float32))
            _kernels.gradient_of_largest(means, winner, windows, (5, 4))
            _kernels.gradient_of_means(means, windows, (5, 4), np.ones((1, 1), np.float32))
        for lines in (on_image.reshape(2, size, 20), on_image.reshape(10, 4, size)):
            per_channel = np.ones(lines.shape[1], np.float32)
            _kernels.moments_of_channels(lines)
            _kernels.sums_of_channels(lines, lines, per_channel)
            _kernels.scale_channels(lines, per_channel, per_channel)
            _kernels.gradient_of_normalized(lines, lines, *[per_channel] * 4)
            _kernels.normalize_groups(lines, 1, per_channel, per_channel, 1e-5)
            across = np.ascontiguousarray(lines.swapaxes(1, 2)).swapaxes(1, 2)
            _kernels.moments_of_channels(across)
            _kernels.normalize_groups(across, 1, per_channel, per_channel, 1e-5)
            of_images = np.ones(lines.shape[:2], np.float32)
            _kernels.sums_of_images(across, across, of_images)
            _kernels.scale_channels(across, of_images, of_images, center=of_images)
            _kernels.gradient_of_normalized(across, across, *[of_images] * 4)
        for weight in (None, x):
            _kernels.layer_norm(np.stack([q8(x)] * 2), on, weight, weight, 1e-5, on)
        _kernels.in_c_order(np.ones((2, 3, 5, size), np.uint8).transpose(0, 3, 1, 2))
        part = np.ones((2, size, 3), np.uint8)
        _kernels.cat([part, part[:, :1]], [on, on], 1, on)
        _kernels.nearest(np.ones((1, 3, 4, size), np.uint8).transpose(0, 3, 1, 2), (6, 5))
    for columns in (1, 15, 16, 17, 33, 64, 65, 130):
        for depth in (1, 3, 4, 5, 64, 68):
            weight = rng.integers(-128, 128, (columns, depth)).astype(np.int8)
            packed = _kernels.pack_linear(weight)
            bias = np.ones(columns, np.float32)
            for engine in ("fbgemm", "qnnpack"):
                requant = requantization(engine, 0.1, np.full(columns, 0.1), 1.0, 3, bias)
                for stored in (np.uint8, np.int8):
                    for zero_points in (0, np.full(columns, 2)):
                        for rows in (1, 7, 35):
                            x = np.ones((rows, depth), stored)
                            at = (x, 3, packed, zero_points)
                            _kernels.linear(*at, requant)
                            _kernels.linear_accumulator(*at)
                            _kernels.linear_float(*at, 0.1, 0.1, bias, engine)
                            if stored is np.uint8:
                                real = x.astype(np.float32)
                                scale = np.float64(0.1)
                                _kernels.linear_dynamic(
                                    real, packed, zero_points, scale, bias, engine
                                )
    for size in (1, 3, 4, 15, 16, 17, 33, 260):
        for kind, gates in (("LSTM", 4), ("GRU", 3)):
            real = np.ones((5, gates * size), np.float32)
            state = np.ones((2, size), np.float32)
            of_input, of_hidden = (
                _kernels.Projection(
                    _kernels.pack_linear(np.ones((gates * size, depth), np.int8)),
                    0,
                    np.float64(0.1),
                    np.ones(gates * size, np.float32),
                )
                for depth in (5, size)
            )
            x = np.ones((5, 5), np.float32)
            for reverse in (False, True):
                states = [state.copy(), state.copy()]
                _kernels.recurrent_layer(kind, x, of_input, of_hidden, states, [2, 2, 1], reverse)
        _kernels.lstm_step(real[:2, :size].repeat(4, 1), real[:2, :size].repeat(4, 1), state)
        _kernels.gru_step(real[:2], real[:2], state)
        _kernels.rnn_step(state, state)
    for channels, outputs, groups in (
        (3, 5, 1),
        (4, 64, 1),
        (6, 6, 2),
        (1, 1, 1),
        (17, 17, 17),
        (64, 64, 64),
        (72, 72, 72),
        (100, 100, 100),
        (24, 12, 12),
        (16, 16, 4),
        (80, 80, 10),
    ):
        for kernel, padding in ((1, 0), (3, 1), (3, 0)):
            shape = (outputs, channels // groups, kernel, kernel)
            packed_conv = _kernels.pack_conv2d(np.ones(shape, np.int8), groups)
            requant = requantization("fbgemm", 0.1, 0.1, 1.0, 3, np.ones(outputs, np.float32))
            for stored in (np.uint8, np.int8):
                x = np.ones((2, channels, 5, 4), stored)
                last = np.moveaxis(np.ones((2, 5, 4, channels), stored), -1, 1)
                steps = ((1, 1), (padding, padding), (1, 1))
                for each in (x, last):
                    _kernels.conv2d(each, 3, packed_conv, 0, requant, *steps)
                    _kernels.conv2d(each, 3, packed_conv, 0, requant, (2, 2), *steps[1:])
                    if stored is np.uint8:
                        in_reals = each.astype(np.float32)
                        _kernels.conv2d(in_reals, 3, packed_conv, 0, requant, *steps, 0.1)
                        size = tuple(n + 2 * padding - kernel + 1 for n in (5, 4))
                        list(_kernels.conv_sums(each, 3, packed_conv, NONE, *steps, size))
                        added = np.ones((2, outputs, *size), np.uint8)
                        weight = packed_conv, np.float64(0.1), NONE, None
                        _kernels.conv_add(each, on, *weight, *steps, added, on, on, True)
                shape = (channels, outputs // groups, kernel, kernel)
                spread = _kernels.pack_conv_transpose(
                    np.ones(shape, np.int8), (2, 3), (1, 1), groups
                )
                for each in (x, last):
                    rest = (spread, 0, requant, (padding, 0), (0, 1))
                    _kernels.conv_transpose(each, 3, *rest)
                    if stored is np.uint8:
                        _kernels.conv_transpose(each.astype(np.float32), 3, *rest, 0.1)
        # Taps that are far apart.
        far = np.moveaxis(np.ones((2, 2, 150, channels), np.uint8), -1, 1)
        packed_conv = _kernels.pack_conv2d(
            np.ones((outputs, channels // groups, 1, 2), np.int8), groups
        )
        _kernels.conv2d(far, 3, packed_conv, 0, requant, (1, 2), (0, 1), (1, 140))

    # In runs that tile registers read where they lie.
    packed_conv = _kernels.pack_conv2d(np.ones((40, 64, 3, 2), np.int8))
    requant = requantization("fbgemm", 0.1, 0.1, 1.0, 3, np.ones(40, np.float32))
    for size in ((8, 12), (5, 40)):
        x = np.moveaxis(np.ones((2, *size, 64), np.uint8), -1, 1)
        for padding, stride in ((0, 1), (1, 1), (0, 2), (2, 3)):
            steps = ((stride, stride), (padding, padding), (1, 1))
            _kernels.conv2d(x, 3, packed_conv, 0, requant, *steps)

    # In transformed tiles, and beside them.
    packed_conv = _kernels.pack_conv2d(np.ones((48, 160, 3, 3), np.int8))
    requant = requantization("fbgemm", 0.1, 0.1, 1.0, 3, np.ones(48, np.float32))
    for size in ((8, 12), (9, 15)):
        x = np.moveaxis(np.ones((2, *size, 160), np.uint8), -1, 1)
        for padding in (0, 1, 2):
            _kernels.conv2d(x, 3, packed_conv, 0, requant, (1, 1), (padding, padding), (1, 1))


def exercise_lines() -> None:
    """Real arrays that are so large that they are read from a cache line on."""
    rng = np.random.default_rng(1)
    for size in (255, 256, 257, 300, 321):
        x = rng.standard_normal(size).astype(np.float32)
        for storage in (np.uint8, np.int8):
            _kernels.quantize_per_tensor(x, 0.1, 3, 0, 100, storage)
        _kernels.min_max(x)
        _kernels.min_max_per_channel(rng.standard_normal((17, size)).astype(np.float32), 0)
        _kernels.min_max_per_channel(np.ones((64, -(-size // 16) * 16), np.float32), 0)
    for shape in ((1, 256), (9, 32), (5, 64), (6, 144), (40, 16), (600, 64), (11_000, 3)):
        x = rng.standard_normal(shape).astype(np.float32)
        for axis in (0, 1):
            scales, zero_points = np.full(shape[axis], 0.1), np.full(shape[axis], 3)
            for storage in (np.uint8, np.int8):
                _kernels.quantize_per_channel(x, scales, zero_points, axis, 0, 9, storage)
            ends = _kernels.min_max_per_channel(x, axis)
            _kernels.running_range(*ends, x, axis, 0.1)


def main(name: str) -> None:
    """Exercise one kernel with its arrays at the end of memory, then at the beginning."""
    find = registry.twin
    with kernels.use(name):
        for at_end, gap in ((True, 0), (False, 0), (True, 16)):
            registry.twin = lambda operation, at_end=at_end, gap=gap: GuardedKernel(  # type: ignore
                find(operation), at_end=at_end, gap=gap
            )
            exercise_lines()
            if gap == 0:
                exercise()
    registry.twin = find


if __name__ == "__main__":
    main(sys.argv[1])
