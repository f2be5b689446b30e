"""``coverage`` of a model of graph mode tells the reasons that its passes kept."""

from __future__ import annotations

import pyqref
from pyqref import nn
from pyqref.quantization import (
    MinMaxObserver,
    QConfig,
    coverage,
    default_observer,
    get_default_qconfig_mapping,
)
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx


def test_a_pattern_left_float_says_why() -> None:
    """A QConfig that satisfies no DTypeConfig is ignored, and the reason is available."""
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Conv1d(4, 2, 1)).eval()
    x = pyqref.rand(4, 4, 4)
    unfit = QConfig(activation=default_observer, weight=MinMaxObserver)  # a quint8 weight
    mapping = get_default_qconfig_mapping("fbgemm").set_object_type(nn.Conv1d, unfit)
    prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    rows = {row.path: row for row in coverage(convert_fx(prepared)).rows}
    assert "quantized" == rows["0"].status
    assert "float" == rows["2"].status
    assert "weight" in str(rows["2"].reason)
