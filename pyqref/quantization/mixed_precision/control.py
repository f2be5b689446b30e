"""``quantize_with_accuracy_control``: everything quantized, but what harms too much."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, isfinite
from os import PathLike
from typing import Any

from pyqref._typing import Module, Tensor
from pyqref.quantization.qconfig.base import QConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .building import mapping_of
from .choosing import irreducible
from .measuring import Better, Measurer, Progress, direction_of
from .memory import Measured
from .results import AccuracyControl
from .widths import FLOAT, Width

__all__ = ["quantize_with_accuracy_control"]

_ASKS = "quantize_with_accuracy_control"
_EIGHT = Width(8, 8)


def quantize_with_accuracy_control(
    model: Module,
    data: Tensor | Iterable[Any],
    metric: str | Callable[[Any, Any], Any],
    max_drop: float,
    *,
    better: Better | None = None,
    calibration: Tensor | Iterable[Any] | None = None,
    qconfig: QConfig | QConfigMapping | None = None,
    exhaustive: int = 64,
    checkpoint: str | PathLike[str] | None = None,
    progress: Progress = True,
) -> AccuracyControl:
    """Quantize a model, and put back to float what is needed to keep its accuracy.

    Everything that can be is quantized. If the metric drops by more than ``max_drop``, each layer
    and functional node is quantized alone and measured: the ledger. In its order, the most harmful
    first, one after the other is put back, until the bound is kept. Then those that turn out not to
    be needed are quantized again, until none of them alone can be quantized without breaking the
    bound. Where there are few smaller sets (``exhaustive``), they are measured, too, fewest first,
    and the number of parts put back is the smallest possible. Otherwise a smaller set of other
    parts may exist: measurements alone are no proof that there is none.

    The bound can always be kept, because with everything put back the result is the float model
    itself, whose drop is 0.

    Parameters
    ----------
    model
        A float model in evaluation mode that graph mode can trace. It stays as it is.
    data
        What the metric is measured on: a tensor, or batches, each a tensor or a pair
        ``(inputs, targets)``.
    metric
        ``"accuracy"``, ``"sqnr"``, ``"loss"``, or a function of output and target that gives one
        number for a batch, as for :func:`pyqref.ledger`.
    max_drop
        How much worse the metric may become, at least 0, in its own unit: 0.01 of ``"accuracy"``
        is one image of a hundred, 0.001 of ``"sqnr"`` is noise at 30 dB.
    better
        ``"higher"`` or ``"lower"`` values of the metric are; a function needs it.
    calibration
        What observers see; ``data`` if None.
    qconfig
        Observers for 8 bits; the usual ones of the engine if None.
    exhaustive
        How many smaller sets are tried at most. If that are all, no smaller set suffices
        (:attr:`AccuracyControl.fewest`).
    checkpoint
        Path of a file that keeps every measurement; called again, also with another bound, the
        search goes on from there.
    progress
        True shows the number of measurements on a terminal; a function is called with it.

    Returns
    -------
    AccuracyControl
        The quantized model, its mapping, and what was put back.

    Raises
    ------
    TypeError, ValueError
        An argument is of a wrong type or out of range, nothing of the model can be quantized, or
        the checkpoint belongs to something else.

    Notes
    -----
    It does for graph mode what ``nncf.quantize_with_accuracy_control`` does for its back ends. An
    operation that keeps the grid of its input, such as a ReLU or a pooling, goes with it. One with
    a fixed grid, such as a sigmoid, is quantized only behind integers: where what it follows is put
    back, it is listed as well, but it does not count among the fewest.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    >>> x = pyqref.rand(64, 8)
    >>> print(quantize_with_accuracy_control(model, x, "sqnr", max_drop=0.0001))
    sqnr: inf dB in float, 39.78 dB with everything quantized, 42.78 dB now
    quantized: 1 of 2
    put back to float: 2
    """
    bound = _max_drop(max_drop)
    if isinstance(exhaustive, bool) or not isinstance(exhaustive, int):
        raise TypeError(f"{_ASKS}: exhaustive must be an int, got {exhaustive!r}")
    direction = direction_of(_ASKS, metric, better)
    measurer = Measurer(_ASKS, model, data, calibration, metric, qconfig, checkpoint, progress)
    control = _Control(measurer, bound, direction)
    try:
        return control.run(exhaustive)
    finally:
        measurer.report.end()


def _max_drop(given: Any) -> Fraction:
    if isinstance(given, bool) or not isinstance(given, (int, float, Fraction)):
        raise TypeError(f"{_ASKS}: max_drop must be a number, got {given!r}")
    if not isfinite(given) or given < 0:
        raise ValueError(f"{_ASKS}: max_drop must be at least 0, got {given}")
    return Fraction(given)


class _Control:
    def __init__(self, measurer: Measurer, bound: Fraction, direction: int) -> None:
        self.measurer, self.bound, self.direction = measurer, bound, direction
        self.names = [each.name for each in measurer.units.values() if not each.follows]
        if not self.names:
            raise ValueError(f"{_ASKS}: the model has no operation that can be quantized")
        self.base = measurer.whole({})
        self.alone: dict[str, Measured] = {}

    def drop(self, put_back: Iterable[str]) -> Fraction:
        """How much worse the metric is with some parts in float."""
        return self._worse(self.measurer.whole(self._bits(put_back)))

    def _worse(self, measured: Measured) -> Fraction:
        return self.direction * (measured.value - self.base.value)

    def _bits(self, put_back: Iterable[str]) -> dict[str, Width]:
        float_ones = set(put_back)
        return {name: FLOAT if name in float_ones else _EIGHT for name in self.names}

    def run(self, exhaustive: int) -> AccuracyControl:
        if self.drop(()) <= self.bound:
            return self._result((), True)
        units = self.measurer.units
        for name in self.names:
            self.alone[name] = self.measurer.single(units[name], _EIGHT)
        order = sorted(
            self.names, key=lambda name: (-self._worse(self.alone[name]), -self.alone[name].noise)
        )
        count = next(n for n in range(1, len(order) + 1) if self.drop(order[:n]) <= self.bound)
        kept = irreducible(order[:count], lambda names: self.drop(names) <= self.bound)
        smaller = sum(comb(len(order), size) for size in range(1, len(kept)))
        for put_back in self._smaller_sets(order, len(kept)) if smaller <= exhaustive else ():
            if self.drop(put_back) <= self.bound:
                kept = put_back
                break
        return self._result(kept, smaller <= exhaustive)

    def _smaller_sets(self, order: list[str], size: int) -> Iterator[tuple[str, ...]]:
        """Sets with fewer members, the smallest and most harmful first."""
        for fewer in range(1, size):
            yield from combinations(order, fewer)

    def _result(self, put_back: tuple[str, ...], fewest: bool) -> AccuracyControl:
        measurer = self.measurer
        bits = measurer.costs.effective(self._bits(put_back))
        found = measurer.whole(bits)
        also = [name for name in bits if bits[name] == FLOAT and name not in put_back]
        return AccuracyControl(
            put_back=(*put_back, *also),
            drop=self._worse(found),
            max_drop=self.bound,
            value=found.value,
            float_value=self.base.value,
            quantized_value=measurer.whole(self._bits(())).value,
            bits=bits,
            qconfig_mapping=mapping_of(measurer.units, bits),
            model=measurer.build(bits),
            sensitivities={name: each.value for name, each in self.alone.items()},
            fewest=fewest,
            left_in_float=dict(measurer.left),
            _metric=measurer.metric,
        )
