"""Descriptions of the variants, in a few sentences for the report."""

from __future__ import annotations

__all__ = ["COLUMNS", "VARIANTS"]

VARIANTS = [
    (
        "CNN float32",
        (
            "The network as it was trained: two conv-bn-relu, max pooling, a residual block, "
            "global average pooling, a linear layer. All arithmetic in 32-bit floating point."
        ),
    ),
    (
        "CNN fused",
        (
            "<code>fuse_modules</code> has folded every batch norm into the convolution before it. "
            "The function is the same up to rounding; there is less to compute and to store. This "
            "is the model that static quantization starts from, and the one to compare speed with."
        ),
    ),
    (
        "CNN static",
        (
            "<code>prepare</code> inserts observers, 256 training images calibrate them, "
            "<code>convert</code> replaces each layer by an integer one. Weights and activations "
            "are 8-bit integers; products are summed exactly in 32 bits and then requantized."
        ),
    ),
    (
        "per tensor, per channel",
        (
            "One scale for a whole weight, or one for each output channel. Channels with small "
            "weights gain from a scale of their own; it costs a few bytes a channel."
        ),
    ),
    (
        "MinMax, Histogram",
        (
            "How the range of an activation is chosen: everything that was seen, or the range that "
            "minimises the expected squared error, which may clip rare large values to resolve the "
            "others better."
        ),
    ),
    (
        "fbgemm, qnnpack",
        (
            "Two sets of rules for the last bit. fbgemm keeps the bias in floating point, and by "
            "default its observers leave one bit of the activations unused; qnnpack rounds the "
            "bias to an integer and uses all eight bits."
        ),
    ),
    (
        "CNN QAT",
        (
            "Quantization-aware training: <code>prepare_qat</code> puts fake quantization into the "
            "forward pass, the batch norms folded at every step, and the float model is trained on "
            "for as many epochs again. The gradient passes straight through the rounding."
        ),
    ),
    (
        "LSTM dynamic",
        (
            "<code>quantize_dynamic</code> stores the weights of an LSTM that reads the image row "
            "by row as integers (or as float16). Ranges of activations are measured afresh "
            "whenever the model runs, so that no calibration is needed. The state dict holds "
            "float16 weights as float32 numbers, rounded, as that of torch does."
        ),
    ),
]
"""Name and explanation, as HTML."""

COLUMNS = [
    (
        "float, fake, int8",
        (
            "Test accuracy of the same weights without rounding, with fake quantization where the "
            "variant has it, and as converted."
        ),
    ),
    (
        "weights",
        (
            "Bytes of everything in the state dict: weights, biases, batch norm statistics, scales "
            "and zero points."
        ),
    ),
    (
        "batch 1, batch 64",
        (
            "Median time of one call divided by the number of images in it. Layers run on the "
            "threads of the kernels; what is left to NumPy's BLAS runs on one thread. At batch 1 "
            "most of the time is Python's."
        ),
    ),
    (
        "SQNR",
        (
            "Signal to quantization noise ratio of the logits on the test images, "
            "10 log<sub>10</sub>(Σ r² / Σ (r − q)²), where r comes from the same weights in "
            "float32. 6 dB more means half the error."
        ),
    ),
]
"""Heading and explanation, as HTML."""
