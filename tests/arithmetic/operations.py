"""Operations without weights in real systems: ONNX Runtime and LiteRT.

Run as a program it records what they give: ``python tests/arithmetic/operations.py``, by an
interpreter that has onnxruntime, onnx and ai_edge_litert.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["RECORDED", "SYSTEMS", "Inputs", "make_cases", "real"]

RECORDED = Path(__file__).with_name("recorded_operations.npz")

#: By name: the arithmetic that models it.
SYSTEMS = {
    "onnxruntime": "onnx",
    "litert reference": "tflite",
    "litert ruy": "tflite-ruy",
    "litert xnnpack": "tflite-xnnpack",
}
KERNELS = {
    "reference": "BUILTIN_REF",
    "ruy": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
    "xnnpack": "BUILTIN",
}

#: An operation, the scales and zero points of its inputs and of its output, and its inputs.
Inputs = tuple[str, list[float], list[int], list[np.ndarray]]


def make_cases(seed: int = 0) -> list[Inputs]:
    """Cases of every operation, half of them with results next to ties."""
    rng = np.random.default_rng(seed)
    cases: list[Inputs] = []

    def scale() -> np.float32:
        # Rounded, so that it does not depend on the last bit of a library's exponential.
        return np.float32(round(float(np.exp(rng.uniform(-5, -1))), 5))

    shapes = {"add": ((9, 40), (9, 40)), "mul": ((9, 40), (9, 40)), "matmul": ((8, 12), (12, 30))}
    for operation in ("add", "mul", "matmul"):
        for turn in range(4):
            a, b = (rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes[operation])
            zeros = [int(each) for each in rng.integers(0, 256, 3)]
            s_a, s_b = (scale() for _ in range(2))
            if operation == "add":
                real = np.float64(s_a) * (int(a[0, 0]) - zeros[0])
                real += np.float64(s_b) * (int(b[0, 0]) - zeros[1])
            elif operation == "mul":
                real = np.float64(s_a) * s_b * int(rng.integers(50, 300))
            else:
                sums = (a.astype(int) - zeros[0]) @ (b.astype(int) - zeros[1])
                real = np.float64(s_a) * s_b * int(sums[0, 0])
            near = np.float32(abs(real) / (int(rng.integers(1, 60)) + 0.5))
            free = np.float32(s_a + s_b) if operation == "add" else np.float32(s_a * s_b * 200)
            cases.append((operation, [s_a, s_b, near if turn % 2 else free], zeros, [a, b]))
    for shapes_of in (((1,), (1,)), ((9, 1), (1, 40)), ((1,), (40,)), ((9, 40), (1,))):
        zeros, (s_a, s_b) = [3, 200, 90], np.float32([0.0371, 0.0113])
        a, b = (rng.integers(0, 256, shape).astype(np.uint8) for shape in shapes_of)
        s_y = np.float32(
            abs(float(s_a) * (int(a.flat[0]) - 3) + float(s_b) * (int(b.flat[0]) - 200))
        )
        cases.append(("broadcast add", [s_a, s_b, s_y / np.float32(20.5)], zeros, [a, b]))
    every = np.arange(256, dtype=np.uint8).reshape(1, -1)
    for turn in range(10):
        s_x, zeros = scale(), rng.integers(0, 256, 2).tolist()
        ratio = int(rng.integers(1, 60)) / (int(rng.integers(1, 60)) + 0.5)
        # One ratio in five is below what XNNPACK takes.
        s_y = np.float32(np.float64(s_x) * (ratio if turn % 5 else 300 * ratio + 300))
        cases.append(("cat", [s_x, s_y], zeros, [every]))
    for turn in range(4):
        s_y = scale()
        x = (np.float64(s_y) * (rng.integers(-150, 150, (1, 400)) + 0.5)).astype(np.float32)
        x = np.nextafter(x, np.float32(np.inf)) if turn % 2 else x
        cases.append(("quantize", [s_y], [int(rng.integers(0, 256))], [x]))
    for turn in range(6):
        size = (5, 4) if turn % 3 else (2, 3)
        x = rng.integers(0, 256, (1, 30, *size)).astype(np.uint8)
        s_x = scale()
        cases.append(("average" if turn % 3 else "whole", [s_x], [int(rng.integers(0, 256))], [x]))
    for function in ("sigmoid", "leaky_relu"):
        scales = [np.float32(0.043), np.float32(1 / 256 if function == "sigmoid" else 0.019)]
        cases.append((function, scales, [131, 10], [every]))
    weight = rng.integers(-60, 60, (20, 12)).astype(np.int8)
    x = rng.standard_normal((30, 12), np.float32)
    bias = rng.standard_normal(20, np.float32)
    cases.append(("dynamic", [np.float32(0.031)], [], [x, weight, bias]))
    return cases


#: What LiteRT has of these, with the rules that are modelled.
LITERT = {"add", "mul", "matmul", "cat", "quantize", "average", "whole"}


def real(system: str, case: Inputs) -> np.ndarray | None:
    """Return the result of a system, or None if it has no such operation."""
    if system == "onnxruntime":
        return onnxruntime(case)
    return litert(system.split()[1], case) if case[0] in LITERT else None


def onnxruntime(case: Inputs) -> np.ndarray:
    """QLinear operators."""
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    operation, scales, zeros, inputs = case
    names = "abc"
    values: dict[str, Any] = {f"s{n}": np.float32(s) for n, s in enumerate(scales)}
    values |= {f"z{n}": np.uint8(z) for n, z in enumerate(zeros)}
    kinds = {
        "add": "QLinearAdd",
        "broadcast add": "QLinearAdd",
        "mul": "QLinearMul",
        "matmul": "QLinearMatMul",
        "cat": "QLinearConcat",
        "quantize": "QuantizeLinear",
        "average": "QLinearAveragePool",
        "whole": "QLinearAveragePool",
        "sigmoid": "QLinearSigmoid",
        "leaky_relu": "QLinearLeakyRelu",
    }
    attributes: dict[str, Any] = {}
    if operation in ("add", "broadcast add", "mul", "matmul"):
        row = ["a", "s0", "z0", "b", "s1", "z1", "s2", "z2"]
    elif operation == "cat":
        row, attributes = ["s1", "z1", "a", "s0", "z0"], {"axis": 1}
    elif operation in ("average", "whole"):
        row = ["a", "s0", "z0", "s0", "z0"]
        attributes = {"kernel_shape": [2, 3], "channels_last": 0}
    else:
        row = ["a", "s0", "z0", "s1", "z1"] if len(scales) > 1 else ["a", "s0", "z0"]
        attributes = {"alpha": 0.1} if operation == "leaky_relu" else {}
    make = helper.make_node
    if operation == "dynamic":
        values |= {"w": np.ascontiguousarray(inputs[1].T), "zw": np.int8(0), "bias": inputs[2]}
        nodes = [
            make("DynamicQuantizeLinear", ["a"], ["q", "s", "z"]),
            make("MatMulInteger", ["q", "w", "z", "zw"], ["sums"]),
            make("Cast", ["sums"], ["float"], to=TensorProto.FLOAT),
            make("Mul", ["s", "s0"], ["unit"]),
            make("Mul", ["float", "unit"], ["real"]),
            make("Add", ["real", "bias"], ["y"]),
        ]
        inputs = inputs[:1]
    else:
        domain = "" if operation in ("quantize", "matmul") else "com.microsoft"
        nodes = [make(kinds[operation], row, ["y"], domain=domain, **attributes)]
    given = dict(zip(names, inputs, strict=False))
    graph = helper.make_graph(
        nodes,
        "operation",
        [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in given.items()
        ],
        [helper.make_tensor_value_info("y", 1 if operation == "dynamic" else 2, None)],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items()],
    )
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    ort.set_default_logger_severity(3)
    providers = ["CPUExecutionProvider"]
    session = ort.InferenceSession(model.SerializeToString(), options, providers=providers)
    return np.asarray(session.run(None, given)[0])


def litert(kernels: str, case: Inputs) -> np.ndarray:
    """The operators of LiteRT's interpreter, on int8."""
    import flatbuffers
    from ai_edge_litert import interpreter
    from ai_edge_litert import schema_py_generated as schema

    operation, scales, zeros, inputs = case
    kinds, options = schema.BuiltinOperator, schema.BuiltinOptions
    table: dict[str, tuple[int, Any, int]] = {
        "add": (kinds.ADD, schema.AddOptionsT, options.AddOptions),
        "mul": (kinds.MUL, schema.MulOptionsT, options.MulOptions),
        "matmul": (kinds.BATCH_MATMUL, schema.BatchMatMulOptionsT, options.BatchMatMulOptions),
        "cat": (kinds.QUANTIZE, None, 0),
        "quantize": (kinds.QUANTIZE, None, 0),
        "average": (kinds.AVERAGE_POOL_2D, schema.Pool2DOptionsT, options.Pool2DOptions),
        "whole": (kinds.AVERAGE_POOL_2D, schema.Pool2DOptionsT, options.Pool2DOptions),
    }
    kind, make_options, kind_of_options = table[operation]
    is_pool = operation in ("average", "whole")
    arrays = [x if x.dtype == np.float32 else (x.astype(int) - 128).astype(np.int8) for x in inputs]
    arrays = [np.moveaxis(x, 1, -1) for x in arrays] if is_pool else [x[None] for x in arrays]
    shape = list(np.broadcast_shapes(*(x.shape for x in arrays)) if operation != "matmul" else ())
    if operation == "matmul":
        shape = [1, arrays[0].shape[1], arrays[1].shape[2]]
    if is_pool:
        shape = [1, arrays[0].shape[1] - 1, arrays[0].shape[2] - 2, arrays[0].shape[3]]
    tensors = []
    for number, x in enumerate([*arrays, None]):
        tensor, grid = schema.TensorT(), schema.QuantizationParametersT()
        tensor.shape = shape if x is None else list(x.shape)
        tensor.name, tensor.buffer, tensor.type = f"t{number}", 0, schema.TensorType.INT8
        if x is not None and x.dtype == np.float32:
            tensor.type = schema.TensorType.FLOAT32
        else:
            place = min(number, len(scales) - 1)
            grid.scale, grid.zeroPoint = [np.float32(scales[place])], [zeros[place] - 128]
            tensor.quantization = grid
        tensors.append(tensor)
    code, operator, graph, model = (
        schema.OperatorCodeT(),
        schema.OperatorT(),
        schema.SubGraphT(),
        schema.ModelT(),
    )
    code.builtinCode, code.deprecatedBuiltinCode, code.version = kind, min(kind, 127), 2
    operator.opcodeIndex, operator.outputs = 0, [len(arrays)]
    operator.inputs = list(range(len(arrays)))
    if make_options is not None:
        made = make_options()
        if is_pool:
            made.padding, made.strideH, made.strideW = schema.Padding.VALID, 1, 1
            made.filterHeight, made.filterWidth = 2, 3
        if operation == "add":
            made.potScaleInt16 = False
        operator.builtinOptions, operator.builtinOptionsType = made, kind_of_options
    graph.tensors, graph.inputs, graph.outputs = tensors, operator.inputs, operator.outputs
    graph.operators, graph.name = [operator], "operation"
    model.version, model.operatorCodes, model.buffers = 3, [code], [schema.BufferT()]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    chosen = getattr(interpreter.OpResolverType, KERNELS[kernels])
    runs = interpreter.Interpreter(
        model_content=bytes(builder.Output()), experimental_op_resolver_type=chosen, num_threads=1
    )
    runs.allocate_tensors()
    for place, x in zip(runs.get_input_details(), arrays, strict=True):
        runs.set_tensor(place["index"], np.ascontiguousarray(x))
    runs.invoke()
    y = runs.get_tensor(runs.get_output_details()[0]["index"]).astype(int) + 128
    y = np.moveaxis(y, -1, 1) if is_pool else y[0]
    return y.astype(np.uint8)


def main() -> None:
    """Record what all systems give."""
    results = {}
    for system in SYSTEMS:
        for number, case in enumerate(make_cases()):
            y = real(system, case)
            if y is not None:
                results[f"{system}:{number}"] = y
    np.savez_compressed(RECORDED, **results)


if __name__ == "__main__":
    main()
