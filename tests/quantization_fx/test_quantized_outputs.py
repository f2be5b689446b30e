"""Outputs that stay quantized, of a model and of a standalone module, in every dtype."""

from __future__ import annotations

from typing import Any

import pytest
from pyqref.ao.quantization import (
    MinMaxObserver,
    QConfig,
    QConfigMapping,
    backend_config,
    default_weight_observer,
)
from pyqref.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
)
from pyqref.ao.quantization.fx.custom_config import PrepareCustomConfig
from pyqref.ao.quantization.quantize_fx import convert_to_reference_fx, prepare_fx

import pyqref as torch
from pyqref import nn


def rows() -> Any:
    torch.manual_seed(0)
    return torch.randn(8, 6)


def own(dtype: Any) -> BackendConfig:
    """A back end with linear layers of one dtype."""
    types = DTypeConfig(dtype, dtype, torch.qint8, torch.float32)
    linear = (
        BackendPatternConfig(nn.Linear)
        .add_dtype_config(types)
        .set_root_module(nn.Linear)
        .set_reference_quantized_module(nn.quantized.reference.Linear)
    )
    return BackendConfig("own").set_backend_pattern_config(linear)


@pytest.mark.parametrize("backend", ["native", "executorch", "tensorrt", "own"])
@pytest.mark.filterwarnings("ignore:prepare_fx. .* float, because")
@pytest.mark.parametrize("dtype", [torch.quint8, torch.qint8, torch.qint32], ids=str)
def test_outputs_stay_quantized_in_every_dtype(dtype: Any, backend: str) -> None:
    """Outputs stay quantized as the QConfig says, even if the back end leaves their input float.

    Torch leaves such outputs float.
    """
    backends = {
        "native": backend_config.get_native_backend_config(),
        "executorch": backend_config.get_executorch_backend_config(),
        "tensorrt": backend_config.get_tensorrt_backend_config(),
        "own": own(dtype),
    }
    limits = {"quant_min": -(2**20), "quant_max": 2**20} if dtype is torch.qint32 else {}
    observer = MinMaxObserver.with_args(dtype=dtype, **limits)
    mapping = QConfigMapping().set_global(QConfig(observer, default_weight_observer))

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            y = self.linear(x)
            return y, {"sin": torch.sin(y), "rows": y.shape[0]}, y.reshape(-1)

    model, x = Network().eval(), rows()
    custom = PrepareCustomConfig().set_output_quantized_indexes([0, 1])
    prepared = prepare_fx(model, mapping, (x,), custom, backend_config=backends[backend])
    prepared(x)
    first, second, third = convert_to_reference_fx(prepared)(x)
    assert [dtype, dtype, torch.float32] == [first.dtype, second["sin"].dtype, third.dtype]
    assert 8 == second["rows"]
    step = float(first.q_scale())
    # Half a step of 8 bits each of input, weight and output, and the sums of six.
    assert float((first.dequantize() - model(x)[0]).abs().max()) < max(12 * step, 0.1)


def test_standalone_modules_pass_quantized_tensors_in_every_dtype() -> None:
    """Between them and the layer behind nothing is quantized again."""
    backend = own(torch.qint8)
    observer = MinMaxObserver.with_args(dtype=torch.qint8)
    mapping = QConfigMapping().set_global(QConfig(observer, default_weight_observer))
    model = nn.Sequential(nn.Linear(6, 6), nn.Sequential(nn.Linear(6, 6)), nn.Linear(6, 6))
    inner = PrepareCustomConfig().set_input_quantized_indexes([0]).set_output_quantized_indexes([0])
    x = rows()
    custom = PrepareCustomConfig().set_standalone_module_name("1", None, (x,), inner, backend)
    prepared = prepare_fx(model.eval(), mapping, (x,), custom, backend_config=backend)
    prepared(x)
    reference = convert_to_reference_fx(prepared)
    behind = next(node for node in reference.graph.nodes if node.target == "1").next
    assert ("dequantize", "2") == (behind.target, behind.next.target)
    reference(x)
