"""From operators and constants to a model file that was checked."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ..version import __version__
from .maker import INTEGERS, Maker, Operator
from .problems import Unsupported
from .wire import Wire

__all__ = ["IR_VERSION", "OPSET", "checked", "document"]

#: GroupNormalization, and QuantizeLinear with a type of its result, came with it.
OPSET = 21
#: The container of that operator set: onnxruntime 1.18 and newer read it.
IR_VERSION = 10
#: Elements of the protocol's TensorProto.DataType.
ELEMENTS = {
    np.dtype(np.float32): 1,
    np.dtype(np.uint8): 2,
    np.dtype(np.int8): 3,
    np.dtype(np.int32): 6,
    np.dtype(np.int64): 7,
    np.dtype(np.bool_): 9,
    np.dtype(np.float64): 11,
}
#: A file of protocol buffers holds less than 2 GiB.
LARGEST = 2**31 - 1


def document(
    onnx: ModuleType, maker: Maker, inputs: list[Wire], outputs: list[Wire], name: str
) -> object:
    """The model as the package ``onnx`` has it."""
    helper, arrays = onnx.helper, onnx.numpy_helper
    used = {each for operator in maker.operators for each in operator.inputs}
    graph = helper.make_graph(
        [_node(helper, each) for each in maker.operators],
        name,
        [_described(helper, each) for each in inputs],
        [_described(helper, each) for each in outputs],
        [arrays.from_array(a, n) for n, a in maker.constants.items() if n in used],
        value_info=[_described(helper, each) for each in _between(maker, inputs, outputs)],
    )
    return helper.make_model(
        graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="pyqref",
        producer_version=__version__,
    )


def checked(onnx: ModuleType, model: Any) -> Any:
    """The model with the types and shapes that follow, after all checks.

    Raises
    ------
    ValueError
        It is too large for one file.
    """
    if model.ByteSize() > LARGEST:
        raise ValueError(
            f"pyqref.export.onnx: the model has {model.ByteSize() / 2**30:.1f} GiB, a file holds "
            "less than 2; export its parts one by one"
        )
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    onnx.checker.check_model(inferred, full_check=False)
    return inferred


def finished(maker: Maker, wires: list[Wire], inputs: list[Wire]) -> list[Wire]:
    """The outputs, each a tensor of its own that an operator made."""
    taken = {each.name for each in inputs}
    found: list[Wire] = []
    for wire in wires:
        name = wire.name
        if name in taken or name in maker.constants:
            maker.path = "output"
            name = maker.node("Identity", [name])
        taken.add(name)
        found.append(Wire(name, wire.value, wire.dynamic))
    return found


def renamed(maker: Maker, path: str, first: int, wire: Wire) -> None:
    """Give the last tensor of a layer, and its main operator, the path of the layer."""
    mine = maker.operators[first:]
    last = next((each for each in mine if wire.name in each.outputs), None)
    if last is None:
        return
    name = maker.fresh(path)
    before = wire.name
    for operator in mine:
        operator.inputs = [name if each == before else each for each in operator.inputs]
        operator.outputs = [name if each == before else each for each in operator.outputs]
    if wire.real == before:
        wire.real = name
    wire.name = name
    grids = ("QuantizeLinear", "DequantizeLinear", "Cast", "Reshape")
    main = next((each for each in mine if each.kind in ("Conv", "ConvTranspose", "MatMul")), None)
    main = main or next((each for each in mine if each.kind not in grids), last)
    main.name = name


def _between(maker: Maker, inputs: list[Wire], outputs: list[Wire]) -> list[Wire]:
    """The results of layers that are no outputs of the model."""
    ends = {each.name for each in (*inputs, *outputs)}
    found = {each.name: each for each in maker.seen if each.name not in ends}
    return list(found.values())


def _node(helper: Any, each: Operator) -> Any:
    return helper.make_node(each.kind, each.inputs, each.outputs, each.name, **each.attributes)


def _described(helper: Any, wire: Wire) -> Any:
    value = wire.value
    if wire.is_quantized:
        kind = str(value.dtype).rpartition(".")[2]
        if kind not in INTEGERS:
            raise Unsupported(f"{kind} tensors are not exported")
        element = ELEMENTS[np.dtype(INTEGERS[kind])]
    else:
        element = ELEMENTS[value._array.dtype]
    shape = ["batch" if n in wire.dynamic else size for n, size in enumerate(value.shape)]
    return helper.make_tensor_value_info(wire.name, element, shape)
