"""Bugs in rounding, clamping and zero points."""

from __future__ import annotations

from .bug import Bug

__all__ = ["ROUNDING"]

_STAIRS = "affine.quantize_per_tensor(np.linspace(-2, 2, 65, dtype='f'), 0.25, {}, 0, 15, np.uint8)"
_AFFINE = "tests/formulas/test_affine.py"

ROUNDING = (
    Bug(
        "half-away",
        "rounds halves away from zero",
        "QuantizeLinear of an inference engine used the language's round, which takes ties away "
        "from zero. ONNX, PyTorch and NumPy take them to the even neighbour: one step of "
        "difference at every second tie.",
        "https://github.com/sonos/tract/pull/2850",
        "affine.quantize_per_tensor",
        "round_half_even(shifted)",
        "np.copysign(np.floor(np.abs(shifted) + 0.5), shifted)",
        _STAIRS.format(8),
        "tests/formulas/test_affine.py::test_eq_affine_quantize__near_ties",
    ),
    Bug(
        "truncates",
        "casts without rounding",
        "The float16 path of QuantizeLinear cast the quotient to an integer, which drops the "
        "fraction. Half of all numbers came out one step too near to zero.",
        "https://github.com/microsoft/onnxruntime/pull/32452",
        "affine.quantize_per_tensor",
        "round_half_even(shifted)",
        "np.trunc(shifted)",
        _STAIRS.format(8),
        "tests/formulas/test_affine.py::test_eq_affine_quantize__near_ties",
    ),
    Bug(
        "loses-the-sign",
        "gives the size of negative numbers",
        "The instruction that makes a byte of a float took the size of the number. Quantizing x "
        "and -x gave the same byte, instead of 0 for what lies below the range.",
        "https://github.com/tenstorrent/tt-metal/issues/56290",
        "affine.quantize_per_tensor",
        "round_half_even(shifted)",
        "np.abs(round_half_even(shifted))",
        _STAIRS.format(3),
        "tests/formulas/test_affine.py::test_eq_affine_quantize__near_ties",
    ),
    Bug(
        "wraps",
        "casts before it clamps",
        "A path that was put together from other operations narrowed to uint8 with a cast, which "
        "wraps modulo 256: what lies beyond the range comes back at its other end.",
        "https://github.com/tenstorrent/tt-metal/pull/56327",
        "rounding.clamp_to_int",
        "clamped = np.clip(values, quant_min, quant_max)",
        "clamped = np.nan_to_num(values, posinf=0, neginf=0).astype(np.int64).astype(storage)"
        ".astype(np.float64)",
        "affine.quantize_per_tensor(np.linspace(-8, 8, 65, dtype='f'), 0.03, 128, 0, 255, "
        "np.uint8)",
        "tests/formulas/test_rounding.py::test_eq_saturate__beyond_the_type",
    ),
    Bug(
        "narrows-before-the-zero-point",
        "casts to int8 before the zero point is added",
        "A compiler's lowering cast to int8 between rounding and adding the zero point. With a "
        "zero point of -128 half of the range was cut off.",
        "https://github.com/llvm/torch-mlir/pull/4487",
        "requantize.requantize",
        "shifted = rounded + requant.output_zero_point",
        "shifted = np.clip(rounded, -128, 127) + requant.output_zero_point",
        "requantize.requantize(np.arange(-20, 300, 5)[:, None], "
        "requantize.requantization('fbgemm', 1.0, 1.0, 1.0, 5))",
        "tests/formulas/test_requantize.py::test_eq_requantize__engines",
    ),
    Bug(
        "zero-point-outside",
        "adds the zero point after rounding",
        "The first fake quantizer rounded before it added the zero point. A review asked for the "
        "other order: with an odd zero point every tie goes to the other side.",
        "https://github.com/pytorch/pytorch/pull/21767",
        "fake_quantize.fake_quantize_per_tensor",
        "round_half_even(fma32(x, inverse, offset))",
        "round_half_even(x * inverse) + offset",
        "fake_quantize.fake_quantize_per_tensor(np.linspace(-2, 2, 33, dtype='f'), 0.25, 7, 0, "
        "15)[0]",
        "tests/formulas/test_fake_quantize.py::test_eq_fake_quantize__documented",
    ),
    Bug(
        "shifts-without-sign",
        "rounds negative numbers with the constant of positive ones",
        "A library for fixed point added half a unit before the shift whatever the sign. Negative "
        "numbers half way between two integers went the other way than positive ones.",
        "https://github.com/mitsuhiko/libfixmath/issues/13",
        "rounding.round_shift_right",
        "return np.where(x < 0, -magnitude, magnitude)",
        "return (x + half) >> np.int64(shift)",
        "rounding.round_shift_right(np.arange(-12, 13), 3)",
        "tests/formulas/test_rounding.py::test_eq_round_shift_right__any",
    ),
    Bug(
        "axis-0-always",
        "takes axis 0 for the channels",
        "A quantizer of transposed convolutions took the scales along axis 0 of the weight. Their "
        "output channels lie along axis 1.",
        "https://github.com/microsoft/onnxruntime/issues/19694",
        "affine.along_axis",
        "shape[axis] = -1",
        "shape[0] = -1",
        "affine.quantize_per_channel(np.full((3, 3), 1.0, 'f'), [1, 0.5, 0.1], [0, 0, 0], 1, "
        "-128, 127, np.int8)",
        "tests/formulas/test_affine.py::test_eq_affine_quantize_channel__any_axis",
    ),
    Bug(
        "truncates-a-learned-zero-point",
        "casts a learned zero point instead of rounding it",
        "Learnable fake quantization per channel cast the zero point to an integer; per tensor it "
        "was rounded. A zero point on its way from 3 to 4 counted as 3 all the way.",
        "https://github.com/pytorch/pytorch/pull/52290",
        "learnable_fake_quantize.whole_zero_point",
        "round_half_even(",
        "np.trunc(",
        "learnable_fake_quantize.whole_zero_point(np.linspace(0, 4, 33, dtype='f'), 0, 15)",
        "tests/formulas/test_learnable_fake_quantize.py::test_eq_learnable_zero_point__ties_and_ends",
    ),
    Bug(
        "four-bits-swapped",
        "packs the first of two integers into the upper half of a byte",
        "Two parts of a toolkit disagreed which of two 4-bit integers comes first. Constants that "
        "took one way came out with their neighbours exchanged.",
        "https://github.com/openvinotoolkit/openvino/pull/32144",
        "embedding.pack_bits",
        "np.arange(number, dtype=np.uint8)",
        "np.arange(number, dtype=np.uint8)[::-1]",
        "embedding.pack_bits(np.arange(16, dtype=np.uint8)[None], 4)",
        "tests/formulas/test_embedding.py::test_eq_pack_bits__sums_of_powers",
    ),
)
