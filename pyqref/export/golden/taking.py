"""A model runs once, and its quantized operations are taken down."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

import numpy as np

from ... import kernels
from ...arithmetic import get, use
from ...backends import quantized as settings
from ...explaining.float_forms import packed_weight_of
from ...explaining.running import Call, called, intercepted
from ...explaining.values import is_quantized, leaves
from ...nn.diagnostics import NoEffectWarning
from ...nn.modules import Module
from ...numerics.noted import noting
from ...ops.quantized.packed import PackedWeight
from ..table import title
from .problems import Problem
from .recurrent import RecurrentWeights, recurrent_weights_of
from .stages import clamp_of, recurrent_stages_of, stages_of
from .vectors import Layer, Names, Stored, stored

__all__ = ["Taker", "arithmetic_of", "computing"]

#: Operations without a weight that have stages; with ``_relu`` behind them, too.
WITH_STAGES = ("add", "mul", "matmul", "mean")
NO_STAGES = "only layers with a weight, sums, products and means have stages"
NOT_EQUAL = "the equations of this operation were not computed alone"
GEOMETRY = ("stride", "padding", "output_padding", "dilation", "groups", "transposed")


def arithmetic_of(name: str | None) -> str | None:
    """The arithmetic that is asked for, or the one in use; None for the engines."""
    if name is not None:
        return get(name).name
    return None if settings.arithmetic is None else str(settings.arithmetic.name)


@contextmanager
def computing(arithmetic: str | None, engine: str) -> Iterator[None]:
    """Compute with an engine, and what has one in an arithmetic."""
    before = settings.engine
    try:
        settings.engine = engine
        with nullcontext() if arithmetic is None else use(arithmetic):
            yield
    finally:
        settings.engine = before


class Taker:
    """Takes down the operations of one run.

    Parameters
    ----------
    arithmetic
        From :func:`arithmetic_of`; None for the engines.
    paths
        The path of an operation in the user's model, where it is not the one in the graph.
    step
        Is called after each operation.

    Attributes
    ----------
    layers : list of Layer
    skipped : dict
        By path, the operations on real numbers.
    problems : list of Problem
    """

    def __init__(
        self, arithmetic: str | None, paths: dict[str, str], step: Callable[[], None] = lambda: None
    ) -> None:
        self.arithmetic, self.engine = arithmetic, str(settings.engine)
        self.paths, self.step = paths, step
        self.layers: list[Layer] = []
        self.skipped: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.inputs: list[Stored] = []
        self._kept = _Kept(None)
        self._names = Names()
        self._known: dict[int, tuple[Any, Stored]] = {}

    def run(self, model: Module, inputs: tuple[Any, ...]) -> None:
        """Run the model and take down what it does."""
        for n, each in enumerate(inputs):
            self.inputs.append(self._remembered(self._names(f"input_{n}" if n else "input"), each))
        with computing(self.arithmetic, self.engine), intercepted(model, self._decide):
            if settings.arithmetic is not None:
                settings.kept = self._kept = _Kept(settings.kept)
            called(model, inputs)

    def _decide(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._kept.told = False
        result = call.run(*args, **kwargs)
        self.step()
        given, made = _arrays((args, kwargs)), leaves(result)
        packed = packed_weight_of(call.what, args) or recurrent_weights_of(call.what)
        if not made or (packed is None and not any(map(is_quantized, (*given, *made)))):
            if made:
                self.skipped[self._path(call)] = title(call.what)
            return result
        self.layers.append(self._layer(call, args, kwargs, packed, given, made[0]))
        return result

    def _path(self, call: Call) -> str:
        node, count = call.key
        path = self.paths.get(node, node)
        return f"{path}#{count}" if count else path

    def _layer(
        self, call: Call, args: Any, kwargs: Any, packed: Any, given: list[Any], result: Any
    ) -> Layer:
        path, (node, count) = self._path(call), call.key
        name = self._names(path)
        inputs = [
            self._known_of(each) or self._remembered(f"{name}/input{n or ''}", each)
            for n, each in enumerate(given)
        ]
        layer = Layer(
            path=path,
            node=f"{node}#{count}" if count else node,
            name=name,
            operation=title(call.what),
            arithmetic=self._computed_by(packed),
            inputs=inputs,
            output=self._remembered(f"{name}/output", result),
        )
        if packed is not None:
            self._parameters(layer, packed)
        self._stages(layer, call, args, kwargs, packed, result)
        return layer

    def _known_of(self, tensor: Any) -> Stored | None:
        found = self._known.get(id(tensor))
        return None if found is None else found[1]

    def _remembered(self, name: str, tensor: Any) -> Stored:
        made = stored(name, tensor)
        self._known[id(tensor)] = tensor, made
        return made

    def _parameters(self, layer: Layer, packed: Any) -> None:
        if isinstance(packed, RecurrentWeights):
            layer.parameters += [
                stored(f"{layer.name}/{name}", each) for name, each in packed.tensors.items()
            ]
        elif isinstance(packed, PackedWeight):
            layer.parameters.append(stored(f"{layer.name}/weight", packed.weight))
            if packed.bias_tensor is not None:
                layer.parameters.append(stored(f"{layer.name}/bias_real", packed.bias_tensor))
            layer.geometry = {
                name: _plain(getattr(packed, name)) for name in GEOMETRY if hasattr(packed, name)
            }

    def _stages(
        self, layer: Layer, call: Call, args: Any, kwargs: Any, packed: Any, result: Any
    ) -> None:
        operation = layer.operation
        if packed is None and not _has_stages(operation):
            layer.note = NO_STAGES
            return
        own = self._equations(packed)
        with ExitStack() as stack:
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", NoEffectWarning)
            stack.enter_context(kernels.use("reference"))
            stack.enter_context(computing(own, self.engine))
            found = stack.enter_context(noting())
            again = leaves(call.run(*args, **kwargs))[0]
        if not np.array_equal(result._array, again._array):
            layer.note = NOT_EQUAL
            return
        if isinstance(packed, RecurrentWeights):
            stages = recurrent_stages_of(found, packed.ends)
            layer.stages = [Stored(f"{layer.name}/{name}", each) for name, each in stages.items()]
            return
        is_conv = packed is not None and getattr(packed, "operation", "") == "qconv"
        bias = getattr(packed, "bias_tensor", None)
        rounds = is_quantized(result)
        if rounds and own is not None and bias is not None and "bias" not in found:
            scales = float(args[0].q_scale()), packed.weight_scales
            found["bias"] = [get(own).bias(bias._array, *scales)]
        stages = stages_of(found, tuple(result.shape), is_conv)
        layer.stages = [Stored(f"{layer.name}/{name}", each) for name, each in stages.items()]
        layer.clamp = clamp_of(found) if rounds else None

    def _computed_by(self, packed: Any) -> str:
        """The arithmetic of an operation; of a weight, the engine that it was packed for."""
        if self.arithmetic is not None and not self._kept.told:
            return self.arithmetic
        return str(getattr(packed, "engine", self.engine))

    def _equations(self, packed: Any) -> str | None:
        """The arithmetic whose equations give the numbers: of a weight of an engine, its own."""
        if packed is None or (self.arithmetic is not None and not self._kept.told):
            return self.arithmetic
        return "qnnpack" if packed.engine == "qnnpack" else "fbgemm"


class _Kept:
    """Note whether an operation kept the numbers of the engine, beside other listeners."""

    def __init__(self, other: Callable[[str, str | None], None] | None) -> None:
        self.told, self.other = False, other

    def __call__(self, operation: str, method: str | None) -> None:
        self.told = True
        if self.other is not None:
            self.other(operation, method)


def _arrays(given: Any) -> list[Any]:
    """The tensors among arguments, but scales and zero points."""
    return [each for each in leaves(given) if each.ndim or is_quantized(each)]


def _has_stages(operation: str) -> bool:
    return operation.removesuffix("_relu") in WITH_STAGES or "avgpool" in _bare(operation)


def _bare(name: str) -> str:
    return name.replace("_", "").lower()


def _plain(value: Any) -> Any:
    return list(map(int, value)) if isinstance(value, tuple | list) else value
