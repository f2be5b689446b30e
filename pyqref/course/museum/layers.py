"""Bugs in sums, biases, folding and layers."""

from __future__ import annotations

from .bug import Bug

__all__ = ["LAYERS"]

_GRID = "elementwise.Grid"
_FOLD = "folding.fold_bias(np.linspace(-2, 2, 17), 0.5, 3.0, 0.5, 0.25)"

LAYERS = (
    Bug(
        "saturates-at-16-bits",
        "keeps sums in 16 bits",
        "u8 times s8 with maddubs adds two products in 16 bits and saturates: 255 * 127 twice "
        "gave 32767 instead of 64770.",
        "https://github.com/uxlfoundation/oneDNN/issues/518",
        "linear.linear_accumulator",
        "return exact_matmul(centred_x, centred_weight.T)",
        "return np.clip(exact_matmul(centred_x, centred_weight.T), -(2**15), 2**15 - 1)",
        "linear.linear_accumulator(np.arange(0, 256, 8)[:, None].repeat(2, 1), 0, "
        "np.int8([[127, 127]]), 0)",
        "tests/formulas/test_accumulators.py::test_eq_linear_accumulator__products",
    ),
    Bug(
        "weight-zero-point-ignored",
        "does not subtract the zero point of the weight",
        "A compiler computed MatMulInteger as A times B. All outputs were wrong, and positive.",
        "https://github.com/iree-org/iree/issues/24583",
        "linear.linear_accumulator",
        "astype(np.int64) - zero_points",
        "astype(np.int64)",
        "linear.linear_accumulator(np.arange(32)[:, None], 0, np.int8([[5]]), 3)",
        "tests/formulas/test_accumulators.py::test_eq_linear_accumulator__products",
    ),
    Bug(
        "zero-point-added",
        "adds the zero point of the input",
        "The offset of a matrix product is added in this library. Who passed a zero point as it "
        "was, not negated, got sums that overflowed every output.",
        "https://github.com/ARM-software/ComputeLibrary/issues/1033",
        "linear.linear_accumulator",
        "astype(np.int64) - np.int64(x_zero_point)",
        "astype(np.int64) + np.int64(x_zero_point)",
        "linear.linear_accumulator(np.arange(32)[:, None], 10, np.int8([[5]]), 0)",
        "tests/formulas/test_accumulators.py::test_eq_linear_accumulator__products",
    ),
    Bug(
        "bias-in-the-wrong-unit",
        "counts the bias in units without the scale of the input",
        "The bias was quantized by another product of scales than input times weight, because "
        "the input's scale was not known when the model was converted.",
        "https://github.com/pytorch/pytorch/issues/23874",
        "requantize.bias_as_integer",
        "unit = np.float64(input_scale) * np.asarray(weight_scales, dtype=np.float64)",
        "unit = np.asarray(weight_scales, dtype=np.float64)",
        "requantize.bias_as_integer(np.linspace(-2, 2, 33), 0.5, 0.25)",
        "tests/formulas/test_requantize.py::test_eq_requantize_bias__engines",
    ),
    Bug(
        "folded-bias-not-scaled",
        "adds the bias of the layer without scaling it",
        "The tool that folds normalizations added its own bias to the layer's as it was. Most "
        "layers before a normalization have none, so that it stayed unseen for long.",
        "https://github.com/Tencent/ncnn/issues/1339",
        "folding.fold_bias",
        "centred = np.asarray(bias) - np.asarray(running_mean)",
        "centred = np.asarray(bias) / np.asarray(inverse) / np.asarray(gamma) "
        "- np.asarray(running_mean)",
        _FOLD,
        "tests/formulas/test_layers.py::test_eq_fold_weight__groups",
    ),
    Bug(
        "folded-mean-added",
        "folds the mean with the wrong sign",
        "A rule for fusing lost the term beta - gamma * mean / deviation. Here it comes back with "
        "the sign of the mean turned, the slip that is made most easily.",
        "https://github.com/jiazhihao/TASO/pull/47",
        "folding.fold_bias",
        "np.asarray(bias) - np.asarray(running_mean)",
        "np.asarray(bias) + np.asarray(running_mean)",
        _FOLD,
        "tests/formulas/test_layers.py::test_eq_fold_weight__groups",
    ),
    Bug(
        "eps-by-default",
        "takes the usual eps instead of the layer's own",
        "A pass that folds normalizations used 1e-5 whatever the layer said.",
        "https://github.com/PaddlePaddle/Paddle-Lite/pull/9861",
        "folding.inverse_deviation",
        "running_var.dtype.type(eps)",
        "running_var.dtype.type(1e-5)",
        "folding.inverse_deviation(np.linspace(0.01, 1, 30), 0.1)",
        "tests/formulas/test_layers.py::test_eq_fold_weight__groups",
    ),
    Bug(
        "transposed-weight-folded-along-axis-0",
        "scales the inputs of a transposed convolution",
        "Its weight is stored as (inputs, outputs, ...). Folding multiplied axis 0, as for an "
        "ordinary convolution, and gave other results without an error.",
        "https://github.com/ultralytics/ultralytics/pull/25364",
        "folding.fold_weight",
        "grouped * factor.reshape(groups, 1, columns, *(1,) * len(taps))",
        "grouped * np.resize(factor, rows).reshape(groups, -1, 1, *(1,) * len(taps))",
        "folding.fold_weight(np.ones((3, 3)), [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], 1)",
        "tests/formulas/test_layers.py::test_eq_fold_weight__channels",
    ),
    Bug(
        "pads-with-zero",
        "pads with the integer 0 instead of the zero point",
        "The edge of a quantized image was padded with 0, which stands for the real number "
        "-scale * zero_point. Only outputs at the edge were wrong. (This function gets "
        "centred integers: under a zero point of 10 the integer 0 is -10 here.)",
        "https://github.com/apache/tvm/pull/4807",
        "convolution.conv_accumulator",
        "*((p, p) for p in padding)])",
        "*((p, p) for p in padding)], constant_values=-10)",
        "convolution.conv_accumulator(np.arange(1, 33)[None, None], np.ones((1, 1, 3), int), [1], "
        "[1], [1], 1)",
        "tests/formulas/test_edges.py::test_eq_conv_accumulator__padding_adds_nothing",
    ),
    Bug(
        "transposed-layout-not-flipped",
        "does not turn the kernel of a transposed convolution round",
        "The first quantized transposed convolutions took the dimensions of their weight in the "
        "order of ordinary ones; the review doubted it.",
        "https://github.com/pytorch/pytorch/pull/40371",
        "convolution.transpose_weight",
        "np.flip(weight, axis=tuple(range(2, weight.ndim)))",
        "np.asarray(weight)",
        "convolution.transpose_weight(np.arange(12).reshape(1, 2, 6), 1)",
        "tests/formulas/test_edges.py::test_eq_conv_transpose_accumulator__weight_turned_round",
    ),
    Bug(
        "pool-count",
        "divides by what lies inside the image although padding counts",
        "The quantized average pool divided by a wrong number where count_include_pad was set; "
        "its test had the same mistake, and agreed.",
        "https://github.com/pytorch/pytorch/pull/28260",
        "pooling.averaged_windows",
        "if count_include_pad:",
        "if not count_include_pad:",
        "pooling.avg_pool(np.uint8([[[40] * 12]]), 0, [3], [1], [1])",
        "tests/formulas/test_pooling.py::test_eq_quantized_avg_pool__loops",
    ),
    Bug(
        "pool-window-in-the-padding",
        "keeps a last window that lies in the padding alone",
        "With ceil_mode the number of windows is rounded up. A window that would begin behind "
        "the image must be dropped, or its maximum is minus infinity.",
        "https://github.com/tracel-ai/burn/issues/5791",
        "pooling.pooled_size",
        "count -= 1",
        "count -= 0",
        "[pooling.pooled_size(size, 2, 2, 1, ceil_mode=True) for size in range(2, 20)]",
        "tests/formulas/test_pooling.py::test_eq_pooled_size__counted",
    ),
    Bug(
        "relu6-at-the-integer-6",
        "clamps at the integer 6 instead of the integer that stands for 6.0",
        "A kernel for microcontrollers compared int8 data with 6, whatever their scale was.",
        "https://github.com/ARM-software/CMSIS_5/issues/1236",
        "elementwise.relu6",
        "return clamp(relu(q, grid.zero_point), grid, None, 6.0)",
        "return np.minimum(relu(q, grid.zero_point), 6)",
        f"elementwise.relu6(np.arange(0, 256, 4, dtype=np.uint8), {_GRID}(0.1, 20))",
        "tests/formulas/test_elementwise.py::test_eq_quantized_relu6__bounds",
    ),
    Bug(
        "concatenates-integers",
        "concatenates integers of different grids as they are",
        "torch.cat took scale and zero point of the first tensor for the result, and copied the "
        "integers of the others.",
        "https://github.com/pytorch/pytorch/issues/46604",
        "elementwise.cat",
        "if (grid.scale, grid.zero_point) != (out.scale, out.zero_point):",
        "if False:",
        "elementwise.cat([np.arange(0, 64, 4, dtype=np.uint8)] * 2, "
        f"[{_GRID}(0.1, 0), {_GRID}(0.2, 10)], 0, {_GRID}(0.1, 0))",
        "tests/formulas/test_elementwise.py::test_eq_quantized_cat__requantizes",
    ),
    Bug(
        "output-on-the-grid-of-the-input",
        "gives the result of sigmoid on the grid of its input",
        "A front end took scale and zero point of the input for the output of sigmoid. Most of "
        "the 256 integers were never used.",
        "https://github.com/apache/tvm/pull/12624",
        "activation.pointwise",
        "np.float32), out)",
        "np.float32), grid)",
        "activation.pointwise(activation.sigmoid, np.arange(0, 256, 4, dtype=np.uint8), "
        f"{_GRID}(0.05, 128), {_GRID}(1 / 256, 0))",
        "tests/formulas/test_activation.py::test_eq_quantized_pointwise__bytes",
    ),
)
