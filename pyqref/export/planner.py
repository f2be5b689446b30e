"""Takes the operations of a model down as steps on stored integers."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .. import arithmetic
from ..dtypes import quint8
from ..fx.node import map_aggregate
from ..nn.modules import Module
from ..numerics.affine import dequantize_per_tensor
from ..numerics.elementwise import Grid
from ..tensor.base import wrap
from ..tensor.quantized import make_per_tensor
from .plan import Buffer, Reals, Step, Value
from .problems import Unsupported
from .table import Table, title
from .wire import Wire, is_tensor, wires_of

__all__ = ["NUMBERS", "REAL", "Planner", "grid_of", "steps"]

#: The lowerings to steps.
steps = Table("it has no form on stored integers: leave it out of the exported model")
REAL = (
    "it computes with real numbers: give its layer a qconfig, or leave it out of the exported model"
)
#: Integers of a byte.
NUMBERS = np.arange(256, dtype=np.uint8)


def grid_of(value: Any) -> Grid:
    """Scale, zero point and range of a quantized tensor.

    Raises
    ------
    Unsupported
        It has no 8-bit unsigned integers, or several scales.
    """
    if value.dtype is not quint8:
        raise Unsupported(f"its integers are {value.dtype}: use a qconfig with quint8 activations")
    if not hasattr(value._quantizer, "scale"):
        raise Unsupported("an activation has one scale for the whole tensor, not one a channel")
    found: Grid = value._quantizer.grid
    return found


class Planner:
    """Makes steps; what lowers an operation is given one.

    Parameters
    ----------
    arithmetic
        The name of the arithmetic in which tables are computed; None for that of the engine.

    Attributes
    ----------
    steps : list of Step
    path : str
        Of the operation that is being lowered.
    out : Wire
        What it gave when the model ran; of several results, a tuple.
    values : dict
        The value behind each wire, by its name.
    """

    def __init__(self, arithmetic: str | None = None) -> None:
        self.arithmetic = arithmetic
        self.steps: list[Step] = []
        self.path = ""
        self.out: Any = None
        self.values: dict[str, Value] = {}
        self.operation: tuple[Any, Any, Any] = (None, (), {})

    # what the walk calls

    def input(self, n: int, value: Any) -> Wire:
        """An input of the model."""
        name = f"input_{n}" if n else "input"
        wire = Wire(name, value)
        size = int(np.prod(value.shape))
        grid = grid_of(value) if value.is_quantized else None
        self.values[name] = made = Value(name, wire.shape, grid, Buffer(size, "in", n))
        made.origin = made if grid is None else None
        return wire

    def lower(self, what: Any, path: str, args: Any, kwargs: Any, out: Any) -> None:
        """Let the lowering of an operation add steps, and name the wires of its results."""
        self.path, self.out = path, out
        self.operation = what, args, kwargs
        make = steps.lowering_of(what)
        if any(each.name not in self.values for each in wires_of((args, kwargs))):
            return  # what made an argument has no lowering, and that was said of it
        given = (what, *args) if isinstance(what, Module) else args
        made = make(self, *given, **kwargs)
        pairs = [(out, made)] if isinstance(out, Wire) else zip(wires_of(out), made, strict=True)
        for n, (wire, value) in enumerate(pairs):
            wire.name = f"{path}/{n}" if n else path
            self.values[wire.name] = value
            for each in wires_of((args, kwargs)):
                if each.value is wire.value:  # an operation in place
                    each.name = wire.name

    # what lowerings call

    def value(self, wire: Any) -> Value:
        """The integers behind a wire, or behind real numbers that stand for them.

        Raises
        ------
        Unsupported
            They are no input of the model and not quantized.
        """
        found = self.values.get(wire.name) if isinstance(wire, Wire) else None
        if found is None:
            raise Unsupported("an argument is no result of a step on stored integers")
        if found.reals is not None:
            raise Unsupported(REAL)
        return found

    def integers(self, wire: Any) -> Value:
        """The integers of a quantized wire.

        Raises
        ------
        Unsupported
            It holds real numbers.
        """
        if isinstance(wire, Wire) and not wire.is_quantized:
            raise Unsupported(REAL)
        return self.value(wire)

    def step(
        self,
        kind: str,
        inputs: list[Value],
        *labels: str,
        out: Wire | None = None,
        in_place: bool = False,
        **data: Any,
    ) -> Value:
        """Add a step; return its result, which has the shape and the grid of a wire."""
        wire = self.out if out is None else out
        size = int(np.prod(wire.shape))
        # Real numbers that were only moved stand on the grid of what was moved.
        grid = grid_of(wire.value) if wire.is_quantized else inputs[0].grid
        origin = None if wire.is_quantized else inputs[0].origin
        made = Value(self.path, wire.shape, grid, Buffer(size), origin)
        name = title(self.operation[0])
        self.steps.append(Step(kind, self.path, name, labels, inputs, made, data, in_place))
        return made

    def same(self, x: Value, grid: Grid | None = None) -> Value:
        """Return a value with the same integers and the shape of the result.

        It may be on another grid.
        """
        origin = x.origin if grid is None else None
        return Value(self.path, self.out.shape, grid or x.grid, x.buffer, origin)

    def replayed(self, tensor: Any, wire: Wire) -> Any:
        """Run the operation on a tensor in the place of a wire."""

        def put(each: Any) -> Any:
            if each is wire:
                return tensor
            return each.value if isinstance(each, Wire) else each

        what, args, kwargs = self.operation
        args, kwargs = map_aggregate((args, kwargs), put)
        with self.in_arithmetic():
            if isinstance(what, str):
                return getattr(args[0], what)(*args[1:], **kwargs)
            return what(*args, **kwargs)

    def table(self, wire: Wire) -> np.ndarray:
        """Return the result of the operation for each byte.

        Raises
        ------
        Unsupported
            Its results do not depend on one element each.
        """
        grid = grid_of(wire.value)
        every = make_per_tensor(NUMBERS.copy(), grid.scale, grid.zero_point, quint8)
        result = self.replayed(every, wire)
        if not is_tensor(result) or tuple(result.shape) != (256,):
            raise Unsupported("with these arguments it is no function of single elements")
        return np.array(result._array, np.uint8)

    def function(self, wire: Wire) -> Value:
        """The real numbers that the operation makes of those that bytes stand for.

        Raises
        ------
        Unsupported
            The wire holds other real numbers, or the operation takes several of them at once.
        """
        found = self.values[wire.name]
        if found.grid is None or found.origin is not None:
            raise Unsupported(REAL)
        if found.reals is None:
            numbers = dequantize_per_tensor(NUMBERS, found.grid.scale, found.grid.zero_point)
        else:
            numbers = found.reals.numbers
        result = self.replayed(wrap(numbers.copy()), wire)
        if not is_tensor(result) or tuple(result.shape) != (256,):
            raise Unsupported("with these arguments it is no function of single elements")
        reals = Reals(np.array(result._array), self.path, title(self.operation[0]))
        return Value(self.path, self.out.shape, found.grid, found.buffer, reals=reals)

    def in_arithmetic(self) -> AbstractContextManager[Any]:
        """Compute as the format does."""
        if self.arithmetic is None:
            return nullcontext()
        return _Silently(self.arithmetic)


class _Silently:
    """An arithmetic in use; what it leaves to the engine is said in the documentation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.caught: Any = warnings.catch_warnings()
        self.used: Any = arithmetic.use(name)

    def __enter__(self) -> None:
        self.caught.__enter__()
        warnings.simplefilter("ignore")
        self.used.__enter__()

    def __exit__(self, *error: object) -> None:
        self.used.__exit__(*error)
        self.caught.__exit__(*error)
