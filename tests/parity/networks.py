"""ResNet-18 and MobileNetV2, whole, in graph mode: pyqref and the installed torch 2.13, live.

    python tests/parity/networks.py [resnet18 | mobilenet_v2 ...]

Images are 64 x 64, the classes 1000. For inference and for training the graphs, every scale, zero
point and weight, the integers of every quantized value and the outputs are compared. A float sum
in another order may move a scale by its last bits, and that an integer next to a tie, which then
moves others; so the integers are compared once more when pyqref's model has taken over the scales
and weights of torch's: then all are equal.
"""

from __future__ import annotations

import copy
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from parity.eager_models import fill, random_values
from parity.fx_graphs import describe, graph_mode, images, numbers


def resnet18(torch: Any) -> Any:
    """Basic blocks, two of each width."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.downsample = None
            if stride > 1:
                shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(outputs))

        def forward(self, x: Any) -> Any:
            y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)

    stem = (nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True))
    blocks, inputs = [], 64
    for outputs in (64, 128, 256, 512):
        blocks += [Block(inputs, outputs, 1 + (outputs > inputs)), Block(outputs, outputs, 1)]
        inputs = outputs
    head = (nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(1), nn.Linear(512, 1000))
    return nn.Sequential(*stem, nn.MaxPool2d(3, 2, 1), *blocks, *head)


def mobilenet_v2(torch: Any) -> Any:
    """Inverted residuals: seventeen of seven kinds."""
    nn = torch.nn

    def conv(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> list[Any]:
        layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
        return [layer, nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True)]

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int, widen: int) -> None:
            super().__init__()
            wide = inputs * widen
            layers = conv(inputs, wide, 1) if widen > 1 else []
            layers += [*conv(wide, wide, 3, stride, wide), *conv(wide, outputs, 1)[:2]]
            self.conv = nn.Sequential(*layers)
            self.adds = stride == 1 and inputs == outputs

        def forward(self, x: Any) -> Any:
            return x + self.conv(x) if self.adds else self.conv(x)

    layers, inputs = conv(3, 32, 3, 2), 32
    for widen, outputs, count, stride in (
        *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
        *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
    ):
        for index in range(count):
            layers.append(Block(inputs, outputs, stride if index == 0 else 1, widen))
            inputs = outputs
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(1), nn.Dropout(0.0), nn.Linear(1280, 1000))
    return nn.Sequential(*layers, *conv(320, 1280, 1), *head)


MODELS = {"resnet18": resnet18, "mobilenet_v2": mobilenet_v2}


def converted(torch: Any, name: str, qat: bool) -> tuple[dict[str, Any], Any]:
    """The whole workflow on one batch: what it made, and the lowered model."""
    torch.backends.quantized.engine = "fbgemm"
    q, fx = torch.ao.quantization, graph_mode(torch)
    get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
    model = fill(torch, MODELS[name](torch), random_values).train(qat)
    prepare = fx.prepare_qat_fx if qat else fx.prepare_fx
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        prepared = prepare(model, get("fbgemm"), (batch(torch),))
        found = {"prepared": describe(prepared)}
        prepared(batch(torch))
        prepared.eval()
        found["reference"] = describe(fx.convert_to_reference_fx(copy.deepcopy(prepared)))
        made = fx.convert_fx(prepared)
    found.update(converted=describe(made), keys=sorted(made.state_dict()), **numbers(made))
    return found, made


def batch(torch: Any) -> Any:
    return images(torch, 7, 2, 3, 64, 64)


def take_grids(ours: Any, theirs: Any) -> None:
    """Give our lowered model the scales, zero points, weights and biases of torch's."""
    from pyqref.interop.arrays import to_value

    modules, buffers = dict(ours.named_modules()), dict(ours.named_buffers())
    for path, module in theirs.named_modules():
        mine = modules[path]
        packed = callable(getattr(module, "weight", None)) and hasattr(module, "bias")
        if packed and hasattr(mine, "set_weight_bias"):
            bias = module.bias()
            mine.set_weight_bias(
                to_value(module.weight()), None if bias is None else to_value(bias)
            )
        if hasattr(module, "scale"):
            mine.scale, mine.zero_point = float(module.scale), int(module.zero_point)
    for path, buffer in theirs.named_buffers():
        buffers[path].copy_(to_value(buffer))


def integers_of(torch: Any, model: Any) -> list[Any]:
    """The stored integers of every quantized value, and the output."""
    found: list[Any] = []

    class Listen(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            value = super().run_node(n)
            if getattr(value, "is_quantized", False) is True:
                found.append(value.int_repr().numpy().copy())
            return value

    with torch.no_grad():
        output = Listen(model).run(batch(torch))
    return [*found, output.detach().numpy()]


def count_different(ours: list[Any], theirs: list[Any]) -> str:
    different = sum(int((a != b).sum()) for a, b in zip(ours, theirs, strict=True))
    return f"{different:,} of {sum(each.size for each in theirs):,} integers and outputs differ"


def compared(name: str, qat: bool) -> bool:
    """Run both libraries and print how they compare; whether all agrees that must."""
    import torch

    import pyqref

    torch.set_num_threads(1)
    (theirs, their_model), (ours, model) = (converted(t, name, qat) for t in (torch, pyqref))
    same = {key: theirs[key] == ours[key] for key in ("prepared", "reference", "converted", "keys")}
    print(f"{name}{' training' if qat else ''}: equal: {same}")
    for each in ("scales", "zero_points", "weights"):
        a, b = np.float64(ours[each]), np.float64(theirs[each])
        gap = np.abs(a - b) / (np.abs(b) if each == "scales" else 1)
        print(f"  {each}: {int((a != b).sum()):,} of {a.size:,} differ, by {gap.max():.2g}")
    expected = integers_of(torch, their_model)
    print(f"  {count_different(integers_of(pyqref, model), expected)}")
    take_grids(model, their_model)
    found = count_different(integers_of(pyqref, model), expected)
    print(f"  with torch's scales: {found}", flush=True)
    return all(same.values()) and found.startswith("0 ")


def main() -> int:
    """Run the models named, or both."""
    chosen = sys.argv[1:] or list(MODELS)
    same = [compared(name, qat) for name in chosen for qat in (False, True)]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
