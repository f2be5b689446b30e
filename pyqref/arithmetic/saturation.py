"""Where a model would saturate on an x86 processor without VNNI."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pyqref.autograd import no_grad
from pyqref.nn.modules import Module
from pyqref.nn.quantized.modules.weighted import WeightedQuantizedModule
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.types import IntArray
from pyqref.ops.quantized.packed import PackedWeight
from pyqref.tensor import Tensor
from pyqref.tensor.arguments import described

from .._typing import Array, NumberOrArray, Packed
from .base import Arithmetic
from .fbgemm import FBGEMM
from .layer import LINEAR, Layer
from .qnnpack import QNNPACK
from .registry import use
from .saturating import X86Saturating

__all__ = ["LayerSaturation", "SaturationReport", "saturation"]

#: What keeps every pair of products within 16 bits.
_CURE = (
    "give activations 7 bits, with reduce_range=True in their observer (as "
    "get_default_qconfig('x86') does), or keep weights within -64..63, with quant_min=-64 and "
    "quant_max=63 in theirs: then no pair of products exceeds 16 bits"
)


@dataclass
class LayerSaturation:
    """Effect of saturation on one layer.

    Attributes
    ----------
    path : str
        Of the module, or of the packed weight of a function.
    sums : int
        How many sums were looked at.
    wrong : numpy.ndarray
        int64 ``(N,)``: how many sums of each output channel come out wrong.
    changed : int
        How many output integers differ because of it.
    largest_change : int
        By how many steps at most.

    Examples
    --------
    >>> layer = LayerSaturation("fc", 8, np.array([4, 0]), 3, 7)
    >>> layer.share, layer.channels
    (0.5, [0])
    """

    path: str
    sums: int = 0
    wrong: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    changed: int = 0
    largest_change: int = 0

    @property
    def share(self) -> float:
        """Share of the sums that come out wrong."""
        return int(self.wrong.sum()) / self.sums if self.sums else 0.0

    @property
    def channels(self) -> list[int]:
        """Output channels of which some sum comes out wrong."""
        return [int(each) for each in np.flatnonzero(self.wrong)]

    def add(self, exact: IntArray, total: IntArray, right: IntArray, got: IntArray) -> None:
        """Count the sums ``(..., N)`` of one call, and their output integers."""
        wrong = (exact != total).reshape(-1, exact.shape[-1]).sum(axis=0)
        self.wrong = wrong if self.sums == 0 else self.wrong + wrong
        self.sums += exact.size
        change = np.abs(right - got)
        self.changed += int(np.count_nonzero(change))
        self.largest_change = max(self.largest_change, int(change.max(initial=0)))


@dataclass
class SaturationReport:
    """Where a model would saturate; printed, a table.

    Attributes
    ----------
    layers : list of LayerSaturation
        In the order in which they ran first.

    Examples
    --------
    >>> print(SaturationReport([LayerSaturation("fc", 8, np.array([4, 0]), 3, 7)]))
    layer  channels  wrong sums  changed outputs  by at most
    fc       1 of 2      50.0 %           37.5 %           7
    Without VNNI, x86 processors would add 4 of 8 sums wrongly: give activations 7 bits, with \
reduce_range=True in their observer (as get_default_qconfig('x86') does), or keep weights within \
-64..63, with quant_min=-64 and quant_max=63 in theirs: then no pair of products exceeds 16 bits.
    """

    layers: list[LayerSaturation]

    @property
    def wrong(self) -> int:
        """How many sums of the model come out wrong."""
        return sum(int(each.wrong.sum()) for each in self.layers)

    @property
    def sums(self) -> int:
        """How many sums were looked at."""
        return sum(each.sums for each in self.layers)

    @property
    def advice(self) -> str:
        """Advice on what to do, in a sentence."""
        if not self.wrong:
            return f"None of {self.sums} sums saturates on x86 processors without VNNI."
        counts = f"{self.wrong} of {self.sums} sums"
        return f"Without VNNI, x86 processors would add {counts} wrongly: {_CURE}."

    def __str__(self) -> str:
        head = ("layer", "channels", "wrong sums", "changed outputs", "by at most")
        rows = [head, *(_row(each) for each in self.layers if each.wrong.any())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                text.ljust(width) if place == 0 else text.rjust(width)
                for place, (text, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        return "\n".join([*(lines if len(rows) > 1 else []), self.advice])


def _row(layer: LayerSaturation) -> tuple[str, ...]:
    return (
        layer.path,
        f"{len(layer.channels)} of {len(layer.wrong)}",
        f"{100 * layer.share:.1f} %",
        f"{100 * layer.changed / layer.sums:.1f} %",
        str(layer.largest_change),
    )


def saturation(model: Module, data: Any) -> SaturationReport:
    r"""Find the sums of a model that saturate on x86 processors without VNNI.

    Such processors add pairs of products in 16 bits (``eq-saturating-pairs``); torch's fbgemm and
    x86 do so there. The model runs with exact sums; beside each the saturating one is computed.

    Parameters
    ----------
    model
        A quantized model: its static linear layers and convolutions are looked at. Layers with
        dynamic inputs give these 7 bits and cannot saturate.
    data
        What the model is called with; a tuple stands for several arguments. Or a list, or another
        iterable, of such.

    Raises
    ------
    TypeError
        The model is no module.
    ValueError
        No quantized layer ran.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> weight = pyqref.quantize_per_tensor(pyqref.full((1, 2), 127.0), 1.0, 0, pyqref.qint8)
    >>> layer.set_weight_bias(weight, None)
    >>> x = pyqref.quantize_per_tensor(pyqref.full((3, 2), 255.0), 1.0, 0, pyqref.quint8)
    >>> saturation(layer, x).wrong
    3
    """
    if not isinstance(model, Module):
        raise TypeError(f"saturation: model must be a module, got {described(model)}")
    watch = _Watch(model)
    with use(watch), no_grad():
        for arguments in _calls(data):
            model(*arguments)
    if not watch.seen:
        raise ValueError(
            "saturation: no quantized linear layer or convolution ran in the model; convert it "
            "first, with pyqref.quantization.convert or convert_fx, and give it some data"
        )
    return SaturationReport(list(watch.seen.values()))


def _calls(data: Any) -> Iterator[tuple[Any, ...]]:
    """The arguments of each call of the model."""
    batches = [data] if isinstance(data, Tensor | tuple) else data
    for batch in batches:
        yield batch if isinstance(batch, tuple) else (batch,)


class _Watch(Arithmetic):
    """Computes as the engine of each layer does, and looks at the sums on the way."""

    name = "watch"
    summary = "the engine of each layer, with a look at saturating sums"

    belongs_to_engine = True

    def __init__(self, model: Module) -> None:
        self.paths = _paths(model)
        self.seen: dict[int, LayerSaturation] = {}

    def prepare(
        self, packed: Packed, x_grid: Grid, out: Grid, relu: bool
    ) -> Callable[[np.ndarray], np.ndarray]:
        key = id(packed)
        if key not in self.seen:
            path = self.paths.get(key, f"{packed.operation} {len(self.seen)}")
            self.seen[key] = LayerSaturation(path)
        engine = QNNPACK() if packed.engine == "qnnpack" else FBGEMM()
        return _Beside(engine, self.seen[key]).prepare(packed, x_grid, out, relu)

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        return FBGEMM().bias(bias, s_x, s_w)

    def _requantize(self, *arguments: Any) -> IntArray:
        return FBGEMM()._requantize(*arguments)


class _Beside(Arithmetic):
    """The arithmetic of one layer; the saturating sums are kept until it requantizes."""

    name = "beside"
    summary = "exact sums, saturating ones beside them"

    def __init__(self, engine: Arithmetic, report: LayerSaturation) -> None:
        self.model, self.report = engine, report
        self.saturating: list[IntArray] = []

    def accumulate(
        self,
        x: IntArray,
        x_zero_point: int,
        weight: IntArray,
        weight_zero_points: int | Array,
        layer: Layer = LINEAR,
        outside: np.ndarray | None = None,
    ) -> IntArray:
        row = x, x_zero_point, weight, weight_zero_points, layer, outside
        self.saturating.append(X86Saturating().accumulate(*row))
        return self.model.accumulate(*row)

    def requantize(self, accumulator: IntArray, *rest: Any) -> IntArray:
        total = np.concatenate(self.saturating, axis=-1)
        self.saturating.clear()
        right = self.model.requantize(accumulator, *rest)
        got = self.model.requantize(total, *rest)
        self.report.add(accumulator, total, right, got)
        return right

    def bias(self, bias: Array, s_x: float, s_w: NumberOrArray) -> np.ndarray:
        return self.model.bias(bias, s_x, s_w)

    def _requantize(self, *arguments: Any) -> IntArray:
        return self.model._requantize(*arguments)


def _paths(model: Module) -> dict[int, str]:
    """By identity of its packed weight, the path of each layer."""
    found: dict[int, str] = {}
    for path, module in model.named_modules():
        if isinstance(module, WeightedQuantizedModule):
            found.setdefault(id(module._packed_weight()), path or type(module).__name__)
        for name, value in vars(module).items():
            if isinstance(value, PackedWeight):
                found.setdefault(id(value), f"{path}.{name}" if path else name)
    return found
