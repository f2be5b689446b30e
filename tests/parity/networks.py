"""ResNet-18 and MobileNetV2, whole, in graph mode: pyqref and the installed torch 2.13, live.

    python tests/parity/networks.py [resnet18 | mobilenet_v2 ...]

Images are 64 x 64, the classes 1000. For inference and for training the three graphs, every scale,
zero point and weight, the integers of every quantized value and the outputs are compared. A float
sum in another order may move a scale by its last bits, and that an integer next to a tie; how far
that goes is seen where torch is compared with itself, its images moved by a part in four million.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from parity.cases.eager import random_values
from parity.fx_graphs import images, workflow


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


def run(torch: Any, name: str, qat: bool, nudge: float = 0.0) -> dict[str, Any]:
    """The whole workflow; the images may be moved by a small part."""
    start = time.perf_counter()
    x = images(torch, 7, 2, 3, 64, 64) * (1.0 + nudge)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = workflow(torch, MODELS[name](torch), (x,), values=random_values, qat=qat)
    print(f"  {torch.__name__}: {time.perf_counter() - start:.0f} s", flush=True)
    return made


def tell(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Print how far numbers, integers and outputs are apart."""
    for each in ("scales", "zero_points", "weights"):
        a, b = (np.float64(one["numbers"][each]) for one in (ours, theirs))
        if a.shape != b.shape:
            print(f"  {each}: {a.shape}, torch has {b.shape}")
            continue
        relative = np.abs(a - b) / np.maximum(np.abs(b), 1e-30 if each == "scales" else 1)
        largest = relative.max(initial=0.0)
        print(f"  {each}: {int((a != b).sum())} of {a.size} differ, by {largest:.2g} relative")
    different = int((ours["integers"] != theirs["integers"]).sum())
    print(f"  quantized values: {different} of {len(theirs['integers'])} tensors not equal")
    for each in ("reference_output", "output"):
        a, b = (one[each][0][""].detach().numpy() for one in (ours, theirs))
        found = np.unique(b)
        steps = np.abs(a - b) / np.diff(found)[np.diff(found) > 1e-5].min()
        count = int((steps > 0.5).sum())
        print(f"  {each}: {count} of {a.size} differ by half a step, by {steps.max():.3g} at most")


def compared(name: str, qat: bool) -> bool:
    """Run both libraries and print how they compare; whether the structure is the same."""
    import torch

    import pyqref

    torch.set_num_threads(1)
    theirs, ours = run(torch, name, qat), run(pyqref, name, qat)
    texts = ("prepared", "reference", "converted", "keys")
    same = {each: theirs[each] == ours[each] for each in texts}
    nodes = theirs["converted"].count("\n") + 1
    print(f"{name}{' training' if qat else ''}: {nodes} nodes when converted; equal: {same}")
    tell(ours, theirs)
    print("torch and torch, with images moved by 2**-22:")
    tell(run(torch, name, qat, 2.0**-22), theirs)
    return all(same.values())


def main() -> int:
    """Run the models named, or both."""
    chosen = sys.argv[1:] or list(MODELS)
    same = [compared(name, qat) for name in chosen for qat in (False, True)]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
