"""Running a file: onnx's own evaluator, and onnxruntime where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

__all__ = ["evaluated", "exposed", "served"]


def exposed(path: Path) -> Any:
    """The model with the integers of every layer among its outputs."""
    model = onnx.load(path)
    graph = model.graph
    outputs = {each.name for each in graph.output}
    kinds = (onnx.TensorProto.UINT8, onnx.TensorProto.INT8)
    for each in graph.value_info:
        integers = each.type.tensor_type.elem_type in kinds
        if integers and "/" not in each.name and each.name not in outputs:
            graph.output.append(each)
    return model


def _named(model: Any, results: Any) -> dict[str, np.ndarray]:
    return dict(zip([each.name for each in model.graph.output], results, strict=True))


def evaluated(model: Any, *inputs: np.ndarray) -> dict[str, np.ndarray]:
    """Results of onnx's ReferenceEvaluator, by name."""
    names = [each.name for each in model.graph.input]
    feeds = dict(zip(names, inputs, strict=True))
    return _named(model, ReferenceEvaluator(model).run(None, feeds))


def served(model: Any, *inputs: np.ndarray, optimized: bool = False) -> dict[str, np.ndarray]:
    """Results of onnxruntime, by name; the test is skipped where it is not installed."""
    ort = pytest.importorskip("onnxruntime")
    ort.set_default_logger_severity(3)
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    level = ort.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimized else level.ORT_DISABLE_ALL
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in model.graph.input]
    return _named(model, session.run(None, dict(zip(names, inputs, strict=True))))
