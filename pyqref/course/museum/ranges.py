"""Bugs in ranges, scales and statistics."""

from __future__ import annotations

from .bug import Bug

__all__ = ["RANGES"]

_SWEEP = "[qparams.affine_qparams(low, low + 1, 0, 255)[{}] for low in np.linspace(-2, 1, 31)]"

RANGES = (
    Bug(
        "range-without-zero",
        "does not widen the range to hold zero",
        "The first observer took the range as it was. For data between 1 and 3 the real number 0 "
        "was no integer any more, and padding was wrong.",
        "https://github.com/pytorch/pytorch/issues/23838",
        "qparams.affine_qparams",
        "low = np.minimum(np.asarray(min_val, np.float32), np.float32(0))",
        "low = np.asarray(min_val, np.float32)",
        _SWEEP.format(0),
        "tests/formulas/test_edges.py::test_eq_affine_qparams__on_one_side_of_zero",
    ),
    Bug(
        "zero-point-truncated",
        "casts the zero point instead of rounding it",
        "A quantizer of weights cast the zero point to an integer without rounding. It was one "
        "too small wherever the quotient lay just below an integer.",
        "https://github.com/SonySemiconductorSolutions/mct-quantization-layers/pull/124",
        "qparams.affine_qparams",
        "round_half_even(low / scale)",
        "np.trunc(low / scale)",
        _SWEEP.format(1),
        "tests/formulas/test_qparams.py::test_eq_affine_qparams__any",
    ),
    Bug(
        "midpoint-127",
        "takes 127 for the middle of unsigned bytes",
        "A range that was passed on as one chosen by the user made 127 of (0 + 255) // 2, where "
        "the symmetric zero point of uint8 is 128 by definition.",
        "https://github.com/neuralmagic/sparseml/pull/604",
        "qparams.symmetric_zero_point",
        "return 128",
        "return 127",
        "qparams.symmetric_zero_point(False)",
        "tests/formulas/test_qparams.py::test_eq_symmetric_zero_point__all_cases",
    ),
    Bug(
        "half-range-rounded",
        "divides a symmetric range by quant_max instead of half of its steps",
        "Training divided by 8 or 7, conversion by 7.5, for the integers -8..7. The converted "
        "model had scales that the trained one had never seen.",
        "https://github.com/pytorch/ao/pull/4824",
        "qparams.symmetric_qparams",
        "np.float32((quant_max - quant_min) / 2)",
        "np.float32(quant_max)",
        "[qparams.symmetric_qparams(-high, high, -8, 7) for high in np.linspace(0.1, 3, 30)]",
        "tests/formulas/test_qparams.py::test_eq_symmetric_scale__any",
    ),
    Bug(
        "reduce-range-forgotten",
        "ignores reduce_range",
        "Without VNNI the x86 kernels add pairs of products in 16 bits. The observers of fbgemm "
        "leave one bit unused so that they fit; a user who chose other observers got "
        "saturated sums.",
        "https://github.com/pytorch/pytorch/issues/44939",
        "qparams.reduce_range",
        "return quant_min // 2, quant_max // 2",
        "return quant_min, quant_max",
        "qparams.reduce_range(0, 255)",
        "tests/formulas/test_qparams.py::test_eq_reduce_range__named",
    ),
    Bug(
        "average-from-zero",
        "averages the first batch with zero",
        "Moving averages began at 0. With a large decay it took many batches until the zero was "
        "forgotten, and ranges were too small until then.",
        "https://github.com/tensorflow/tensorflow/issues/2825",
        "moving_average.average_range",
        "return np.where(first, batch_min, low), np.where(first, batch_max, high)",
        "zero = np.float32(0)\n"
        "    return (np.where(first, moving_average(zero, batch_min, constant), low),\n"
        "            np.where(first, moving_average(zero, batch_max, constant), high))",
        "moving_average.average_range(np.float32(np.inf), np.float32(-np.inf), "
        "np.linspace(-3, 1, 30), np.linspace(1, 5, 30), 0.01)",
        "tests/formulas/test_statistics.py::test_eq_average_range__first_batch",
    ),
    Bug(
        "average-holds-zero",
        "widens each batch to hold zero before it is averaged",
        "An observer put the bound at 0 into its running average. Zero belongs into the range "
        "when the scale is computed, and not into the statistics.",
        "https://github.com/vllm-project/compressed-tensors/pull/9",
        "moving_average.average_range",
        "low = moving_average(min_val, batch_min, constant)",
        "low = moving_average(min_val, np.minimum(batch_min, np.float32(0)), constant)",
        "moving_average.average_range(np.float32(1.0), np.float32(2.0), "
        "np.linspace(-2, 2, 30), np.linspace(2, 6, 30), 0.5)",
        "tests/formulas/test_edges.py::test_eq_average_range__batches_on_one_side_of_zero",
    ),
    Bug(
        "stale-range",
        "chooses parameters from the range before this batch",
        "A fused operation updated its range and left scale and zero point as they were. Whoever "
        "read them after a phase of observing got stale ones.",
        "https://github.com/pytorch/pytorch/pull/194815",
        "fused_observe.fused_observe",
        "low = fused_average(min_val, batch_min, constant)",
        "low = np.where(np.isinf(min_val), batch_min, np.asarray(min_val, np.float32))",
        "[fused_observe.fused_observe(-1.0, 1.0, low, 1.0, 0.5, 0, 255, False).scale "
        "for low in np.linspace(-4, 0, 30)]",
        "tests/formulas/test_edges.py::test_eq_fused_observe__parameters_of_the_new_range",
    ),
    Bug(
        "gradient-of-the-scale-unrounded",
        "takes the clamped position for the error in the gradient of the scale",
        "The gradient of a learned scale was computed from what had been passed on to the input, "
        "not from the gradient of the result; its terms lacked the rounding error.",
        "https://github.com/pytorch/pytorch/pull/41968",
        "learnable_fake_quantize.learnable_scale_gradient",
        "gradient * error * reciprocal32(scale)",
        "gradient * steps",
        "[learnable_fake_quantize.learnable_scale_gradient(np.float32([v]), np.ones(1, 'f'), "
        "np.float32([np.rint(v / 0.5)]), 0.5, 0, 0, 15) for v in np.linspace(0, 4, 33)]",
        "tests/formulas/test_learnable_fake_quantize.py::test_eq_learnable_scale_gradient__order",
    ),
)
