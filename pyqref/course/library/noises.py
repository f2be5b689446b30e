"""Knowledge of the checker about the exercise on layers that are left in float."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["SPARE_LAYERS"]


def _total(ratios: object) -> float:
    return float(-10 * np.log10(np.sum(10 ** (-np.asarray(ratios) / 10))))


def draw_spare(random: np.random.Generator) -> tuple[Case, ...]:
    """Draw cases whose target lies between the results of two numbers of spared layers."""
    cases = []
    for number in range(7):
        count = int(random.integers(4, 9))
        least_ratio = 28 if number % 2 else 6
        ratios = [float(each) for each in random.uniform(least_ratio, 50, count).round(1)]
        spared = int(random.integers(0, count - 1)) if number else 0
        ranked = sorted(ratios)
        least, most = _total(ranked[spared:]), _total(ranked[spared + 1 :])
        before = _total(ranked[spared - 1 :]) if spared else least - 5
        part = float(random.choice([0.05, 0.5, 0.95]))
        wanted = before + part * (least - before)
        cases.append(Case(f"drawn: {count} layers", (ratios, wanted)))
        assert before < wanted < least < most
    return tuple(cases)


SPARE_LAYERS = Library(
    exercise="spare_layers",
    answer="""\
def spare_layers(ratios, wanted):
    order = list(np.argsort(ratios))
    for count in range(len(ratios)):
        noise = sum(10 ** (-ratios[k] / 10) for k in order[count:])
        if -10 * np.log10(noise) >= wanted:
            return order[:count]
    return order
""",
    changes=(
        change(
            "looks at each layer alone",
            "Noises add up: four layers of 41 dB leave only 35 dB together.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "10 ** (-ratios[order[count]] / 10)",
            ),
        ),
        change(
            "averages decibels",
            "A decibel is a logarithm: take 10 ** (-ratio / 10), add up, and go back.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "10 ** (-np.mean([ratios[k] for k in order[count:]]) / 10)",
            ),
        ),
        change(
            "averages the noises",
            "The noises of all the layers add up: take their sum, not their mean.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "np.mean([10 ** (-ratios[k] / 10) for k in order[count:]])",
            ),
        ),
        change(
            "adds amplitudes",
            "Of independent noises the powers add up, 10 ** (-ratio / 10), not the amplitudes.",
            ("/ 10) for k", "/ 20) for k"),
            ("-10 * np.log10", "-20 * np.log10"),
        ),
        change(
            "takes 20 for 10 in the decibels",
            "A ratio of powers in decibels is 10 log10, there and back.",
            ("-10 * np.log10", "-20 * np.log10"),
        ),
        change(
            "takes 20 for 10 in the decibels",
            "A ratio of powers in decibels is 10 log10, there and back.",
            ("/ 10) for k", "/ 20) for k"),
        ),
        change(
            "takes the natural logarithm",
            "A decibel is 10 times the logarithm to base 10: np.log10.",
            ("np.log10", "np.log"),
        ),
        change(
            "spares the best layers",
            "A small ratio is much noise: spare the smallest first.",
            ("np.argsort(ratios)", "np.argsort(ratios)[::-1]"),
        ),
        change(
            "spares the best layers",
            "A small ratio is much noise: spare the smallest first.",
            ("np.argsort(ratios)", "np.argsort([-each for each in ratios], kind='stable')"),
        ),
        change(
            "spares layers in the order of the network",
            "Spare those that make the most noise first, wherever they stand.",
            ("np.argsort(ratios)", "range(len(ratios))"),
        ),
        change(
            "spares a layer where none need be",
            "Add up all the noises first: it may be good enough as it is.",
            ("return order[:count]", "return order[:max(count, 1)]"),
        ),
        change(
            "spares one layer too many",
            "Stop as soon as the others suffice: as few as possible.",
            ("return order[:count]", "return order[:count + 1]"),
        ),
        change(
            "spares one layer too few",
            "The others must leave at least what is wanted.",
            ("return order[:count]", "return order[:max(count - 1, 0)]"),
        ),
        change(
            "gives the layers that stay quantized",
            "The layers to leave in float are asked for.",
            ("return order[:count]", "return order[count:]"),
        ),
        change(
            "gives the places in the sorted list",
            "The layers are asked for by their numbers in ratios, not in the sorted list.",
            ("    order =", "    ratios = sorted(ratios)\n    order ="),
        ),
        change(
            "wants more than what is asked",
            "At least `wanted` is enough: >=, not >.",
            (">= wanted", "> wanted"),
        ),
        change(
            "spares nothing where no rest is good enough",
            "With every layer in float there is no noise: then all of them are the answer.",
            ("    return order\n", "    return []\n"),
        ),
        change(
            "keeps one layer quantized always",
            "With every layer in float there is no noise: then all of them are the answer.",
            ("    return order\n", "    return order[:-1]\n"),
        ),
        change(
            "forgets the 10 of the decibels",
            "A decibel is a tenth of a bel: 10 ** (-ratio / 10), 10 * log10.",
            ("-ratios[k] / 10)", "-ratios[k])"),
        ),
        change(
            "forgets the 10 of the decibels",
            "A decibel is a tenth of a bel: 10 ** (-ratio / 10), 10 * log10.",
            ("-10 * np.log10", "-np.log10"),
        ),
        change(
            "takes a power of e for one of 10",
            "A decibel counts powers of 10.",
            ("10 ** (-ratios[k] / 10)", "np.exp(-ratios[k] / 10)"),
        ),
        change(
            "adds signals, not noises",
            "A large ratio is little noise: 10 ** (-ratio / 10), with the minus.",
            ("10 ** (-ratios[k] / 10)", "10 ** (ratios[k] / 10)"),
        ),
        change(
            "adds signals, not noises",
            "A large ratio is little noise: 10 ** (-ratio / 10), with the minus.",
            ("10 ** (-ratios[k] / 10)", "10 ** (ratios[k] / 10)"),
            ("-10 * np.log10", "10 * np.log10"),
        ),
        change(
            "adds decibels",
            "A decibel is a logarithm: take 10 ** (-ratio / 10), add up, and go back.",
            ("-10 * np.log10(noise)", "sum(ratios[k] for k in order[count:])"),
        ),
        change(
            "takes the root of the sum",
            "Powers add up; no root is taken.",
            ("np.log10(noise)", "np.log10(np.sqrt(noise))"),
        ),
        change(
            "averages decibels",
            "A decibel is a logarithm: take 10 ** (-ratio / 10), add up, and go back.",
            ("-10 * np.log10(noise)", "np.mean([ratios[k] for k in order[count:]])"),
        ),
        change(
            "adds up the layers that are spared",
            "The noise is that of the layers that stay quantized.",
            ("in order[count:]", "in order[: count + 1]"),
        ),
        change(
            "spares at most one layer",
            "Go on until the others suffice.",
            ("range(len(ratios))", "range(min(1, len(ratios)))"),
            ("    return order\n", "    return order[:1]\n"),
        ),
        change(
            "spares all that are worse than the mean",
            "Add up the noises of those that stay, and stop as soon as they suffice.",
            (
                "    order =",
                "    return [k for k, r in enumerate(ratios) if r < np.mean(ratios)]\n    order =",
            ),
        ),
        change(
            "looks at each layer alone, equal ones too",
            "Noises add up: four layers of 41 dB leave only 35 dB together.",
            (
                "    order =",
                "    return [k for k, r in enumerate(ratios) if r <= wanted]\n    order =",
            ),
        ),
        change(
            "gives the ratios instead of the numbers of the layers",
            "The layers are asked for by their numbers.",
            ("return order[:count]", "return [ratios[k] for k in order[:count]]"),
        ),
        change(
            "counts layers from 1",
            "The first layer has the number 0.",
            ("return order[:count]", "return [k + 1 for k in order[:count]]"),
        ),
        change(
            "spares nothing",
            "The others must leave what is wanted. Decibels that are added up always seem enough: "
            "add 10 ** (-ratio / 10).",
            ("return order[:count]", "return []"),
        ),
    ),
    draw=draw_spare,
    traits=(
        Trait("no layer need be spared", lambda r, wanted: _total(r) >= wanted),
        Trait("some layer must be spared", lambda r, wanted: _total(r) < wanted),
        Trait("every layer alone is good enough", lambda r, wanted: min(r) >= wanted),
        Trait("some layer alone is not good enough", lambda r, wanted: min(r) < wanted),
    ),
)
