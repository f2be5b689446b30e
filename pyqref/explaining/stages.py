"""One operation of a quantized model, made what it is step by step.

Between the float layer and the quantized one lie six steps, each one cause of error. After
``"weight clipping"`` the float weight is cut to the range of its integers, after ``"weight
rounding"`` it is what the integers stand for, and so on; after ``"rest"`` the operation is the
quantized one itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..nn.modules import Module
from ..numerics.affine import along_axis
from ..ops.quantized.packed import PackedWeight
from ..tensor import Tensor, from_numpy, quantize_per_tensor
from .composed import clipped_to, composed_of
from .float_forms import (
    float_form,
    packed_weight_of,
    reference_weight_of,
    run_with_weight,
    then,
)
from .originals import Original, Originals
from .running import Call
from .values import as_float, is_quantized, leaves, on_floats

__all__ = ["CAUSES", "FLOAT", "TensorQParams", "Stages", "clipped", "grid_of"]

CAUSES = (
    "weight clipping",
    "weight rounding",
    "bias",
    "activation clipping",
    "activation rounding",
    "rest",
)
"""Causes of error of an operation on its way to integers, in the order of the steps."""

FLOAT = "float"
"""The step before all causes."""


class TensorQParams(NamedTuple):
    """The numbers that the integers of a tensor stand for.

    Attributes
    ----------
    scale, zero_point
        Of the tensor, or of its channels along ``axis``.
    low, high
        Ends of the integers.
    axis
        Of the channels; None for one scale.
    dtype
        Of the integers.
    """

    scale: Any
    zero_point: Any
    low: int
    high: int
    axis: int | None
    dtype: Any

    def ends(self, ndim: int) -> tuple[Any, Any]:
        """The real numbers at both ends, which broadcast to a tensor of ``ndim`` dimensions."""
        scale, zero = np.float64(self.scale), np.float64(self.zero_point)
        low, high = scale * (self.low - zero), scale * (self.high - zero)
        if self.axis is None:
            return low, high
        return along_axis(low, ndim, self.axis), along_axis(high, ndim, self.axis)


def grid_of(quantized: Tensor, ends: tuple[int, int] | None = None) -> TensorQParams:
    """The grid of a quantized tensor."""
    dtype: Any = quantized.dtype
    low, high = (dtype.quant_min, dtype.quant_max) if ends is None else ends
    if quantized.qscheme().is_per_channel:
        scale = np.asarray(quantized.q_per_channel_scales(), dtype=np.float64)
        zero = np.asarray(quantized.q_per_channel_zero_points(), dtype=np.float64)
        return TensorQParams(
            scale, zero, low, high, quantized.q_per_channel_axis(), quantized.dtype
        )
    return TensorQParams(
        quantized.q_scale(), quantized.q_zero_point(), low, high, None, quantized.dtype
    )


def clipped(values: Tensor, grid: TensorQParams) -> Tensor:
    r"""Numbers cut to the ends of a grid where ``eq-clipping-error`` says more than rounding.

    A number within half a step of an end is left: rounding takes it there
    (``eq-rounding-error-bound``).
    """
    array = np.asarray(values.detach())
    low, high = grid.ends(array.ndim)
    half: Any = np.float64(grid.scale) / 2
    if grid.axis is not None:
        half = along_axis(half, array.ndim, grid.axis)
    cut = np.where(array > high + half, high, np.where(array < low - half, low, array))
    return from_numpy(cut.astype(array.dtype))


def _cut_weight(weight: Any, quantized: Any) -> Any:
    return clipped_to(weight, quantized, lambda w, q: clipped(w, grid_of(q)))


class Stages:
    """Results of one operation after each of the steps to integers.

    Parameters
    ----------
    call
        The operation, as the quantized model calls it.
    args
        Of the first call, to see the packed weight among those of a function.
    originals
        Where the float weight is looked for; None for nowhere.

    Attributes
    ----------
    causes : tuple
        The steps that this operation takes.
    output : TensorQParams, optional
        Of its result; None if that is no quantized tensor.
    original : Original, optional
        The float weight and bias; None without a weight, or if none was found.
    """

    def __init__(
        self, call: Call, args: tuple[Any, ...], result: Any, originals: Originals | None
    ) -> None:
        self.path = call.key[0]
        is_module = isinstance(call.what, Module)
        counterpart = None
        if originals is not None and _is_quantized_layer(call.what):
            counterpart = originals.module(self.path)
        self.form = float_form(call.what, counterpart)
        #: Of a layer of several weights, such as an LSTM.
        self.composed = composed_of(call.what, counterpart, _cut_weight)
        #: The float form with the weight that it has now, where that may be another.
        self.own_form = None
        if counterpart is not None and hasattr(call.what, "weight"):
            self.own_form = float_form(call.what)
        self.packed = packed_weight_of(call.what, args) or reference_weight_of(call.what)
        self.module = call.what if is_module else None
        self.quantized_inputs = sum(map(is_quantized, leaves(args)))
        outputs = leaves(result)
        self.output = None
        if len(outputs) == 1 and is_quantized(outputs[0]):
            grid = grid_of(outputs[0], getattr(self.packed, "output_range", None))
            self.output = grid if grid.axis is None else None
        self.original: Original | None = None
        self.causes = self._causes(call.what)
        self.weight: Any = None
        self.bias: Any = None
        if self.packed is not None:
            self.weight, self.bias = self.packed.unpack()
        if self.packed is not None and originals is not None:
            transposed = bool(getattr(self.packed, "transposed", False))
            path = self.path if is_module else ""
            self.original = originals.parameters(path, self.weight, transposed)
        self._weights: dict[str, tuple[Any, Any]] = {}
        #: Whether it loses something although no quantized tensor goes in or comes out.
        self.loses = self.packed is not None or _is_quantized_layer(call.what)

    def _causes(self, what: Any) -> tuple[str, ...]:
        if self.composed is not None:
            # What goes on inside is one step: inputs, states and gates are put on grids of their
            # own, step after step, and cut to them.
            return (*CAUSES[:3], "activation rounding")
        if self.packed is None and self.output is None:
            # A weight that a function takes is quantized in the graph, and activations never so.
            per_channel = getattr(what, "__name__", "") == "quantize_per_channel"
            is_weight = per_channel or "Embedding" in type(what).__name__
            return ("weight rounding" if is_weight else "rest",)
        of_weight: tuple[str, ...] = CAUSES[:3] if self.packed is not None else ()
        if self.packed is None and self.own_form is not None:
            of_weight = CAUSES[1:2]
        if self.output is None:
            # The range of a dynamic input is its own, so nothing is clipped.
            dynamic = isinstance(self.packed, PackedWeight) and not self.quantized_inputs
            return (*of_weight, "activation rounding" if dynamic else "rest")
        return (*of_weight, *CAUSES[3:])

    def after(self, stage: str, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call after a step, ``"float"`` or one of :attr:`causes`."""
        if stage == self.causes[-1]:
            return call.run(*args, **kwargs)
        y = self.exact(stage, call, args, kwargs)
        if stage not in ("activation clipping", "activation rounding"):
            return y
        grid = self.output
        assert grid is not None
        y = clipped(y, grid)
        return y if stage == "activation clipping" else as_float(self.on_grid(y, grid))

    def exact(self, stage: str, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call on real numbers, with the weight that the step has."""
        if self.composed is not None:
            return self.composed.form(stage)(*on_floats(args), **dict(on_floats(kwargs)))
        if self.packed is None:
            form = self.form if stage == FLOAT or self.own_form is None else self.own_form
            return form(*args, **kwargs)
        weight, bias = self.parameters(stage, args)
        floats = on_floats(args)
        y = run_with_weight(self.packed, floats[0], weight, bias, self.module)
        what = call.what if self.module is None else self.module
        return then(what, floats, kwargs)(y)

    def parameters(self, stage: str, args: tuple[Any, ...]) -> tuple[Any, Any]:
        """Weight and bias after a step, as real numbers."""
        if stage not in CAUSES[:2] and stage != FLOAT:
            return self._parameters("bias")[0], self._integer_bias(args)
        return self._parameters(stage)

    def _parameters(self, stage: str) -> tuple[Any, Any]:
        if stage not in self._weights:
            weight, bias = as_float(self.weight), self.bias
            if self.original is not None and stage != "bias":
                bias = self.original.bias
                if stage == FLOAT or not is_quantized(self.weight):
                    weight = weight if stage == "weight rounding" else self.original.weight
                elif stage == "weight clipping":
                    weight = clipped(self.original.weight, grid_of(self.weight))
            self._weights[stage] = weight, bias
        return self._weights[stage]

    def _integer_bias(self, args: tuple[Any, ...]) -> Any:
        """The bias as the engine adds it: some round it to a unit of the accumulator."""
        bias, grid = self.bias, self.output
        if bias is None or grid is None or not isinstance(self.packed, PackedWeight):
            return bias
        if not is_quantized(args[0]):
            return bias
        scale = args[0].q_scale()
        made = self.packed.requantization(scale, float(grid.scale), int(grid.zero_point), False)
        if made.bias_mode != "integer":
            return bias
        units = np.asarray(made.bias, np.float64) * (scale * np.asarray(self.packed.weight_scales))
        return from_numpy(units.astype(np.float32))

    @staticmethod
    def on_grid(values: Tensor, grid: TensorQParams) -> Tensor:
        """Real numbers as integers of a grid with one scale."""
        low, high = grid.ends(values.ndim)
        inside = values.clamp(min=float(low), max=float(high))
        return quantize_per_tensor(inside, float(grid.scale), int(grid.zero_point), grid.dtype)


def _is_quantized_layer(what: Any) -> bool:
    """Return True for a layer that ``convert`` puts in the place of a float one."""
    home = type(what).__module__
    inner = ("pyqref.nn.quantized", "pyqref.nn.intrinsic.quantized")
    functional = ("Functional", "Quantize", "DeQuantize")
    return home.startswith(inner) and not type(what).__name__.endswith(functional)
