"""The graph while it is made: operators, constants, names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._typing import TensorOrNumber
from ..tensor import Tensor
from .problems import Unsupported
from .wire import Wire

__all__ = ["INTEGERS", "Maker", "Operator"]

#: The integers of a quantized tensor, by the name of its dtype.
INTEGERS = {"quint8": np.uint8, "qint8": np.int8}


@dataclass
class Operator:
    """A node of the exported graph.

    Attributes
    ----------
    kind : str
        As ``"Conv"``.
    name : str
        The path of the module it stands for, and more where a module needs several.
    inputs, outputs : list of str
        Names of tensors; an empty name is an input that is left out.
    attributes : dict
        Options of the operator.
    """

    kind: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)


class Maker:
    """Takes down operators and constants; what lowers a layer is given one.

    Parameters
    ----------
    style
        ``"qdq"``, ``"qoperator"`` or ``"exact"``.

    Attributes
    ----------
    operators : list of Operator
    constants : dict
        Arrays by name.
    path : str
        Of the layer that is being lowered.
    out : Wire
        What it gave when the model ran; of several results, a tuple.
    seen : list of Wire
        The results of all layers.
    """

    def __init__(self, style: str) -> None:
        self.style = style
        self.operators: list[Operator] = []
        self.constants: dict[str, np.ndarray] = {}
        self.path = ""
        self.out: Any = None
        self.seen: list[Wire] = []
        self._taken: set[str] = set()
        self._known: dict[int, tuple[Any, str]] = {}

    def fresh(self, name: str) -> str:
        """A name that no operator and no tensor has."""
        count, made = 0, name
        while made in self._taken:
            count += 1
            made = f"{name}_{count}"
        self._taken.add(made)
        return made

    # constants

    def constant(self, name: str, array: ArrayLike) -> str:
        """Add a constant under the path of the layer; return its name."""
        made = self.fresh(f"{self.path}/{name}" if name else self.path)
        self.constants[made] = np.ascontiguousarray(array).reshape(np.shape(array))
        return made

    def scalar(self, name: str, value: ArrayLike, dtype: DTypeLike = np.float32) -> str:
        """Add a constant without axes."""
        return self.constant(name, np.asarray(value, dtype))

    def shape(self, *sizes: ArrayLike) -> str:
        """Add lengths, axes or other integers."""
        return self.constant("sizes", np.asarray(sizes, np.int64).reshape(-1))

    # operators

    @overload
    def node(
        self,
        kind: str,
        inputs: list[str],
        *,
        suffix: str = "",
        outputs: Literal[1] = 1,
        **attributes: Any,
    ) -> str: ...

    @overload
    def node(
        self,
        kind: str,
        inputs: list[str],
        *,
        suffix: str = "",
        outputs: int,
        **attributes: Any,
    ) -> Any: ...

    def node(
        self, kind: str, inputs: list[str], *, suffix: str = "", outputs: int = 1, **attributes: Any
    ) -> str | tuple[str, ...]:
        """Add an operator; return the name of its result, or a tuple of ``outputs`` names."""
        name = self.fresh(f"{self.path}/{suffix or kind}")
        names = [name]
        names += [self.fresh(f"{name}/{n}") for n in range(1, outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.operators.append(Operator(kind, name, list(inputs), names, given))
        return names[0] if outputs == 1 else tuple(names)

    # from and to grids

    def real(self, value: Wire | TensorOrNumber) -> str:
        """The name of the real numbers of a wire, a tensor or a number."""
        if not isinstance(value, Wire):
            return self.given(value)
        if not value.is_quantized:
            return value.name
        if not value.real:
            inputs = [value.name, value.scale, value.zero_point]
            value.real = self.fresh(f"{value.name}/DequantizeLinear")
            self.operators.append(Operator("DequantizeLinear", value.real, inputs, [value.real]))
        return value.real

    def whole(self, value: Wire) -> str:
        """The integers of a wire less the zero point, as whole numbers of float32."""
        inputs = [value.name, self.scalar("one", 1), value.zero_point]
        return self.node("DequantizeLinear", inputs, suffix="less_zero_point")

    def given(self, value: TensorOrNumber, dtype: DTypeLike = np.float32) -> str:
        """A tensor of the model that does not depend on its inputs, or a number."""
        if isinstance(value, Tensor):
            known = self._known.get(id(value))
            if known is None:
                real = value.dequantize() if value.is_quantized else value
                known = value, self.constant("constant", real.detach().numpy())
                self._known[id(value)] = known
            return known[1]
        return self.scalar("constant", value, dtype)

    def grid(self, quantizer: Any, name: str = "") -> tuple[str, str]:
        """Add the scale and the zero point of a grid; return their names."""
        kind = str(quantizer.dtype).rpartition(".")[2]
        if kind not in INTEGERS:
            raise Unsupported(f"no operator rounds to {kind}, only to quint8 and qint8")
        if not hasattr(quantizer, "scale"):
            raise Unsupported("an activation has one scale for the whole tensor, not one a channel")
        prefix = f"{name}_" if name else ""
        return (
            self.scalar(f"{prefix}scale", quantizer.scale),
            self.scalar(f"{prefix}zero_point", quantizer.zero_point, INTEGERS[kind]),
        )

    def finish(self, real: str) -> str:
        """The result of a layer from its real numbers: on its grid, if it has one."""
        out = self.out
        if not out.is_quantized:
            return real
        out.scale, out.zero_point = self.grid(out.grid)
        return self.node("QuantizeLinear", [real, out.scale, out.zero_point])

    def moved(self, name: str, like: Wire) -> str:
        """A result on the grid of an input: its integers were moved, not computed."""
        if like.is_quantized and not self.out.is_quantized:
            raise Unsupported("the result is not quantized, its input is")
        self.out.scale, self.out.zero_point = like.scale, like.zero_point
        return name

    def on_grid_of(self, like: Wire) -> bool:
        """Return True if the result has the grid of an input."""
        return bool(self.out.is_quantized and self.out.grid == like.grid)
