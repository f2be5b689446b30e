"""An ONNX file, read and checked, as plain data."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

__all__ = ["Operator", "Source", "read"]

#: Names of the domain of ONNX itself.
_OWN = ("", "ai.onnx")


@dataclass
class Operator:
    """A node of the file.

    Attributes
    ----------
    kind, name : str
        As ``"Conv"``, and what the file calls it.
    inputs, outputs : list of str
        Names of tensors; an empty name stands for an input that is left out.
    attributes : dict
        Plain numbers, lists, texts and arrays.
    """

    kind: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Source:
    """A graph.

    Attributes
    ----------
    operators : list of Operator
    constants : dict
        Arrays by name.
    inputs, outputs : list of str
    ranks : dict
        How many axes a tensor has, where that is known.
    """

    operators: list[Operator]
    constants: dict[str, np.ndarray]
    inputs: list[str]
    outputs: list[str]
    ranks: dict[str, int]


def read(onnx: ModuleType, path: str | os.PathLike[str]) -> Source:
    """Read and check a file.

    Raises
    ------
    ValueError
        It holds no valid model.
    """
    where = os.fspath(path)
    try:
        model = onnx.load(where)
        _require_known_version(onnx, model)
        if not _has_unknown_operators(onnx, model):  # of which the checker names only the first
            onnx.checker.check_model(model)
        return _source(onnx, onnx.shape_inference.infer_shapes(model))
    except Exception as error:  # protocol buffers and the checker have no common base
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(
            f"interop.from_onnx: {where!r} holds no valid model of ONNX: {lines[0]}"
        ) from error


def _require_known_version(onnx: Any, model: Any) -> None:
    newest = onnx.defs.onnx_opset_version()
    for each in model.opset_import:
        if each.domain in _OWN and each.version > newest:
            raise ValueError(
                f"its operators are those of version {each.version}, the installed package onnx "
                f"knows those up to {newest}"
            )


def _has_unknown_operators(onnx: Any, model: Any) -> bool:
    own = {(each.domain, each.name) for each in model.functions}
    return any(
        each.domain in _OWN
        and (each.domain, each.op_type) not in own
        and not onnx.defs.has(text(each.op_type))
        for each in model.graph.node
    )


def _source(onnx: Any, model: Any) -> Source:
    graph = model.graph
    to_array = onnx.numpy_helper.to_array
    constants = {text(each.name): to_array(each) for each in graph.initializer}
    operators = [_operator(onnx, each) for each in graph.node]
    described = [*graph.input, *graph.value_info, *graph.output]
    ranks = {
        text(each.name): len(each.type.tensor_type.shape.dim)
        for each in described
        if each.type.tensor_type.HasField("shape")
    }
    ranks |= {name: array.ndim for name, array in constants.items()}
    inputs = [name for each in graph.input if (name := text(each.name)) not in constants]
    return Source(operators, constants, inputs, [text(each.name) for each in graph.output], ranks)


def text(name: str | bytes) -> str:
    """A name; what is no UTF-8 arrives as bytes."""
    return name.decode(errors="replace") if isinstance(name, bytes) else name


def _operator(onnx: Any, node: Any) -> Operator:
    values = {text(each.name): _plain(onnx, each) for each in node.attribute}
    ends = [text(each) for each in node.input], [text(each) for each in node.output]
    return Operator(text(node.op_type), text(node.name), *ends, values)


def _plain(onnx: Any, attribute: Any) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, bytes):
        return text(value)
    if hasattr(value, "raw_data"):
        return onnx.numpy_helper.to_array(value)
    if isinstance(value, int | float | str):
        return value
    try:
        return [text(each) if isinstance(each, bytes) else each for each in value]
    except TypeError:  # a graph inside
        return value
