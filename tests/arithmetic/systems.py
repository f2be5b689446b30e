"""The real systems: each takes a case and gives the integers of its output.

Run as a program it computes all cases of a file by one of them, so that environment variables
that a library reads when it is loaded can be set: ``python systems.py NAME CASES.npz OUT.npz``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

try:
    from .cases import Case, loaded
except ImportError:  # run as a program
    from cases import Case, loaded  # type: ignore[import-not-found,no-redef]

__all__ = ["SYSTEMS", "takes"]


def integer_bias(case: Case, how: str) -> Any:
    """The bias as a converter stores it: ``"onnx"`` or ``"tflite"``."""
    if case.bias is None:
        return None
    s_x, s_w = np.float32(case.scales[0]), np.asarray(case.scales[1]).astype(np.float32)
    if how == "onnx":
        return np.rint(case.bias / (s_x * s_w)).astype(np.int32)
    real = case.bias.astype(np.float64) / (np.float64(s_x) * s_w)
    return (np.sign(real) * np.floor(np.abs(real) + 0.5)).astype(np.int32)


def torch(engine: str) -> Callable[[Case], np.ndarray]:
    """Quantized operations of torch."""

    def run(case: Case) -> np.ndarray:
        import torch

        torch.set_num_threads(1)
        torch.backends.quantized.engine = engine
        ops = torch.ops.quantized
        (s_x, s_w, s_y), (z_x, z_y) = case.scales, case.zero_points
        x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(case.x), s_x, z_x)
        integers = torch.from_numpy(case.weight)
        if np.ndim(s_w):
            zeros = torch.zeros(len(s_w), dtype=torch.long)
            scales = torch.from_numpy(np.array(s_w))
            weight = torch._make_per_channel_quantized_tensor(integers, scales, zeros, 0)
        else:
            weight = torch._make_per_tensor_quantized_tensor(integers, s_w, 0)
        bias = None if case.bias is None else torch.from_numpy(case.bias)
        if case.kind == "linear":
            return ops.linear(x, ops.linear_prepack(weight, bias), s_y, z_y).int_repr().numpy()
        steps = [[number] * 2 for number in (case.stride, case.padding, case.dilation)]
        packed = ops.conv2d_prepack(weight, bias, *steps, case.groups)
        return ops.conv2d(x, packed, s_y, z_y).int_repr().numpy()

    return run


def onnxruntime(operators: str, optimized: bool) -> Callable[[Case], np.ndarray]:
    """ONNX Runtime: ``"qlinear"`` operators, or ``"qdq"`` around real ones."""

    def run(case: Case) -> np.ndarray:
        import onnxruntime as ort
        from onnx import TensorProto, helper, numpy_helper

        ort.set_default_logger_severity(3)
        (s_x, s_w, s_y), (z_x, z_y) = case.scales, case.zero_points
        s_w = np.asarray(s_w).astype(np.float32)
        linear = case.kind == "linear"
        gemm = linear and operators == "qlinear"
        values = {
            "s_x": np.float32(s_x),
            "z_x": np.uint8(z_x),
            "w": np.ascontiguousarray(case.weight.T) if gemm else case.weight,
            "s_w": s_w,
            "z_w": np.zeros(s_w.shape, np.int8),
            "s_y": np.float32(s_y),
            "z_y": np.uint8(z_y),
        }
        bias = integer_bias(case, "onnx")
        if bias is not None:
            values |= {"b": bias, "s_b": np.float32(s_x) * s_w}
            values["z_b"] = np.zeros(values["s_b"].shape, np.int32)
        geometry: dict[str, Any] = {"transB": 1}
        if not linear:
            geometry = {
                "strides": [case.stride] * 2,
                "pads": [case.padding] * 4,
                "dilations": [case.dilation] * 2,
                "group": case.groups,
            }
        make = helper.make_node
        inputs = ["x", "s_x", "z_x", "w", "s_w", "z_w"]
        if gemm:
            inputs += ["b" if bias is not None else "", "s_y", "z_y"]
            nodes = [make("QGemm", inputs, ["y"], domain="com.microsoft")]
        elif operators == "qlinear":
            inputs += ["s_y", "z_y"] + (["b"] if bias is not None else [])
            nodes = [make("QLinearConv", inputs, ["y"], **geometry)]
        else:
            axis = {"axis": 0} if s_w.ndim else {}
            nodes = [
                make("DequantizeLinear", ["x", "s_x", "z_x"], ["xf"]),
                make("DequantizeLinear", ["w", "s_w", "z_w"], ["wf"], **axis),
            ]
            real = ["xf", "wf"]
            if bias is not None:
                nodes.append(make("DequantizeLinear", ["b", "s_b", "z_b"], ["bf"], **axis))
                real.append("bf")
            nodes.append(make("Gemm" if linear else "Conv", real, ["yf"], **geometry))
            nodes.append(make("QuantizeLinear", ["yf", "s_y", "z_y"], ["y"]))
        used = {name for node in nodes for name in node.input}
        graph = helper.make_graph(
            nodes,
            "layer",
            [helper.make_tensor_value_info("x", TensorProto.UINT8, case.x.shape)],
            [helper.make_tensor_value_info("y", TensorProto.UINT8, None)],
            [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items() if k in used],
        )
        imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        level = ort.GraphOptimizationLevel
        options.graph_optimization_level = (
            level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
        )
        providers = ["CPUExecutionProvider"]
        session = ort.InferenceSession(model.SerializeToString(), options, providers=providers)
        return session.run(None, {"x": case.x})[0]

    return run


def litert(kernels: str) -> Callable[[Case], np.ndarray]:
    """LiteRT: kernels ``BUILTIN_REF``, ``BUILTIN_WITHOUT_DEFAULT_DELEGATES`` or ``BUILTIN``."""

    def run(case: Case) -> np.ndarray:
        from ai_edge_litert import interpreter

        content, x = _flatbuffer(case)
        chosen = getattr(interpreter.OpResolverType, kernels)
        runs = interpreter.Interpreter(
            model_content=content, experimental_op_resolver_type=chosen, num_threads=1
        )
        runs.allocate_tensors()
        runs.set_tensor(runs.get_input_details()[0]["index"], x)
        runs.invoke()
        y = runs.get_tensor(runs.get_output_details()[0]["index"]).astype(np.int64) + 128
        y = y if case.kind == "linear" else np.moveaxis(y, -1, 1)
        return y.astype(np.uint8)

    return run


def _flatbuffer(case: Case) -> tuple[bytes, np.ndarray]:
    """A model file of one operator, and its input as int8, channels last."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    (s_x, s_w, s_y), (z_x, z_y) = case.scales, case.zero_points
    x = (case.x.astype(np.int64) - 128).astype(np.int8)
    weight, linear = case.weight, case.kind == "linear"
    if not linear:
        x, weight = np.moveaxis(x, 1, -1), np.moveaxis(weight, 1, -1)
    y_shape = (len(x), len(weight))
    if not linear:
        size = [
            (n - k) // case.stride + 1 for n, k in zip(x.shape[1:3], weight.shape[1:3], strict=True)
        ]
        y_shape = (len(x), *size, len(weight))
    bias = integer_bias(case, "tflite")
    bias = np.zeros(len(weight), np.int32) if bias is None else bias
    code = schema.OperatorCodeT()
    operators = schema.BuiltinOperator
    code.builtinCode = operators.FULLY_CONNECTED if linear else operators.CONV_2D
    code.deprecatedBuiltinCode, code.version = code.builtinCode, 4 if linear else 3
    buffers = []
    for data in (None, weight, bias):
        buffer = schema.BufferT()
        if data is not None:
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
        buffers.append(buffer)
    types, s_b = schema.TensorType, np.float32(s_x) * np.asarray(s_w, np.float32)
    tensors = [
        _tensor(schema, "x", x.shape, types.INT8, s_x, z_x - 128, 0),
        _tensor(schema, "w", weight.shape, types.INT8, s_w, 0, 1),
        _tensor(schema, "b", bias.shape, types.INT32, s_b, 0, 2),
        _tensor(schema, "y", y_shape, types.INT8, s_y, z_y - 128, 0),
    ]
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1, 2], [3]
    options = schema.FullyConnectedOptionsT() if linear else schema.Conv2DOptionsT()
    kinds = schema.BuiltinOptions
    operator.builtinOptionsType = kinds.FullyConnectedOptions if linear else kinds.Conv2DOptions
    if not linear:
        options.padding = schema.Padding.VALID
        options.strideH = options.strideW = case.stride
        options.dilationHFactor = options.dilationWFactor = 1
    operator.builtinOptions = options
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs, graph.outputs = tensors, [0], [3]
    graph.operators, graph.name = [operator], "layer"
    model = schema.ModelT()
    model.version, model.operatorCodes, model.buffers = 3, [code], buffers
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output()), x


def _tensor(
    schema: Any, name: str, shape: Any, kind: int, scale: Any, zero_point: int, buffer: int
) -> Any:
    tensor, grid = schema.TensorT(), schema.QuantizationParametersT()
    tensor.name, tensor.shape, tensor.type, tensor.buffer = name, list(shape), kind, buffer
    grid.scale = list(np.atleast_1d(scale).astype(np.float32))
    grid.zeroPoint = [zero_point] * len(grid.scale)
    tensor.quantization = grid
    return tensor


#: By name: what runs it, and the arithmetic that models it.
SYSTEMS: dict[str, tuple[Callable[[Case], np.ndarray], str]] = {
    "torch onednn": (torch("onednn"), "onednn-saturating"),
    "torch fbgemm": (torch("fbgemm"), "x86-saturating"),
    "torch x86": (torch("x86"), "x86-saturating"),
    "torch qnnpack": (torch("qnnpack"), "qnnpack"),
    "onnxruntime qlinear": (onnxruntime("qlinear", False), "onnx-saturating"),
    "onnxruntime qlinear optimized": (onnxruntime("qlinear", True), "onnx-saturating"),
    "onnxruntime qdq": (onnxruntime("qdq", False), "onnx-qdq"),
    "onnxruntime qdq optimized": (onnxruntime("qdq", True), "onnx-saturating"),
    "litert reference": (litert("BUILTIN_REF"), "tflite"),
    "litert ruy": (litert("BUILTIN_WITHOUT_DEFAULT_DELEGATES"), "tflite-ruy"),
    "litert xnnpack": (litert("BUILTIN"), "tflite-xnnpack"),
}


def takes(system: str, case: Case) -> bool:
    """Return True if the system has the layer, and the arithmetic above models it.

    LiteRT's reference multiplies in double precision in its fully connected layers.
    """
    if system.startswith("litert"):
        return case.is_plain and not (system.endswith("reference") and case.kind == "linear")
    return True


def main(system: str, source: str, target: str) -> None:
    """Compute all cases of a file by a system."""
    warnings.simplefilter("ignore")
    with np.load(source) as arrays:
        cases = loaded(arrays)
    run = SYSTEMS[system][0]
    results = {str(n): run(case) for n, case in enumerate(cases) if takes(system, case)}
    np.savez(target, **results)


if __name__ == "__main__":
    main(*sys.argv[1:])
