"""ResNet-18 and MobileNetV2, whole, in graph mode: pyqref and the installed torch 2.13, live.

    python tests/parity/networks.py [resnet18 | mobilenet_v2 ...]

Images are 64 x 64, the classes 1000. For inference and for training the graphs, every scale, zero
point and weight, the integers of every quantized value and the outputs are compared, twice:

end to end
    A float sum in another order, or a square root that torch does not round to the nearest float,
    moves a scale by its last bits, and that an integer next to a tie, which then moves others.
node by node
    Each node is given what torch's nodes gave (:mod:`parity.node_by_node`), and takes square roots
    as torch does. What then differs are the float sums of convolutions and linear layers, which are
    as near to double precision as torch's; every scale, zero point, weight and integer is equal.
"""

from __future__ import annotations

import copy
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from parity.eager_models import fill, random_values
from parity.fx_graphs import describe, graph_mode, images, numbers
from parity.node_by_node import run_node_by_node, torch_roots


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


def batch(torch: Any) -> Any:
    return images(torch, 7, 2, 3, 64, 64)


def prepared(torch: Any, name: str, qat: bool) -> Any:
    """The network, filled and prepared."""
    torch.backends.quantized.engine = "fbgemm"
    q, fx = torch.ao.quantization, graph_mode(torch)
    get = q.get_default_qat_qconfig_mapping if qat else q.get_default_qconfig_mapping
    model = fill(torch, MODELS[name](torch), random_values).train(qat)
    prepare = fx.prepare_qat_fx if qat else fx.prepare_fx
    return prepare(model, get("fbgemm"), (batch(torch),))


def converted(torch: Any, model: Any) -> tuple[dict[str, Any], list[Any]]:
    """The graphs and numbers that a calibrated model gives, and the integers when it runs."""
    fx = graph_mode(torch)
    found = {"prepared": describe(model.eval())}
    found["reference"] = describe(fx.convert_to_reference_fx(copy.deepcopy(model)))
    made = fx.convert_fx(model)
    found.update(converted=describe(made), keys=sorted(made.state_dict()), **numbers(made))
    return found, integers_of(torch, made)


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


def agree(label: str, ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> bool:
    """Print how two converted models compare; whether all is equal."""
    (mine, integers), (other, expected) = ours, theirs
    graphs = ("prepared", "reference", "converted", "keys")
    equal = all(mine[each] == other[each] for each in graphs)
    print(f"  {label}: {', '.join(graphs)} {'equal' if equal else 'DIFFER'}")
    for each in ("scales", "zero_points", "weights"):
        a, b = np.float64(mine[each]), np.float64(other[each])
        gap = np.abs(a - b) / (np.abs(b) if each == "scales" else 1)
        equal &= bool((a == b).all())
        print(f"    {each}: {int((a != b).sum()):,} of {a.size:,} differ, by {gap.max():.2g}")
    different = sum(int((a != b).sum()) for a, b in zip(integers, expected, strict=True))
    total = sum(each.size for each in expected)
    print(f"    {different:,} of {total:,} integers and outputs differ", flush=True)
    return equal and not different


def compared(name: str, qat: bool) -> bool:
    """Run both libraries and print how they compare; whether all agrees that must."""
    import torch

    import pyqref

    torch.set_num_threads(1)
    pyqref.backends.quantized.conventions = "torch"  # where fake quantization adds the zero point
    print(f"{name}{' training' if qat else ''}")

    def end_to_end(namespace: Any) -> tuple[Any, Any]:
        model = prepared(namespace, name, qat)
        with namespace.no_grad():
            model(batch(namespace))
        return converted(namespace, model)

    theirs = end_to_end(torch)
    agree("end to end", end_to_end(pyqref), theirs)
    with torch_roots() as roots:
        models = prepared(pyqref, name, qat), prepared(torch, name, qat)
        local = run_node_by_node(*models, batch(torch).numpy())
        ours, theirs = (converted(t, m) for t, m in zip((pyqref, torch), models, strict=True))
    if qat:
        print(
            f"  {roots.different:,} of {roots.elements:,} roots of torch are not the nearest float"
        )
    kinds = ", ".join(f"{n} {kind}" for kind, n in Counter(local.inexact.values()).items())
    print(f"  node by node: {local.exact} give the same bits; not {kinds}")
    print(
        f"    distance from double precision: ours {local.ours:.2g}, torch's {local.theirs:.2g}; "
        f"running statistics {local.statistics:.2g} from torch's"
    )
    return agree("converted from these", ours, theirs)


def main() -> int:
    """Run the models named, or both."""
    chosen = sys.argv[1:] or list(MODELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = [compared(name, qat) for name in chosen for qat in (False, True)]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
