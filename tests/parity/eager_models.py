"""Parts that the cases of eager mode share: numbers, a network, and results of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import Bound, joined

FLOAT_SUMS = Bound("float32 sums of up to 72 terms, in another order", relative=1e-5)


def exact_values(rng: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Multiples of 1/4, and factors of batch norm whose square roots are powers of two."""
    if name.endswith("running_var"):
        return rng.choice([0.25, 1.0, 4.0], shape)
    if "bn" in name and name.endswith("weight"):
        return rng.choice([0.5, 1.0], shape)
    if name.endswith("weight"):
        return rng.integers(-2, 3, shape) / 4
    return rng.integers(-4, 5, shape) / 4


def random_values(rng: Any, name: str, shape: tuple[int, ...]) -> Any:
    """Numbers as a trained network may have them."""
    if name.endswith("running_var"):
        return rng.uniform(0.5, 1.5, shape)
    if name.endswith(("running_mean", "bias")):
        return rng.standard_normal(shape) * 0.1
    if "bn" in name:
        return 1 + 0.2 * rng.standard_normal(shape)
    return rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))


def fill(torch: Any, model: Any, values: Any, seed: int = 0) -> Any:
    """Give parameters and running statistics reproducible values."""
    rng = np.random.default_rng(seed)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    with torch.no_grad():
        for name in sorted(state):
            if not name.endswith("num_batches_tracked"):
                made = values(rng, name, tuple(state[name].shape))
                state[name].copy_(torch.from_numpy(np.asarray(made, np.float32)))
    return model


def images(torch: Any, seed: int, count: int = 8) -> Any:
    """Multiples of 1/4 between -2 and 2."""
    x = np.random.default_rng(seed).integers(-8, 9, (count, 2, 8, 8)) / 4
    return torch.from_numpy(x.astype(np.float32))


def residual_network(torch: Any, eps: float = 0.0) -> Any:
    """Conv-bn-relu blocks, a sum through FloatFunctional, pooling, a linear head."""
    nn, q = torch.nn, torch.ao.quantization

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant = q.QuantStub()
            self.conv1 = nn.Conv2d(2, 8, 3, padding=1)
            self.bn1 = nn.BatchNorm2d(8, eps=eps)
            self.relu1 = nn.ReLU()
            self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(8, eps=eps)
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

    return Network()


FUSED = [["conv1", "bn1", "relu1"], ["conv2", "bn2"], ["conv3", "relu3"]]


def parts(tensor: Any) -> dict[str, Any]:
    """Integers, scales and zero points of a quantized tensor."""
    if "per_channel" in str(tensor.qscheme()):
        scales, zero_points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
        found = {"scales": scales.numpy(), "zero_points": zero_points.numpy()}
    else:
        found = {
            "scale": np.float64([tensor.q_scale()]),
            "zero_point": np.int64([tensor.q_zero_point()]),
        }
    return {"integers": tensor.int_repr().numpy().ravel().copy(), **found}


def stored(model: Any) -> dict[str, Any]:
    """Quantized weights, and scales and zero points of all layers."""
    weights, outputs = [], []
    for _, module in model.named_modules():
        if callable(getattr(module, "weight", None)):
            weights.append(parts(module.weight()))
        if hasattr(module, "scale") and hasattr(module, "zero_point"):
            scale, zero_point = float(module.scale), int(module.zero_point)
            outputs.append({"scale": np.float64([scale]), "zero_point": np.int64([zero_point])})
    return {"weights": joined(weights), "outputs": joined(outputs)}


def outputs(model: Any, x: Any) -> dict[str, Any]:
    """The integers that every layer gives, and the result."""
    kept: list[Any] = []

    def keep(module: Any, args: Any, output: Any) -> None:
        if output.is_quantized:
            kept.append(parts(output))

    for _, module in model.named_children():
        if type(module).__name__ != "Identity":
            module.register_forward_hook(keep)
    return {"output": model(x), "layers": joined(kept)}
