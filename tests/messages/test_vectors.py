"""Following the messages about golden vectors works."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from messages.following import says

import pyqref
from pyqref import export, nn, quantization


def test_vectors(tmp_path: Path) -> None:
    """Convert a model; give outputs by the names of layers; write damaged vectors again."""
    model = quantization.QuantWrapper(nn.Linear(2, 2)).eval()
    x, folder = pyqref.ones(1, 2), tmp_path / "vectors"
    with says("convert the model first"):
        export.vectors(nn.Linear(2, 2), x, folder)
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(x)
    converted = quantization.convert(prepared)
    export.vectors(converted, x, folder)
    with says("give outputs of layers, such as"):
        export.verify(folder, {})
    got = converted.module(converted.quant(x)).int_repr().numpy()
    assert export.verify(folder, {"module": got}).ok
    np.savez(folder / "vectors.npz")
    with says("write the vectors again"):
        export.verify(folder, {"module": got})
    export.vectors(converted, x, folder)
    assert export.verify(folder, {"module": got}).ok
