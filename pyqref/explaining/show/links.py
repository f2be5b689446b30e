"""Links to the equation of a step in the documentation."""

from __future__ import annotations

import os

from ...tensor.html import Markup, element, faint

__all__ = ["ENVIRONMENT_VARIABLE", "label_link", "link"]

#: Address of the documentation, or a folder that it was built into.
ENVIRONMENT_VARIABLE = "PYQREF_DOCS"

#: Pages of the theory, and the labels of derivations that each displays.
_PAGES = {
    "activations": """
        elu hardsigmoid hardswish leaky-relu logistic quantized-prelu softmax tanh
        threshold
    """,
    "affine": """
        affine-dequantize affine-quantize reciprocal
    """,
    "arithmetics": """
        bias-half-away dynamic-onednn fixed-point-multiplier multiply-rounded-once
        multiply-rounded-twice onnx-add onnx-average onnx-dynamic onnx-global-average
        onnx-mul real-operation real-result requantize-double requantize-onednn
        requantize-onnx requantize-qdq requantize-tensorrt saturating-pairs tflite-add
        tflite-average tflite-mul tflite-quantize tflite-rescale xnnpack-add xnnpack-mul
        xnnpack-rescale
    """,
    "dynamic": """
        conv-dynamic dynamic-input dynamic-output gru-step linear-dynamic lstm-step rnn-step
    """,
    "elementwise": """
        add-fixed-point add-scalar dequantize-fused mul-scalar quantize-after
        quantized-add quantized-clamp quantized-matmul quantized-mul quantized-relu
        quantized-relu6
    """,
    "embedding": """
        embedding-bag embedding-lookup
    """,
    "exponential": """
        float-softmax piecewise sigmoid
    """,
    "fake_quantization": """
        fake-quantize fake-quantize-channel fake-quantize-mask learnable-zero-point
    """,
    "histogram": """
        histogram-merge histogram-search
    """,
    "normalization": """
        batch-norm-coefficients quantized-batch-norm quantized-group-norm
        quantized-layer-norm quantized-moments quantized-standardize
    """,
    "per_channel": """
        affine-dequantize-channel affine-quantize-channel
    """,
    "pooling": """
        quantized-adaptive-avg-pool quantized-avg-pool quantized-bilinear
        quantized-max-pool quantized-mean
    """,
    "qparams": """
        affine-qparams choose-qparams choose-qparams-dynamic float-qparams symmetric-range
        symmetric-scale symmetric-zero-point
    """,
    "quantization_error": """
        clipping-error ledger rounding-error-bound
    """,
    "requantization": """
        accumulator-scale bias-integer multiplier-fbgemm multiplier-qnnpack requantize
        requantize-bias requantize-function
    """,
    "rounding": """
        fma round-half-even round-shift-right saturate
    """,
    "statistics": """
        average-range fused-average fused-observe running-range
    """,
    "sums": """
        conv-accumulator conv-transpose-accumulator linear-accumulator
    """,
}
_PAGE_OF = {f"eq-{label}": page for page, labels in _PAGES.items() for label in labels.split()}


def link(label: str) -> str:
    """Page and anchor of an equation below the root of the documentation; empty if unknown.

    Examples
    --------
    >>> link("eq-requantize")
    'theory/requantization.html#equation-eq-requantize'
    """
    page = _PAGE_OF.get(label)
    return f"theory/{page}.html#equation-{label}" if page else ""


def label_link(label: str) -> Markup:
    """A label as a link to its equation.

    Where no documentation is named, the label says in which of its pages the equation stands.
    """
    where, root = link(label), os.environ.get(ENVIRONMENT_VARIABLE, "").rstrip("/")
    if not where:
        return faint(label)
    if not root:
        page = where.partition(".html")[0]
        return element("span", label, title=f"docs/{page}.rst", style="opacity:0.65")
    return element("a", label, href=f"{root}/{where}", style="color:inherit;opacity:0.8")
