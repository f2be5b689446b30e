"""``search_mixed_precision``: the bits of each layer within a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite, prod
from os import PathLike
from typing import Any, get_args

from pyqref._typing import Module, Tensor
from pyqref.quantization.qconfig.base import QConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .building import mapping_of
from .choosing import Choice, all_choices, best_by_sum, cheapest, next_step
from .costs import Measure
from .measuring import Better, Measurer, Progress, direction_of
from .memory import Measured
from .results import MixedPrecision, Point
from .unit import Unit
from .widths import FLOAT, Width, widths_of

__all__ = ["search_mixed_precision"]

_ASKS = "search_mixed_precision"


def search_mixed_precision(
    model: Module,
    data: Tensor | Iterable[Any],
    metric: str | Callable[[Any, Any], Any],
    budget: Mapping[str, float],
    *,
    choices: Sequence[int | tuple[int, int]] = (8, 4, 2),
    better: Better | None = None,
    calibration: Tensor | Iterable[Any] | None = None,
    qconfig: QConfig | QConfigMapping | None = None,
    exhaustive: int = 64,
    whole_frontier: bool = False,
    checkpoint: str | PathLike[str] | None = None,
    progress: Progress = True,
) -> MixedPrecision:
    r"""Find the bits of each layer with which a model fits a budget and loses least.

    First, each layer alone is given each width, and the metric is measured: the ledger. From the
    widest choice for all layers, the search then takes the step that costs least for what it saves
    (``eq-price-of-saving``), measures the model, and goes on until the budget is kept. If there are
    few choices in all, those within the budget are measured, every one, and the best is exact.
    Otherwise the best one by the sum of the ledger (``eq-summed-damage``), found by branch and
    bound, is measured as well. The best of all models that were measured is the result.

    Parameters
    ----------
    model
        A float model in evaluation mode that graph mode can trace. It stays as it is.
    data
        What the metric is measured on: a tensor, or batches, each a tensor or a pair
        ``(inputs, targets)``.
    metric
        ``"sqnr"``, ``"accuracy"``, ``"loss"``, or a function of output and target that gives one
        number for a batch, as for :func:`pyqref.ledger`. Means are taken over samples; for a metric
        that is no mean, give all data as one batch.
    budget
        One of ``{"bits": b}``, the mean width of a weight (``eq-mean-weight-bits``);
        ``{"bytes": b}`` of all weights (``eq-weight-bytes``); ``{"bit_operations": b}`` of one
        input (``eq-bit-operations``). Weights are those of linear, convolution, embedding and
        recurrent layers; biases and norms have no choice.
    choices
        Widths: bits of the weights, 2 to 8, with activations of 8 bits; pairs of the bits of
        weights and activations; or 32 for float. Operations without weights have 8 bits, because
        only layers with weights can clip their output to fewer.
    better
        ``"higher"`` or ``"lower"`` values of the metric are; a function needs it.
    calibration
        What observers see; ``data`` if None.
    qconfig
        Observers for 8 bits, of which those for fewer are made; the usual ones of the engine if
        None.
    exhaustive
        The largest number of choices that are all measured.
    whole_frontier
        Goes on to the narrowest choice, so that the frontier has all costs.
    checkpoint
        Path of a file that keeps every measurement; called again, the search goes on from there,
        also with another budget.
    progress
        True shows the number of measurements on a terminal; a function is called with it.

    Returns
    -------
    MixedPrecision
        The bits, the mapping for ``prepare_fx``, the quantized model, and the frontier.

    Raises
    ------
    TypeError, ValueError
        An argument is of a wrong type or out of range, no choice keeps the budget, or the
        checkpoint belongs to something else.

    Notes
    -----
    Every number is an exact fraction, and ties are decided by the noise of the output, then by the
    order of the layers, so the result is the same on every machine. Narrow integers are computed
    with the kernels for 8 bits; ``"bytes"`` counts them as if they were packed.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    >>> found = search_mixed_precision(model, pyqref.rand(64, 8), "sqnr", {"bits": 6})
    >>> print(found)
    sqnr: inf dB in float, 26.94 dB with 5.33333 of 6 bits
    choices measured: 8 (every choice within the budget was measured)
      0  4/8
      2  8/8
    """
    measure, limit = _budget(budget)
    widths = widths_of(_ASKS, choices)
    if isinstance(exhaustive, bool) or not isinstance(exhaustive, int):
        raise TypeError(f"{_ASKS}: exhaustive must be an int, got {exhaustive!r}")
    direction = direction_of(_ASKS, metric, better)
    measurer = Measurer(_ASKS, model, data, calibration, metric, qconfig, checkpoint, progress)
    search = _Search(measurer, widths, measure, limit, direction)
    try:
        return search.run(exhaustive, whole_frontier)
    finally:
        measurer.report.end()


def _budget(given: Any) -> tuple[Measure, Fraction]:
    known = get_args(Measure)
    if not isinstance(given, Mapping) or len(given) != 1 or next(iter(given)) not in known:
        names = ", ".join(f"{{{each!r}: ...}}" for each in known)
        raise ValueError(f"{_ASKS}: budget must be one of {names}, got {given!r}")
    measure, limit = next(iter(given.items()))
    if isinstance(limit, bool) or not isinstance(limit, (int, float, Fraction)):
        raise TypeError(f"{_ASKS}: the budget of {measure} must be a number, got {limit!r}")
    if not isfinite(limit) or limit <= 0:
        raise ValueError(f"{_ASKS}: the budget of {measure} must be above 0, got {limit}")
    return measure, Fraction(limit)


class _Search:
    def __init__(
        self,
        measurer: Measurer,
        widths: list[Width],
        measure: Measure,
        limit: Fraction,
        direction: int,
    ) -> None:
        self.measurer, self.measure, self.limit = measurer, measure, limit
        self.direction = direction
        self.parts = [each for each in measurer.units.values() if not each.follows]
        self.options = [_options(each, widths) for each in self.parts]
        if not any(each.weights for each in self.parts):
            raise ValueError(f"{_ASKS}: the model has no layer with weights that can be quantized")
        self.measured: dict[Choice, Measured] = {}
        self.sensitivities: dict[tuple[str, Width], Fraction] = {}

    def bits(self, choice: Choice) -> dict[str, Width]:
        chosen = zip(self.parts, self.options, choice, strict=True)
        bits = {part.name: options[option] for part, options, option in chosen}
        return self.measurer.costs.effective(bits)

    def cost(self, choice: Choice) -> Fraction:
        return self.measurer.costs.of(self.measure, self.bits(choice))

    def measure_choice(self, choice: Choice) -> None:
        if choice not in self.measured:
            self.measured[choice] = self.measurer.whole(self.bits(choice))

    def run(self, exhaustive: int, whole_frontier: bool) -> MixedPrecision:
        base = self.measurer.whole({})
        narrowest = tuple(len(options) - 1 for options in self.options)
        if (least := self.cost(narrowest)) > self.limit:
            raise ValueError(
                f"{_ASKS}: the budget of {float(self.limit):g} {self.measure} cannot be kept: the "
                f"narrowest choice needs {float(least):g}; add narrower widths to choices, or give "
                "a larger budget"
            )
        damages = [
            self._damages(part, options, base)
            for part, options in zip(self.parts, self.options, strict=True)
        ]
        fitting = self._walk(damages, whole_frontier)
        count = prod(len(options) for options in self.options)
        if count <= exhaustive:
            for choice in all_choices(damages):
                if self.cost(choice) <= self.limit:
                    self.measure_choice(choice)
        else:
            self.measure_choice(best_by_sum(damages, self.cost, self.limit, fitting))
        return self._result(base, count <= exhaustive)

    def _damages(
        self, part: Unit, options: list[Width], base: Measured
    ) -> list[tuple[Fraction, Fraction]]:
        """Damage and noise of each width of one part alone; of a single one nobody asks."""
        found = []
        for width in options:
            if len(options) == 1:
                return [(Fraction(0), Fraction(0))]
            alone = self.measurer.single(part, width)
            self.sensitivities[part.name, width] = alone.value
            found.append((self.direction * (alone.value - base.value), alone.noise - base.noise))
        return found

    def _walk(self, damages: Any, whole_frontier: bool) -> Choice:
        """From the widest choice step by step; the first one that keeps the budget is returned."""
        choice: Choice | None = (0,) * len(self.parts)
        fitting = None
        while choice is not None:
            self.measure_choice(choice)
            if fitting is None and self.cost(choice) <= self.limit:
                fitting = choice
            if fitting is not None and not whole_frontier:
                break
            choice = next_step(damages, self.cost, choice)
        if fitting is None:  # steps that save nothing by themselves are needed
            fitting = cheapest(damages)
            self.measure_choice(fitting)
        return fitting

    def _result(self, base: Measured, is_exhaustive: bool) -> MixedPrecision:
        measurer = self.measurer
        within = [choice for choice in self.measured if self.cost(choice) <= self.limit]
        best = min(within, key=self._rank)
        bits = self.bits(best)
        return MixedPrecision(
            bits=bits,
            qconfig_mapping=mapping_of(measurer.units, bits),
            model=measurer.build(bits),
            measure=self.measure,
            budget=self.limit,
            cost=self.cost(best),
            value=self.measured[best].value,
            float_value=base.value,
            points=tuple(
                Point(self.cost(choice), each.value, self.bits(choice))
                for choice, each in self.measured.items()
            ),
            sensitivities=self.sensitivities,
            exhaustive=is_exhaustive,
            left_in_float=dict(measurer.left),
            _metric=measurer.metric,
            _direction=self.direction,
        )

    def _rank(self, choice: Choice) -> tuple[Fraction, Fraction, Fraction, Choice]:
        """The better a choice is, the smaller: value, noise, cost, order."""
        found = self.measured[choice]
        return self.direction * found.value, found.noise, self.cost(choice), choice


def _options(unit: Unit, widths: list[Width]) -> list[Width]:
    """The widths that a unit can have, the widest first."""
    if unit.weights:
        return widths if unit.kind == "static" else _of_weights(widths)
    return [Width(8, 8) if any(width != FLOAT for width in widths) else FLOAT]


def _of_weights(widths: list[Width]) -> list[Width]:
    """Each width of weights once, with activations of 8 bits."""
    found = [width if width == FLOAT else Width(width.weight, 8) for width in widths]
    return list(dict.fromkeys(found))
