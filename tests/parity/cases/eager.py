"""Whole workflows of eager mode: every scale, zero point, stored integer and output.

The scripts are those a user would write; the same numbers go in on both sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import Bound, parity_case

FLOAT_OUTPUT = Bound("float32 sums of a few hundred terms, in another order", relative=1e-5)


def fill(torch: Any, model: Any, seed: int) -> Any:
    """Give all parameters and running statistics reproducible values."""
    rng = np.random.default_rng(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            fan = int(np.prod(parameter.shape[1:])) or 1
            values = rng.standard_normal(tuple(parameter.shape)) / np.sqrt(fan)
            if "bn" in name and name.endswith("weight"):
                values = 1 + 0.2 * values
            parameter.copy_(torch.from_numpy(values.astype(np.float32)))
        for name, buffer in sorted(model.named_buffers()):
            if name.endswith("running_mean"):
                values = rng.standard_normal(tuple(buffer.shape)) * 0.1
                buffer.copy_(torch.from_numpy(values.astype(np.float32)))
            if name.endswith("running_var"):
                values = rng.uniform(0.5, 1.5, tuple(buffer.shape))
                buffer.copy_(torch.from_numpy(values.astype(np.float32)))
    return model


def images(torch: Any, seed: int, count: int = 8) -> Any:
    x = np.random.default_rng(seed).standard_normal((count, 2, 8, 8)).astype(np.float32)
    return torch.from_numpy(x)


def residual_network(torch: Any) -> Any:
    """Conv-bn-relu blocks, a sum through FloatFunctional, pooling, a linear head."""
    nn, q = torch.nn, torch.ao.quantization

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant = q.QuantStub()
            self.conv1 = nn.Conv2d(2, 8, 3, padding=1)
            self.bn1 = nn.BatchNorm2d(8)
            self.relu1 = nn.ReLU()
            self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(8)
            self.skip = torch.ao.nn.quantized.FloatFunctional()
            self.pool = nn.MaxPool2d(2)
            self.conv3 = nn.Conv2d(8, 6, 3, stride=2)
            self.relu3 = nn.ReLU()
            self.head = nn.Linear(6, 3)
            self.dequant = q.DeQuantStub()

        def forward(self, x: Any) -> Any:
            x = self.relu1(self.bn1(self.conv1(self.quant(x))))
            x = self.skip.add_relu(x, self.bn2(self.conv2(x)))
            x = self.relu3(self.conv3(self.pool(x)))
            return self.dequant(self.head(x.reshape(x.shape[0], -1)))

    return fill(torch, Network(), 0)


FUSED = [["conv1", "bn1", "relu1"], ["conv2", "bn2"], ["conv3", "relu3"]]


def stored(model: Any) -> dict[str, Any]:
    """Quantized weights, and scales and zero points of all layers, by path."""
    found: dict[str, Any] = {}
    for path, module in model.named_modules():
        if callable(getattr(module, "weight", None)):
            found[f"{path}/weight"] = module.weight()
        if hasattr(module, "scale") and hasattr(module, "zero_point"):
            found[f"{path}/scale"] = float(module.scale)
            found[f"{path}/zero_point"] = int(module.zero_point)
    return found


def static(torch: Any, engine: str, qconfig: Any) -> dict[str, Any]:
    torch.backends.quantized.engine = engine
    q = torch.ao.quantization
    model = q.fuse_modules(residual_network(torch).eval(), FUSED)
    model.qconfig = qconfig
    prepared = q.prepare(model)
    # Zeros are calibrated as powers of two are: float sums in any order agree enough
    # for the ranges to be compared within the bound of one rounding.
    for seed in (1, 2):
        prepared(images(torch, seed))
    quantized = q.convert(prepared)
    return {"stored": stored(quantized), "output": quantized(images(torch, 3))}


BOUNDS = {
    "stored/*/scale": Bound("ranges of float32 sums, in another order", relative=1e-5),
    "*/scales": Bound("folded weights, in another order", relative=1e-6),
}


def set_parameters(torch: Any, model: Any) -> None:
    """Output parameters that depend on no float sum, so that integers compare exactly."""
    for path, module in model.named_modules():
        if hasattr(module, "activation_post_process") and path:
            observer = module.activation_post_process
            observer.min_val = torch.tensor(0.0 if "relu" in path else -2.0)
            observer.max_val = torch.tensor(2.5)


def static_exact(torch: Any, engine: str, qconfig: Any) -> dict[str, Any]:
    torch.backends.quantized.engine = engine
    q = torch.ao.quantization
    model = residual_network(torch).eval()
    model = q.fuse_modules(model, [["conv3", "relu3"]])
    model.bn1, model.bn2, model.relu1 = (torch.nn.Identity() for _ in range(3))
    model.qconfig = qconfig
    prepared = q.prepare(model)
    prepared(images(torch, 1))
    set_parameters(torch, prepared)
    quantized = q.convert(prepared)
    integers = {}

    def keep(path: str) -> Any:
        def hook(module: Any, args: Any, output: Any) -> None:
            integers[path] = output

        return hook

    for path, module in quantized.named_children():
        module.register_forward_hook(keep(path))
    output = quantized(images(torch, 3))
    return {"stored": stored(quantized), "integers": integers, "output": output}


@parity_case()
def static_per_tensor_fbgemm(torch: Any) -> dict[str, Any]:
    return static_exact(torch, "fbgemm", torch.ao.quantization.default_qconfig)


@parity_case()
def static_per_channel_fbgemm(torch: Any) -> dict[str, Any]:
    return static_exact(torch, "fbgemm", torch.ao.quantization.default_per_channel_qconfig)


@parity_case()
def static_per_channel_x86(torch: Any) -> dict[str, Any]:
    return static_exact(torch, "x86", torch.ao.quantization.default_per_channel_qconfig)


@parity_case()
def static_qnnpack(torch: Any) -> dict[str, Any]:
    return static_exact(torch, "qnnpack", torch.ao.quantization.default_qconfig)
