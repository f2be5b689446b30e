"""Each function becomes operators that compute it, and comes back from them."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref import export, nn
from pyqref.interop import from_onnx
from pyqref.nn import functional as F

onnx = pytest.importorskip("onnx")

from export.runtimes import evaluated  # noqa: E402


def turned(*parts):
    """Tensors side by side."""
    return pyqref.cat(parts, 1)


#: What moves elements, picks them or compares them: exact, also for another length of the batch.
EXACT = {
    "relu6": F.relu6,
    "clamp": lambda x: x.clamp(min=0).clamp(-1, 0.5),
    "max_pool2d": lambda x: F.max_pool2d(x, 3, 2, 1, 1, True),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, (4, 2)),
    "getitem": lambda x: x[:, 1, None, ..., 2:],
    "getitem backwards": lambda x: x[..., -1],
    "split": lambda x: x.split([1, 3], 1)[1],
    "chunk": lambda x: turned(*(x.chunk(2, 1)[n] for n in (1, 0))),
    "stack": lambda x: pyqref.stack([x, -x], 1),
    "unsqueeze": lambda x: x.unsqueeze(1).squeeze(1),
    "view": lambda x: x.view(x.size(0) * x.size(1), -1),
    "permute": lambda x: x.permute(0, 2, 3, 1).reshape(-1, 4),
    "expand": lambda x: x[:, :, :1, :1].expand(-1, -1, 3, 3),
    "amax": lambda x: x.amax(1),
    "interpolate": lambda x: F.interpolate(x, scale_factor=2),
    "pad": lambda x: F.pad(F.pad(x, (1, 2, 0, 1)), (1, 1, 2, 0), mode="reflect"),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "leaky_relu": lambda x: F.leaky_relu(x, 0.25),
    "arithmetic": lambda x: (1 - x) * 2 + x / 4,
}
#: What rounds: sums of up to 16 numbers below 8, or functions of another library.
ROUNDED = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1, False, False),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, (4, 2)),
    "mean": lambda x: x.mean((2, 3), keepdim=True),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False),
    "softmax": lambda x: F.log_softmax(F.softmax(x, 1), 1),
    "gelu": F.gelu,
    "silu": F.silu,
    "mish": F.mish,
    "elu": lambda x: F.elu(x, 0.5),
    "hardsigmoid": lambda x: F.hardsigmoid(F.hardswish(x)),
    "matmul": lambda x: x @ x.transpose(2, 3),
    "layer_norm": lambda x: F.layer_norm(x, (8,)),
}
BOUND = 16 * 8 * 2.0**-24


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.parametrize("name", [*EXACT, *ROUNDED])
def test_each_function(name, tmp_path):
    """The evaluator and the graph that comes back give what the function gives."""
    function = EXACT.get(name) or ROUNDED[name]
    pyqref.manual_seed(0)
    x = pyqref.randn(3, 4, 8, 8).clamp(-2.5, 2.5)
    export.onnx(Function(function), x[:2], tmp_path / "model.onnx", dynamic_batch=True)
    written = onnx.load(tmp_path / "model.onnx")
    assert ["batch", 4, 8, 8] == [
        each.dim_param or each.dim_value
        for each in written.graph.input[0].type.tensor_type.shape.dim
    ]
    expected, back = function(x).numpy(), from_onnx(tmp_path / "model.onnx")(x).detach().numpy()
    (result,) = evaluated(written, x.numpy()).values()
    bound = 0 if name in EXACT else BOUND
    assert expected.shape == result.shape == back.shape
    assert max(np.abs(expected - result).max(), np.abs(expected - back).max()) <= bound
