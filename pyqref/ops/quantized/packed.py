"""Weights made ready once: parameters as arrays, integers in the order of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from pyqref import _kernels
from pyqref._kernels.registry import twin
from pyqref._typing import Array, Tensor
from pyqref.backends import quantized as settings
from pyqref.dtypes import qint8
from pyqref.numerics.requantize import Requantization, requantization
from pyqref.tensor.quantized import make_per_channel, make_per_tensor

__all__ = ["PackedLinear", "PackedWeight", "report_saturated_bias"]

_LOW, _HIGH = -(2**31), 2**31 - 1
_reports: list[Callable[[PackedWeight, Any, float], None]] = []


class Prepared(NamedTuple):
    """A checked call of an operation, kept because the next call is often like it.

    Attributes
    ----------
    call
        What it was like, as :meth:`PackedWeight.call` tells; None if there was no call yet.
    bias
        The elements of the bias, held because ``call`` knows no more than where they are.
    run
        From the elements of the input to those of the output.
    out
        How the output is read.
    """

    call: tuple[Any, ...] | None = None
    bias: Any = None
    run: Callable[..., Any] = lambda x: x
    out: Any = None


class PackedWeight:
    """A quantized weight and its bias, ready to run on the engine that was set at packing.

    The integers are kept once, in the order of the kernels; :attr:`weight` puts them
    back in the order of the tensor.

    Attributes
    ----------
    engine : str
        ``backends.quantized.engine`` when the weight was packed. As in torch, changing
        the setting later does not change what this weight computes.
    shape
        Of the weight.
    weight_scales
        A float64 scalar (per tensor) or ``(N,)`` (per channel).
    weight_zero_points
        int64, ``(1,)`` or ``(N,)``.
    zero_points
        What kernels are given of them: 0 where all are 0, so that no call looks for others.
    output_range : (int, int)
        Ends of the integers of the output; the requantization clamps to them.
    prepared : Prepared
        The last call. A copy of the weight begins with none.
    """

    packed: Any
    output_range: tuple[int, int] = (0, 255)
    prepared: Prepared = Prepared()
    #: The operation whose kernel runs it.
    operation: str

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.shape = tuple(weight.shape)
        self.qscheme = weight.qscheme()
        self.axis = weight.q_per_channel_axis() if self.qscheme.is_per_channel else None
        self.bias_tensor = bias
        self.engine = settings.engine
        if self.axis is not None:
            self.weight_scales: Any = weight.q_per_channel_scales().numpy()
            self.weight_zero_points = weight.q_per_channel_zero_points().numpy()
        else:
            self.weight_scales = np.float64(weight.q_scale())
            self.weight_zero_points = np.array([weight.q_zero_point()], dtype=np.int64)
        self.zero_points: Any = self.weight_zero_points if self.weight_zero_points.any() else 0
        self._requantization: tuple[tuple[Any, ...], Any, Requantization] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "prepared"}

    def call(self, *given: object) -> tuple[Any, ...]:
        """Return the key of a call: its arguments, and the settings that it depends on."""
        bias, of_bias = self.bias_tensor, None
        if bias is not None:
            # The place of the elements, and how often they were changed.
            changes = bias._changes
            of_bias = id(bias._array), 0 if changes is None else changes[0]
        return given, of_bias, self.output_range, twin(self.operation), settings.arithmetic

    def keep(
        self, call: tuple[Any, ...] | None, run: Callable[..., Any], out: object = None
    ) -> None:
        """Keep for the next call how this one runs."""
        bias = None if self.bias_tensor is None else self.bias_tensor._array
        # Of another bias kernels take a copy, which would miss what is written to it.
        if call is not None and (bias is None or bias.flags.c_contiguous):
            self.prepared = Prepared(call, bias, run, out)

    def _integers(self) -> Any:
        """The int8 weight in the order of the tensor."""
        return self.packed.weight

    @property
    def weight(self) -> Tensor:
        """The quantized weight, put together anew."""
        integers = np.ascontiguousarray(self._integers())
        if self.axis is None:
            zero_point = int(self.weight_zero_points[0])
            return make_per_tensor(integers, float(self.weight_scales), zero_point, qint8)
        return make_per_channel(
            integers, self.weight_scales, self.weight_zero_points, self.axis, qint8, self.qscheme
        )

    def unpack(self) -> tuple[Tensor, Tensor | None]:
        """The quantized weight and the float bias (or None).

        fbgemm keeps scales as float32, so that a weight quantized with scale 0.1 comes
        back with 0.10000000149011612; qnnpack and onednn give back what they got.
        """
        weight = self.weight
        if not self._keeps_doubles():
            weight = with_float32_scales(weight)
        return weight, self.bias_tensor

    def _keeps_doubles(self) -> bool:
        return self.engine in ("qnnpack", "onednn")

    def bias(self) -> Tensor | None:
        """The float bias, or None."""
        return self.bias_tensor

    def requantization(
        self, input_scale: float, output_scale: float, output_zero_point: int, relu: bool
    ) -> Requantization:
        """Return the parameters that make output integers of accumulators; the last are kept.

        A bias that is written to, or gets other data, counts as another one.
        """
        array, version = None, 0
        if self.bias_tensor is not None:
            array, version = self.bias_tensor._array, self.bias_tensor._version[0]
        ends = self.output_range
        key = (input_scale, output_scale, output_zero_point, relu, version, ends)
        kept = self._requantization
        if kept is None or kept[0] != key or kept[1] is not array:
            made = requantization(
                self.engine,  # type: ignore[arg-type]
                input_scale,
                self.weight_scales,
                output_scale,
                output_zero_point,
                bias=array,
                quant_min=ends[0],
                quant_max=ends[1],
                relu=relu,
            )
            if made.bias_mode == "integer":
                self._look_at_bias(made.bias, input_scale)
            self._requantization = kept = key, array, made
        return kept[2]

    def _look_at_bias(self, integers: Any, input_scale: float) -> None:
        """Report elements of the bias that were cut at 32 bits (``eq-bias-integer``)."""
        if int(integers.max(initial=0)) == _HIGH or int(integers.min(initial=0)) == _LOW:
            for report in _reports:
                report(self, integers, input_scale)


def report_saturated_bias(report: Callable[[PackedWeight, Any, float], None]) -> None:
    """Say what is called when a bias does not fit into 32 bits.

    Parameters
    ----------
    report
        Is given the packed weight, its bias in units of the accumulator, the scale of the input.
    """
    _reports.append(report)


def with_float32_scales(weight: Tensor) -> Tensor:
    """Return the same integers with scales rounded to float32."""
    if not weight.qscheme().is_per_channel:
        scale = float(np.float32(weight.q_scale()))
        return make_per_tensor(weight._array, scale, weight.q_zero_point(), weight.dtype)
    return make_per_channel(
        weight._array,
        weight.q_per_channel_scales().numpy().astype(np.float32).astype(np.float64),
        weight.q_per_channel_zero_points().numpy(),
        weight.q_per_channel_axis(),
        weight.dtype,
        weight.qscheme(),
    )


class PackedLinear(PackedWeight):
    """The weight ``(N, K)`` of a linear layer."""

    operation: Literal["qgemm"] = "qgemm"

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        super().__init__(weight, bias)
        self.packed = _kernels.pack_linear(weight._array)
        self._projections: list[_kernels.Projection | None] = [None, None]

    def prepare(self, x_zero_point: int, requant: Requantization) -> Callable[[Any], Any]:
        """Make a function from input integers ``(..., K)`` to output integers ``(..., N)``."""
        return partial(
            _kernels.linear,
            x_zero_point=x_zero_point,
            packed=self.packed,
            weight_zero_points=self.zero_points,
            requant=requant,
        )

    def run_float(self, x: Array, x_zero_point: int, x_scale: float) -> Array:
        """Real outputs ``(..., N)``, float32, of the input integers ``(..., K)``."""
        bias = None if self.bias_tensor is None else self.bias_tensor._array
        return _kernels.linear_float(
            x,
            x_zero_point,
            self.packed,
            self.zero_points,
            x_scale,
            self.weight_scales,
            bias,
            self.engine,  # type: ignore[arg-type]
        )

    def run_dynamic(self, x: Array, reduce_range: bool) -> tuple[Array, float, float]:
        """Real outputs ``(..., N)`` of real inputs ``(..., K)``, and the range of the inputs."""
        return self.projection(reduce_range).of(x)

    def projection(self, reduce_range: bool = True) -> _kernels.Projection:
        """Return the projection that layers with real inputs use; it is made once for a bias."""
        kept = self._projections[reduce_range]
        bias = None if self.bias_tensor is None else self.bias_tensor._array
        if kept is None or not kept.adds(bias):
            kept = self._projections[reduce_range] = _kernels.Projection(
                self.packed,
                self.zero_points,
                self.weight_scales,
                bias,
                self.engine,  # type: ignore[arg-type]
                reduce_range,
            )
        return kept
