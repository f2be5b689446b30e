"""Conclusions from the numbers of one run, in sentences. None is known before the run."""

from __future__ import annotations

from itertools import pairwise, takewhile

import numpy as np

from .findings import Findings, Row

__all__ = [
    "about_bits",
    "about_channels",
    "about_layers",
    "about_logits",
    "about_ranges",
    "about_readings",
    "about_table",
]


def about_table(findings: Findings) -> str:
    """Tell which static variant is best, its cost, and whether training with rounding helps."""
    reference = findings.row("CNN", "float")
    static = [row for row in findings.rows if row.method == "static"]
    best = max(static, key=lambda row: row.sqnr or 0)
    worst = min(static, key=lambda row: row.sqnr or 0)
    qat = findings.row("CNN", "qat")
    peer = findings.row("CNN", "static", engine="fbgemm", weights="per channel")
    return (
        f"Of the static variants, {way(best)} comes closest to float32 ({best.sqnr:.1f} dB) and "
        f"{way(worst)} stays farthest ({worst.sqnr:.1f} dB). The closest classifies "
        f"{best.quantized_accuracy:.1f} % of the test images correctly, where float32 has "
        f"{reference.float_accuracy:.1f} %, in {share(best, reference)} of the bytes. "
        f"Quantization-aware training ends at {qat.quantized_accuracy:.1f} %, "
        f"{compared(qat.quantized_accuracy, peer.quantized_accuracy)} the "
        f"{peer.quantized_accuracy:.1f} % of static quantization with the same engine and "
        f"per-channel weights."
    )


def about_ranges(findings: Findings) -> str:
    """Tell how much narrower the histogram observer chose, and how much it clips."""
    narrowest, ratio, clipped = "", 2.0, 0.0
    for layer, (values, chosen) in findings.ranges.items():
        widths = {name: high - low for name, (low, high) in chosen.items()}
        if widths["Histogram"] / widths["MinMax"] < ratio:
            narrowest, ratio = layer, widths["Histogram"] / widths["MinMax"]
            low, high = chosen["Histogram"]
            clipped = 100 * float(np.mean((values < low) | (values > high)))
    if ratio > 0.98:
        return (
            "Here the histogram observer found nothing worth clipping: its ranges are as wide as "
            "those of MinMax, and the steps between two integers as large."
        )
    return (
        f"The histogram observer cuts most at <code>{narrowest}</code>: its range is "
        f"{100 * ratio:.0f} % as wide as that of MinMax. It clips {clipped:.2g} % of the values "
        f"there, and the step between two integers shrinks by {100 * (1 - ratio):.0f} % "
        f"for all others."
    )


def about_layers(findings: Findings) -> str:
    """Tell where most is lost, and where some of it is regained."""
    best = max(findings.layer_errors, key=lambda name: last(findings.layer_errors[name]))
    ratios = findings.layer_errors[best]
    drops = {b: ratios[a] - ratios[b] for a, b in pairwise(ratios)}
    steepest = max(drops, key=lambda layer: drops[layer])
    regained = [f"<code>{layer}</code>" for layer, drop in drops.items() if drop < -0.5]
    gain = last(ratios) - min(last(each) for each in findings.layer_errors.values())
    return (
        f"With {best}, the largest loss, {drops[steepest]:.1f} dB, is at <code>{steepest}</code>"
        + (f"; at {', '.join(regained)} the ratio rises again" if regained else "")
        + f". The logits keep {last(ratios):.1f} dB, {gain:.1f} dB more than those of the worst "
        "variant shown."
    )


def about_logits(findings: Findings) -> str:
    """Compare the errors of the logits with the logits' own differences."""
    spread = {
        name: float(np.sqrt(np.mean(each**2))) for name, each in findings.logit_errors.items()
    }
    bias = {name: float(np.mean(each)) for name, each in findings.logit_errors.items()}
    best = min(spread, key=lambda name: spread[name])
    worst = max(spread, key=lambda name: spread[name])
    if spread[best] == 0:
        return "The quantized logits equal the float ones."
    centred = abs(bias[best]) < 0.3 * spread[best]
    return (
        f"{best} has the narrowest errors (rms {spread[best]:.3f}), {worst} the widest "
        f"(rms {spread[worst]:.3f}), {spread[worst] / spread[best]:.1f} times as wide. "
        + (
            "They are centred on zero: what is lost is precision, the result is not shifted."
            if centred
            else f"Their mean, {bias[best]:+.3f}, is not zero: quantization also shifts the result."
        )
    )


def about_channels(findings: Findings) -> str:
    """Tell how many channels gain from scales of their own."""
    tensor, channel = (findings.channel_errors[key] for key in ("per tensor", "per channel"))
    ratio = float(np.median(tensor) / np.median(channel))
    gain = int(np.sum(channel < tensor))
    return (
        f"With its own scale, {gain} of {len(channel)} channels have a smaller error; the median "
        f"goes from {np.median(tensor):.2f} % to {np.median(channel):.2f} % ({ratio:.1f} times "
        f"less), the worst channel from {tensor.max():.2f} % to {channel.max():.2f} %."
    )


def about_bits(findings: Findings) -> str:
    """Tell from which width on nothing is lost, where it breaks down, what training regains."""
    reference = findings.row("CNN", "fused").float_accuracy or 0.0
    plain = {name: findings.bits[name] for name in ("per tensor", "per channel")}
    parts = []
    for name, found in plain.items():
        enough = widths_above(found, reference - 1)
        parts.append(
            f"{name} stays within one point of float32 down to {enough[-1]} bits"
            if enough
            else f"{name} is more than one point below float32 at every width"
        )
    narrow = min(plain["per channel"])
    rest = ", ".join(f"{found[narrow]:.0f} % {name}" for name, found in plain.items())
    text = (
        f"Without training, {'; '.join(parts)}. At {narrow} bits {rest} are left, where guessing "
        "would give 10 %."
    )
    for name in findings.bits.keys() - plain.keys():
        trained = findings.bits[name]
        gains = ", ".join(
            f"{bits} bits from {plain['per channel'][bits]:.0f} % to {trained[bits]:.0f} %"
            for bits in sorted(trained)
        )
        text += f" Training on with the rounding takes {gains}."
    return text


def about_readings(findings: Findings) -> str:
    """Tell how often the models disagree, and whether the network is unsure there."""
    readings = findings.readings
    wrong = [each for each in readings if each.rounded != each.label]
    both = [each for each in wrong if each.exact == each.rounded]
    changed = [place for place, each in enumerate(readings, 1) if each.exact != each.rounded]
    text = (
        f"The int8 network misreads {len(wrong)} of {len(readings)} test images, {len(both)} of "
        "them as float32 does. "
    )
    if not changed:
        return text + "Rounding changes no answer at all."
    if len(changed) == 1:
        return text + f"Rounding changes one answer, number {changed[0]} of the closest calls."
    return text + (
        f"Rounding changes {len(changed)} answers, all of them among the "
        f"{changed[-1]} closest calls."
    )


def widths_above(found: dict[int, float], accuracy: float) -> list[int]:
    """Widths from the largest down, as long as all of them reach ``accuracy``."""
    return list(takewhile(lambda bits: found[bits] >= accuracy, sorted(found, reverse=True)))


def way(row: Row) -> str:
    """A static variant in words."""
    return f"{row.engine} {row.weights} with {row.observer}"


def share(row: Row, reference: Row) -> str:
    """Bytes of one row in percent of those of another."""
    return f"{100 * row.weight_bytes / reference.weight_bytes:.0f} %"


def compared(value: float | None, other: float | None) -> str:
    """Compare the first accuracy with the second, in words."""
    difference = (value or 0.0) - (other or 0.0)
    if abs(difference) < 0.005:
        return "equal to"
    return f"{abs(difference):.2f} points {'above' if difference > 0 else 'below'}"


def last(ratios: dict[str, float]) -> float:
    """The ratio of the last layer."""
    return list(ratios.values())[-1]
