"""Plans of a course: twelve weeks, or six with two of them in each."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PLANS", "Week"]


@dataclass(frozen=True)
class Week:
    """A week of a plan.

    Attributes
    ----------
    title
        What it is about.
    goals
        What students can do afterwards.
    needs
        What they know before.
    hours
        Of lecture and laboratory, and of work at home.
    reading
        Pages of the documentation, such as ``"theory/rounding"``.
    tutorials
        Names of tutorials, such as ``"plot_13_bits"``.
    exercises
        Names of exercises.
    formula
        The formula of the week, in the notation of matplotlib.
    bugs
        Bugs of the museum that belong here.
    question
        For a discussion.
    project
        Work on a part of a project.

    Examples
    --------
    >>> PLANS[12][0].exercises
    ('quantize',)
    """

    title: str
    goals: tuple[str, ...]
    needs: str
    hours: tuple[int, int]
    reading: tuple[str, ...]
    tutorials: tuple[str, ...]
    exercises: tuple[str, ...]
    formula: str
    bugs: tuple[str, ...]
    question: str
    project: str


TWELVE = (
    Week(
        "Integers and rounding",
        ("say why integers are faster", "round with ties to even, and say where others differ"),
        "Python, NumPy, binary numbers",
        (3, 4),
        ("theory/why_integers", "theory/rounding"),
        ("plot_01_affine_and_ties",),
        ("quantize",),
        r"$q = \mathrm{clamp}(\mathrm{round}(x / s + z),\; q_{min},\; q_{max})$",
        ("half-away", "truncates", "wraps"),
        "Who notices if a library rounds ties the other way, and after how long?",
        "Choose a small network and a data set; note its accuracy in float.",
    ),
    Week(
        "Scale and zero point",
        ("compute scale and zero point of a range", "bound the error of rounding"),
        "week 1",
        (3, 4),
        ("theory/affine", "theory/quantization_error", "theory/qparams"),
        ("plot_13_bits",),
        ("dequantize", "affine_qparams", "symmetric_scale"),
        r"$s = (x_{max} - x_{min}) / (q_{max} - q_{min})$",
        ("range-without-zero", "zero-point-truncated", "half-range-rounded"),
        "Why must the real number 0 be an integer exactly?",
        "Plot the ranges of the weights of your network.",
    ),
    Week(
        "Observers",
        ("choose a range from data", "say what an outlier costs"),
        "week 2, histograms",
        (3, 4),
        ("theory/statistics", "theory/histogram"),
        ("plot_02_choosing_a_range",),
        ("min_max_observer", "moving_average_observer"),
        r"$x_{max}' = x_{max} + c\,(\max X - x_{max})$",
        ("average-from-zero", "average-holds-zero", "stale-range"),
        "How many batches are enough to calibrate a network?",
        "Compare two observers on the activations of your network.",
    ),
    Week(
        "A scale for each channel",
        ("quantize weights per channel", "find the axis of the channels"),
        "week 2",
        (3, 4),
        ("theory/per_channel",),
        ("plot_03_per_channel",),
        ("quantize_per_channel",),
        r"$q_c = \mathrm{clamp}(\mathrm{round}(x_c / s_c + z_c))$",
        ("axis-0-always",),
        "Why are activations not quantized per channel?",
        "Find the channel of your network that gains most.",
    ),
    Week(
        "Exact sums",
        ("count the bits of a sum", "say where 16 bits saturate"),
        "matrix products",
        (3, 5),
        ("theory/sums",),
        ("plot_04_accumulators", "plot_05_reduce_range"),
        ("accumulate",),
        r"$a = \sum_k (x_k - z_x)(w_k - z_w)$",
        ("saturates-at-16-bits", "weight-zero-point-ignored", "reduce-range-forgotten"),
        "Is it the processor's fault or the software's if a sum saturates?",
        "Compute how many bits the sums of your layers need.",
    ),
    Week(
        "From sums to the next layer",
        ("turn accumulators into the integers of the output", "say how engines differ"),
        "weeks 2 and 5",
        (3, 4),
        ("theory/requantization",),
        ("plot_15_engines",),
        ("requantize",),
        r"$q = \mathrm{clamp}(\mathrm{round}(a\, s_x s_w / s_y) + z_y)$",
        ("narrows-before-the-zero-point", "bias-in-the-wrong-unit"),
        "Two engines differ by one in a thousand outputs: which one is right?",
        "Compute one output of a layer of your network by hand.",
    ),
    Week(
        "Folding and fusing",
        ("fold a normalization into a layer", "say which modules fuse"),
        "batch normalization",
        (3, 4),
        ("theory/folding",),
        ("plot_09_conv_bn_folding",),
        ("fold_batch_norm", "fuse"),
        r"$w' = w\,\gamma / \sqrt{\sigma^2 + \varepsilon}$",
        ("folded-bias-not-scaled", "folded-mean-added", "eps-by-default"),
        "Why did the bug of the unscaled bias stay unseen for years?",
        "Fuse your network, and check that it computes the same.",
    ),
    Week(
        "A whole network",
        ("quantize a network statically", "find the layer that hurts"),
        "weeks 1 to 7",
        (3, 6),
        ("theory/elementwise", "theory/activations", "theory/pooling"),
        ("plot_06_static_quantization", "plot_07_which_layer_hurts"),
        ("quantized_add", "spare_layers"),
        r"$q = \mathrm{clamp}(\mathrm{round}((a + b) / s) + z)$",
        ("pads-with-zero", "pool-count", "relu6-at-the-integer-6", "concatenates-integers"),
        "Which layers would you leave in float, and how would you defend it?",
        "Quantize your network; rank its layers by the noise they make.",
    ),
    Week(
        "Training with the grid in sight",
        ("write fake quantization and its gradient", "say when training pays"),
        "backpropagation",
        (3, 5),
        ("theory/fake_quantization",),
        ("plot_08_qat",),
        ("fake_quantize",),
        r"$\partial y / \partial x = [\,q_{min} \leq v \leq q_{max}\,]$",
        ("zero-point-outside", "truncates-a-learned-zero-point"),
        "The gradient is wrong by definition: why does training still work?",
        "Train your network for a few epochs with fake quantization.",
    ),
    Week(
        "Ranges chosen while running",
        ("write a dynamic linear layer", "choose between static and dynamic"),
        "weeks 2 and 5",
        (3, 5),
        ("theory/dynamic",),
        ("plot_10_dynamic_lstm", "plot_11_minilm"),
        ("linear_dynamic",),
        r"$y = (s_x s_w)\, a + b$",
        ("four-bits-swapped",),
        "Which batch is too large for dynamic quantization?",
        "Quantize a layer of your network dynamically; compare time and error.",
    ),
    Week(
        "Graphs and back ends",
        ("match patterns in a graph", "describe a back end"),
        "graphs",
        (3, 5),
        ("theory/graph_mode",),
        ("plot_12_custom_backend",),
        ("match_patterns",),
        r"$\mathrm{conv} \rightarrow \mathrm{bn} \rightarrow \mathrm{relu}$",
        ("output-on-the-grid-of-the-input",),
        "Who should know what fuses: the model, the tool or the processor?",
        "Describe a back end that your network needs.",
    ),
    Week(
        "Kernels and the limit of the machine",
        ("pack weights for a kernel", "predict the time of a layer"),
        "memory and caches",
        (3, 5),
        ("design/kernels",),
        ("plot_14_kernels",),
        ("pack_weight", "roofline"),
        r"$t \geq \max(2 m k n / P,\; (m k + k n + m n) / B)$",
        ("transposed-layout-not-flipped",),
        "Your layer reaches a tenth of the peak: what do you look at first?",
        "Measure your network; present accuracy, size and time.",
    ),
)


def _joined(one: Week, other: Week) -> Week:
    """Two weeks in one: everything is done, the project in larger steps."""
    return Week(
        f"{one.title}; {other.title[0].lower()}{other.title[1:]}",
        one.goals + other.goals,
        re.sub(r"weeks? \d+( (and|to) \d+)?", "the weeks before", one.needs),
        (one.hours[0] + 1, one.hours[1] + other.hours[1] - 2),
        one.reading + other.reading,
        one.tutorials + other.tutorials,
        one.exercises + other.exercises,
        one.formula,
        one.bugs + other.bugs,
        other.question,
        f"{one.project} {other.project}",
    )


PLANS: dict[int, tuple[Week, ...]] = {
    6: tuple(_joined(*TWELVE[place : place + 2]) for place in range(0, 12, 2)),
    12: TWELVE,
}
