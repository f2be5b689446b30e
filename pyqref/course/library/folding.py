"""Knowledge of the checker about the exercise on folding a batch normalization."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, rows

__all__ = ["FOLD_BATCH_NORM"]


def draw_fold(random: np.random.Generator) -> tuple[Case, ...]:
    """Every number in general position; as many inputs as outputs, and not."""
    cases = []
    for n, k in ((3, 2), (3, 3), (2, 4)):
        signs = random.choice([-1.0, 1.0], n)
        numbers = [random.uniform(0.5, 3, n) for _ in range(5)]
        weight = random.uniform(-2, 2, (n, k))
        bias, mean, var, gamma, beta = (each.astype(np.float32) for each in numbers)
        gamma = (gamma * signs).astype(np.float32)
        eps = float(random.choice([0.5, 0.1, 0.25]))
        arguments = (weight.astype(np.float32), bias, -mean, var, eps, gamma, beta)
        cases.append(Case(f"drawn: {n} outputs, {k} inputs, eps {eps}", arguments))
    return tuple(cases)


_FACTOR = "factor = gamma / np.sqrt(var + eps)"
_WEIGHT = "folded_weight = weight * factor[:, None]"
_BIAS = "folded_bias = (bias - mean) * factor + beta"
FOLD_BATCH_NORM = Library(
    exercise="fold_batch_norm",
    answer=f"""\
def fold_batch_norm(weight, bias, mean, var, eps, gamma, beta):
    {_FACTOR}
    {_WEIGHT}
    {_BIAS}
    return folded_weight, folded_bias
""",
    changes=(
        change("forgets eps", "The deviation is sqrt(var + eps).", ("var + eps", "var")),
        change(
            "adds eps outside of the root",
            "The deviation is sqrt(var + eps), not sqrt(var) + eps.",
            ("np.sqrt(var + eps)", "(np.sqrt(var) + eps)"),
        ),
        change(
            "subtracts eps", "The deviation is sqrt(var + eps).", ("var + eps", "abs(var - eps)")
        ),
        change(
            "divides by the variance",
            "Normalization divides by the standard deviation: take the root.",
            ("np.sqrt(var + eps)", "(var + eps)"),
        ),
        change(
            "multiplies by the deviation",
            "Normalization divides by the standard deviation.",
            ("gamma / np.sqrt", "gamma * np.sqrt"),
        ),
        change(
            "divides by gamma",
            "gamma multiplies.",
            (_FACTOR, "factor = 1 / np.sqrt(var + eps) / gamma"),
        ),
        change(
            "forgets the deviation",
            "Normalization divides by the standard deviation.",
            (_FACTOR, "factor = gamma"),
        ),
        change(
            "folds without the mean",
            "The mean is subtracted before scaling: it goes into the bias.",
            ("(bias - mean)", "bias"),
        ),
        change(
            "adds the mean",
            "Normalization subtracts the mean: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean)", "(bias + mean)"),
        ),
        change(
            "subtracts the bias from the mean",
            "Normalization subtracts the mean: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean)", "(mean - bias)"),
        ),
        change(
            "does not scale the mean",
            "Bias and mean are scaled together: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean) * factor", "bias * factor - mean"),
        ),
        change(
            "loses the bias of the layer",
            "The layer's own bias is normalized too.",
            ("(bias - mean)", "(0 - mean)"),
        ),
        change(
            "does not scale the bias of the layer",
            "The layer's own bias is normalized too: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean) * factor", "bias - mean * factor"),
        ),
        change(
            "does not scale bias and mean",
            "Bias and mean are scaled together: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean) * factor", "bias - mean"),
        ),
        change(
            "forgets beta", "The shift of the normalization goes into the bias.", (" + beta", "")
        ),
        change(
            "subtracts beta",
            "The shift of the normalization is added to the bias.",
            (" + beta", " - beta"),
        ),
        change(
            "scales beta",
            "beta is added last, as it is: (b - mean) * gamma / deviation + beta.",
            ("(bias - mean) * factor + beta", "(bias - mean + beta) * factor"),
        ),
        change(
            "forgets gamma",
            "The scale of the normalization multiplies weight and bias.",
            ("gamma / np.sqrt", "1 / np.sqrt"),
        ),
        change(
            "forgets gamma in the bias",
            "The scale of the normalization multiplies weight and bias.",
            ("(bias - mean) * factor", "(bias - mean) * factor / gamma"),
        ),
        change(
            "forgets gamma in the weight",
            "The scale of the normalization multiplies weight and bias.",
            ("weight * factor[:, None]", "weight * (factor / gamma)[:, None]"),
        ),
        change(
            "takes gamma twice in the weight",
            "gamma multiplies once.",
            ("weight * factor[:, None]", "weight * (factor * gamma)[:, None]"),
        ),
        change(
            "takes gamma twice in the bias",
            "gamma multiplies once.",
            ("(bias - mean) * factor", "(bias - mean) * factor * gamma"),
        ),
        change(
            "takes gamma twice",
            "gamma multiplies once.",
            (_FACTOR, "factor = gamma * gamma / np.sqrt(var + eps)"),
        ),
        change(
            "takes the variance for the deviation, without eps",
            "The deviation is sqrt(var + eps).",
            ("np.sqrt(var + eps)", "var"),
        ),
        change("squares eps", "The deviation is sqrt(var + eps).", ("var + eps", "var + eps**2")),
        change(
            "squares the variance",
            "var is the variance already: the deviation is sqrt(var + eps).",
            ("var + eps", "var**2 + eps"),
        ),
        change(
            "takes the root twice",
            "The deviation is sqrt(var + eps).",
            ("np.sqrt(var + eps)", "np.sqrt(np.sqrt(var + eps))"),
        ),
        change(
            "multiplies by gamma without dividing in the bias",
            "Bias and mean are scaled like the weight: by gamma / deviation.",
            ("(bias - mean) * factor", "(bias - mean) * gamma"),
        ),
        change(
            "multiplies by gamma without dividing in the weight",
            "The weight of each output is scaled by gamma / deviation.",
            ("weight * factor[:, None]", "weight * gamma[:, None]"),
        ),
        *rows(
            "(bias - mean) * factor + beta",
            (
                "loses the bias of the layer and adds the mean",
                "The bias is (b - mean) * gamma / deviation + beta.",
                "mean * factor + beta",
            ),
            (
                "subtracts the mean from beta, unscaled",
                "Bias and mean are scaled together: (b - mean) * gamma / deviation + beta.",
                "beta - mean",
            ),
            ("gives beta alone", "The bias is (b - mean) * gamma / deviation + beta.", "beta"),
            (
                "adds the mean after scaling",
                "The mean is subtracted, and scaled together with the bias.",
                "bias * factor + mean + beta",
            ),
            (
                "multiplies bias and beta",
                "beta is added last.",
                "(bias - mean) * factor * beta",
            ),
        ),
        change(
            "scales by gamma plus one",
            "gamma multiplies as it is.",
            ("gamma / np.sqrt", "(gamma + 1) / np.sqrt"),
        ),
        change(
            "takes the size of gamma",
            "gamma may be negative: it turns the sign of the weights.",
            ("gamma / np.sqrt", "np.abs(gamma) / np.sqrt"),
        ),
        change(
            "swaps gamma and beta",
            "gamma multiplies, beta is added.",
            ("factor = gamma", "factor = beta"),
            (" + beta", " + gamma"),
        ),
        change(
            "swaps mean and variance",
            "The order is mean, var.",
            ("var + eps", "abs(mean) + eps"),
            ("- mean", "- var"),
        ),
        change(
            "adds beta to the weight",
            "The shift goes into the bias alone.",
            ("weight * factor[:, None]", "weight * factor[:, None] + beta[:, None]"),
        ),
        change(
            "scales all outputs by the first factor",
            "Each output has a factor of its own.",
            (_FACTOR, "factor = (gamma / np.sqrt(var + eps))[:1] * np.ones(len(gamma))"),
        ),
        change(
            "does not scale the weight",
            "The normalization multiplies the weight of each output by gamma / deviation.",
            ("weight * factor[:, None]", "weight"),
        ),
        change(
            "does not fold the bias",
            "The bias becomes (b - mean) * gamma / deviation + beta.",
            ("(bias - mean) * factor + beta", "bias"),
        ),
        change(
            "scales the inputs instead of the outputs",
            "The channels of the normalization are the outputs: axis 0 of the weight.",
            ("factor[:, None]", "factor"),
        ),
        change(
            "returns the two the wrong way round",
            "The weight comes first, then the bias.",
            ("return folded_weight, folded_bias", "return folded_bias, folded_weight"),
        ),
    ),
    draw=draw_fold,
    traits=(
        Trait("N is not K", lambda w, *_: w.shape[0] != w.shape[1]),
        Trait("N is K", lambda w, *_: w.shape[0] == w.shape[1]),
        Trait("bias or mean is not 0", lambda w, b, m, *_: np.any(b) or np.any(m)),
        Trait("gamma is negative", lambda w, b, m, v, e, g, s: np.any(g < 0)),
    ),
)
