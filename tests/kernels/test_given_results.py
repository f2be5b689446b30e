"""A result that a caller brings fits, or is refused: no kernel writes beside it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.guarded import Guarded

from pyqref import _kernels
from pyqref._kernels import registry
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.requantize import requantization
from pyqref.numerics.windows import Windows

RNG = np.random.default_rng(0)
ON = Grid(0.1, 3)


def reals(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def octets(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape).astype(np.uint8)


IMAGE = octets(2, 20, 6, 5)
LAST = np.moveaxis(octets(2, 6, 5, 20), -1, 1)
LINES = reals(2, 5, 7)
WINDOWS = Windows.make((3, 3), (1, 1), (1, 1), (1, 1))
PIXELS = reals(2, 3, 6, 5)
ACROSS = reals(2, 6, 5, 3).transpose(0, 3, 1, 2)
LINEAR = _kernels.pack_linear(RNG.integers(-128, 128, (20, 16)).astype(np.int8))
FINISH = requantization("fbgemm", 0.1, 0.1, 1.0, 3, np.ones(20, np.float32))
CONV = _kernels.pack_conv2d(RNG.integers(-9, 9, (20, 20, 3, 3)).astype(np.int8))


def recur(kind: str, gates: int) -> None:
    of_input, of_hidden = (
        _kernels.Projection(
            _kernels.pack_linear(np.ones((gates * 6, depth), np.int8)),
            0,
            np.float64(0.1),
            np.ones(gates * 6, np.float32),
        )
        for depth in (5, 6)
    )
    states = [reals(2, 6), reals(2, 6)]
    _kernels.recurrent_layer(kind, reals(5, 5), of_input, of_hidden, states, [2, 2, 1])


#: Calls by their folder, and what the kernel writes to in each of its functions, by place.
CALLS: dict[str, tuple[str, Callable[[], Any], dict[str, tuple[int, ...]]]] = {
    "quantize": (
        "quantize",
        lambda: _kernels.quantize_per_tensor(LINES, 0.1, 3, 0, 255, np.dtype(np.uint8)),
        {"quantize_per_tensor": (1,)},
    ),
    "dequantize": (
        "quantize",
        lambda: _kernels.dequantize_per_tensor(LAST, 0.1, 3),
        {"dequantize_per_tensor": (1,)},
    ),
    "quantize channels": (
        "quantize",
        lambda: _kernels.quantize_per_channel(
            LINES, np.ones(5), np.ones(5), 1, 0, 9, np.dtype(np.int32)
        ),
        {"quantize_per_channel": (1,)},
    ),
    "dequantize channels": (
        "quantize",
        lambda: _kernels.dequantize_per_channel(IMAGE, np.ones(20), np.ones(20, int), 1),
        {"dequantize_per_channel": (1,)},
    ),
    "fake quantize": (
        "fake_quantize",
        lambda: _kernels.fake_quantize_per_tensor(LINES, 0.1, 3, 0, 255, masked=False),
        {"fake_quantize_per_tensor": (1,)},
    ),
    "fake quantize channels": (
        "fake_quantize",
        lambda: _kernels.fake_quantize_per_channel(
            LINES, np.ones(5), np.ones(5, int), 1, 0, 255, masked=False
        ),
        {"fake_quantize_per_channel": (1,)},
    ),
    "straight through": (
        "fake_quantize",
        lambda: _kernels.straight_through(LINES, LINES > 0),
        {"straight_through": (2,)},
    ),
    "add": ("elementwise", lambda: _kernels.add(LAST, ON, LAST, ON, ON), {"add": (2,)}),
    "add in fixed point": (
        "elementwise",
        lambda: _kernels.add(LAST, ON, LAST, ON, ON, "qnnpack"),
        {"add_fixed_point": (2,)},
    ),
    "mul": ("elementwise", lambda: _kernels.mul(IMAGE, ON, IMAGE, ON, ON), {"mul": (2,)}),
    "look up": (
        "elementwise",
        lambda: _kernels.look_up(np.arange(256, dtype=np.uint8), IMAGE),
        {"look_up": (2,)},
    ),
    "clamp": ("elementwise", lambda: _kernels.relu(IMAGE, 9), {"clamp": (1,)}),
    "max pool": (
        "pooling",
        lambda: _kernels.max_pool(IMAGE, (2, 2), (1, 1), (0, 0), (1, 1)),
        {"max_pool": (1,)},
    ),
    "mean pool": (
        "pooling",
        lambda: _kernels.avg_pool(LAST, 3, (2, 2), (1, 1), (0, 0)),
        {"mean_pool": (1,)},
    ),
    "nearest": ("resize", lambda: _kernels.nearest(LAST, (9, 8)), {"nearest": (4,)}),
    "bilinear": ("resize", lambda: _kernels.bilinear(LAST, 3, (9, 8)), {"bilinear": (9,)}),
    "layer norm": (
        "normalization",
        lambda: _kernels.layer_norm(octets(3, 20), ON, None, None, 1e-5, ON),
        {"layer_norm": (12,)},
    ),
    "C order": ("normalization", lambda: _kernels.in_c_order(LAST), {"put_channels_first": (1,)}),
    "linear": (
        "qgemm",
        lambda: _kernels.linear(octets(3, 16), 3, LINEAR, 0, FINISH),
        {"linear": (2,)},
    ),
    "sums": (
        "qgemm",
        lambda: _kernels.linear_accumulator(octets(3, 16), 3, LINEAR, 0),
        {"linear": (2,)},
    ),
    "dynamic": (
        "qgemm",
        lambda: _kernels.linear_dynamic(
            reals(3, 16), LINEAR, 0, np.float64(0.1), np.ones(20, np.float32), "fbgemm"
        ),
        {"linear_dynamic": (2,)},
    ),
    "conv": (
        "qconv",
        lambda: _kernels.conv2d(LAST, 3, CONV, 0, FINISH, (1, 1), (1, 1), (1, 1)),
        {"Convolution.run": (1,)},
    ),
    "moments": (
        "channels",
        lambda: _kernels.moments_of_channels(LINES),
        {"moments_of_channels": (1, 2)},
    ),
    "channel sums": (
        "channels",
        lambda: _kernels.sums_of_channels(LINES, LINES, reals(5)),
        {"add_up": (4, 5)},
    ),
    "scale": (
        "channels",
        lambda: _kernels.scale_channels(LINES, reals(5), reals(5)),
        {"scale": (5,)},
    ),
    "normalized": (
        "channels",
        lambda: _kernels.gradient_of_normalized(LINES, LINES, *[reals(5)] * 4),
        {"gradient": (4,)},
    ),
    "channel sums of images": (
        "channels",
        lambda: _kernels.sums_of_images(*[LINES.swapaxes(1, 2)] * 2, reals(2, 7)),
        {"add_up": (4, 5)},
    ),
    "moments of groups": (
        "channels",
        lambda: _kernels.moments_of_groups(LINES, 5),
        {"moments_of_groups": (3, 4)},
    ),
    "groups normalized": (
        "channels",
        lambda: _kernels.normalize_groups(LINES, 5, None, None, 1e-5),
        {"normalize_groups": (6, 7, 8, 9)},
    ),
    "totals of rows": (
        "channels",
        lambda: _kernels.totals_of_rows(reals(3, 20)),
        {"totals_of_rows": (2,)},
    ),
    "totals of columns": (
        "channels",
        lambda: _kernels.totals_of_columns(reals(2, 3, 20)),
        {"totals_of_columns": (1,)},
    ),
    "totals across": (
        "channels",
        lambda: _kernels.totals_across(reals(2, 3, 20)),
        {"totals_across": (2,)},
    ),
    "bags of rows": (
        "tables",
        lambda: _kernels.float_bag(reals(3, 20), *[np.array([0, 1])] * 2, np.array([1, 2])),
        {"join_bags": (9,)},
    ),
    "moments of rows": (
        "channels",
        lambda: _kernels.moments_of_rows(reals(3, 20)),
        {"moments_of_rows": (1, 2)},
    ),
    "rows normalized": (
        "channels",
        lambda: _kernels.normalize_rows(reals(3, 20), None, None, 1e-5),
        {"normalize_rows": (5, 6, 7)},
    ),
    "gradient of rows": (
        "channels",
        lambda: _kernels.gradient_of_rows(reals(3, 20), reals(3, 20), None, reals(3), reals(3)),
        {"gradient_of_rows": (6,)},
    ),
    "gradient of columns": (
        "channels",
        lambda: _kernels.gradient_of_columns(reals(3, 20), reals(3, 20), reals(3), reals(3)),
        {"gradient_of_columns": (4, 5)},
    ),
    "convolution": (
        "windows",
        lambda: _kernels.convolution(PIXELS, reals(4, 3, 3, 3), None, WINDOWS, 1),
        {"convolve": (3,)},
    ),
    "convolution gradient": (
        "windows",
        lambda: _kernels.convolution_gradient(PIXELS, reals(3, 2, 3, 3), None, WINDOWS, 1, (6, 5)),
        {"convolve": (3,)},
    ),
    "convolution gradient of filters": (
        "windows",
        lambda: _kernels.convolution_weight_gradient(PIXELS, PIXELS, WINDOWS, 1),
        {"convolve_weights": (2,)},
    ),
    "depthwise": (
        "windows",
        lambda: _kernels.depthwise(PIXELS, reals(3, 3, 3), None, WINDOWS),
        {"depthwise": (3,)},
    ),
    "depthwise gradient": (
        "windows",
        lambda: _kernels.depthwise_gradient(PIXELS, reals(3, 3, 3), WINDOWS, (6, 5)),
        {"depthwise": (3,)},
    ),
    "depthwise gradient of filters": (
        "windows",
        lambda: _kernels.depthwise_weight_gradient(PIXELS, PIXELS, WINDOWS),
        {"depthwise_weight_gradient": (2,)},
    ),
    "largest": (
        "windows",
        lambda: _kernels.largest(PIXELS, WINDOWS, (6, 5)),
        {"largest": (1, 2)},
    ),
    "largest across": (
        "windows",
        lambda: _kernels.largest(ACROSS, WINDOWS, (6, 5)),
        {"largest": (1, 2)},
    ),
    "means across": (
        "windows",
        lambda: _kernels.means_of_windows(ACROSS, WINDOWS, (6, 5), np.float32([9])),
        {"means": (2,)},
    ),
    "gradient of largest": (
        "windows",
        lambda: _kernels.gradient_of_largest(PIXELS, (PIXELS > 0).view(np.uint8), WINDOWS, (6, 5)),
        {"gradient_of_largest": (2,)},
    ),
    "gradient across": (
        "windows",
        lambda: _kernels.gradient_of_means(ACROSS, WINDOWS, (6, 5), np.float32([[9]])),
        {"gradient_across": (2,)},
    ),
    "lstm step": (
        "recurrent",
        lambda: _kernels.lstm_step(reals(2, 24), reals(2, 24), reals(2, 6)),
        {"recurrent_step": (3, 4)},
    ),
    "gru step": (
        "recurrent",
        lambda: _kernels.gru_step(reals(2, 18), reals(2, 18), reals(2, 6)),
        {"recurrent_step": (3,)},
    ),
    "lstm of floats": (
        "recurrent",
        lambda: _kernels.recurrent_floats(
            "LSTM", reals(6, 24), reals(24, 6), None, [reals(2, 6)] * 2, [2, 2, 1, 1], False, True
        ),
        {"recurrent_floats": (6, 7, 8, 9, 10)},
    ),
    "attention": (
        "attention",
        lambda: _kernels.attend(*[reals(2, 5, 4)] * 3, None, False, 1.0),
        {"attention": (6,)},
    ),
    "lstm": ("recurrent", lambda: recur("LSTM", 4), {"recurrent_layer": (7, 8, 9, 10, 11)}),
}


def wrong_ones(right: np.ndarray) -> dict[str, np.ndarray]:
    """Results of which each is wrong in one way."""
    read_only = right.copy(order="K")
    read_only.flags.writeable = False
    shape = right.shape
    wrong = {
        "too small": np.zeros_like(right)[..., :-1].copy(),
        "too large": np.zeros((*shape[:-1], shape[-1] + 1), right.dtype),
        "flat": np.zeros((2, *shape), right.dtype),
        "of another type": right.astype(np.float64),
        "of float16": np.zeros(shape, np.float16),
        "read-only": read_only,
        "with gaps": np.repeat(right, 2, axis=-1)[..., ::2],
        "backwards": right[..., ::-1],
    }
    if right.itemsize > 1:
        wrong["swapped"] = right.astype(right.dtype.newbyteorder())
        odd = np.zeros(right.nbytes + 1, np.uint8)[1:].view(right.dtype)
        wrong["at an odd address"] = odd.reshape(shape)
    return wrong


@pytest.mark.skipif(sys.platform == "win32", reason="pages are guarded by mprotect")
@pytest.mark.parametrize("name", CALLS)
def test_results_that_do_not_fit(
    compiled_kernel: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is refused with a word on which and why, and stays as it is; the right one is not."""
    operation, call, places = CALLS[name]
    module = registry.twin(operation)
    seen: set[str] = set()

    class Checked:
        def __getattr__(self, function: str) -> Any:
            found = getattr(module, function)
            if f"{function}.run" in places:  # a class, made ready for calls
                return lambda *made: SimpleNamespace(
                    run=self.checked(f"{function}.run", found(*made).run)
                )
            return self.checked(function, found) if function in places else found

        def checked(self, function: str, run: Any) -> Any:
            seen.add(function)

            def checked(*arguments: Any) -> Any:
                result = run(*arguments)
                results = result if isinstance(result, tuple) else (result,)
                for place in places[function]:
                    right = arguments[place]
                    if not isinstance(right, np.ndarray):  # the kernel has made room
                        right = results[0]
                        again = np.zeros_like(right)
                        run(*arguments[:place], again, *arguments[place + 1 :])
                        assert_same_bits(right, again)
                    refuse_all(run, arguments, place, right)
                return result

            return checked

    found = {operation: Checked()}
    twin = registry.twin
    monkeypatch.setattr(registry, "twin", lambda each: found.get(each) or twin(each))
    call()
    assert set(places) == seen


def refuse_all(run: Any, arguments: tuple[Any, ...], place: int, right: np.ndarray) -> None:
    for at_end in (False, True):
        for reason, wrong in wrong_ones(right).items():
            if takes(run, place, reason):
                continue
            guarded = Guarded(at_end=at_end)
            # Those that lie oddly are what they are in ordinary memory.
            plain = wrong.flags.c_contiguous and wrong.flags.aligned and wrong.flags.writeable
            given = guarded.place(wrong) if plain else wrong
            before = given.copy()
            with pytest.raises((TypeError, ValueError), match=r"must .*got"):
                run(*arguments[:place], given, *arguments[place + 1 :])
            assert_same_bits(before, given)


def takes(run: Any, place: int, reason: str) -> bool:
    """Return True for what is no fault: as many bins as there are counts, images of any size."""
    of_any_size = run.__name__ == "gradient_of_largest"
    return of_any_size and reason in ("too small", "too large")
