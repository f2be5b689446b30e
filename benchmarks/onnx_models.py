"""Operators of ONNX Runtime as functions; None where it, or onnx, is not installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError:
    onnxruntime = None

available = onnxruntime is not None
version = onnxruntime.__version__ if available else "absent"


def operator(
    name: str,
    x: np.ndarray,
    inputs: list[np.ndarray | None],
    threads: int,
    out: Any,
    domain: str = "",
    **attributes: Any,
) -> Callable[[], Any]:
    """Run one operator: ``x`` goes where ``inputs`` holds None, the rest are constants."""
    names = ["x" if each is None else f"c{i}" for i, each in enumerate(inputs)]
    constants = [
        numpy_helper.from_array(np.asarray(each), names[i])
        for i, each in enumerate(inputs)
        if each is not None
    ]
    kind = helper.np_dtype_to_tensor_dtype
    node = helper.make_node(name, names, ["y"], domain=domain, **attributes)
    graph = helper.make_graph(
        [node],
        name,
        [helper.make_tensor_value_info("x", kind(x.dtype), x.shape)],
        [helper.make_tensor_value_info("y", kind(np.dtype(out)), None)],
        constants,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=versions, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, ["CPUExecutionProvider"]
    )
    return lambda: session.run(None, {"x": x})


__all__ = ["available", "operator", "version"]
