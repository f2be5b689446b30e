"""ResNet-18 and -50 and MobileNetV2, written once for both libraries.

``space`` is ``torch`` or ``pyqref``: the text is the same, as a script's is after its one
changed line.
"""

from __future__ import annotations

from typing import Any

__all__ = ["fused", "mobilenet_v2", "resnet18", "resnet50"]


def unit(space: Any, inputs: int, outputs: int, kernel: int, **how: Any) -> Any:
    """Convolution, batch norm, and ReLU unless ``relu=False``."""
    nn, relu = space.nn, how.pop("relu", True)
    layers = [
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=False, **how),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([nn.ReLU()] if relu else []))


def residual(space: Any, branch: Any, shortcut: Any, relu: bool) -> Any:
    """``branch(x) + shortcut(x)``, with a ReLU behind where asked for."""

    class Residual(space.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.branch, self.shortcut = branch, shortcut
            self.sum = space.ao.nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            add = self.sum.add_relu if relu else self.sum.add
            return add(self.branch(x), self.shortcut(x))

    return Residual()


def network(space: Any, body: list[Any], features: int) -> Any:
    """Stubs around a body, global average pooling and a classifier of 1,000 classes."""
    nn, ao = space.nn, space.ao.quantization
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(features, 1000)]
    return nn.Sequential(ao.QuantStub(), *body, *head, ao.DeQuantStub())


def _resnet(space: Any, depths: tuple[int, ...], bottleneck: bool) -> Any:
    body = [unit(space, 3, 64, 7, stride=2), space.nn.MaxPool2d(3, 2, 1)]
    inputs, growth = 64, 4 if bottleneck else 1
    for stage, depth in enumerate(depths):
        width = 64 << stage
        for block in range(depth):
            stride = 2 if stage and not block else 1
            if bottleneck:
                branch = [
                    unit(space, inputs, width, 1),
                    unit(space, width, width, 3, stride=stride),
                    unit(space, width, 4 * width, 1, relu=False),
                ]
            else:
                branch = [
                    unit(space, inputs, width, 3, stride=stride),
                    unit(space, width, width, 3, relu=False),
                ]
            outputs = growth * width
            if stride == 1 and inputs == outputs:
                shortcut = space.nn.Identity()
            else:
                shortcut = unit(space, inputs, outputs, 1, stride=stride, relu=False)
            body.append(residual(space, space.nn.Sequential(*branch), shortcut, relu=True))
            inputs = outputs
    return network(space, body, inputs)


def resnet18(space: Any) -> Any:
    """He et al. 2015, 18 layers."""
    return _resnet(space, (2, 2, 2, 2), bottleneck=False)


def resnet50(space: Any) -> Any:
    """He et al. 2015, 50 layers, the stride in the 3 x 3 convolution."""
    return _resnet(space, (3, 4, 6, 3), bottleneck=True)


def mobilenet_v2(space: Any) -> Any:
    """Sandler et al. 2018, with ReLU where the paper has ReLU6, as for quantization."""
    body, inputs = [unit(space, 3, 32, 3, stride=2)], 32
    rows = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)]
    rows += [(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, outputs, repeats, first_stride in rows:
        for block in range(repeats):
            stride, width = 1 if block else first_stride, inputs * expansion
            layers = [unit(space, inputs, width, 1)] if expansion > 1 else []
            layers.append(unit(space, width, width, 3, stride=stride, groups=width))
            layers.append(unit(space, width, outputs, 1, relu=False))
            branch = space.nn.Sequential(*layers)
            if stride == 1 and inputs == outputs:
                branch = residual(space, branch, space.nn.Identity(), relu=False)
            body.append(branch)
            inputs = outputs
    body.append(unit(space, inputs, 1280, 1))
    return network(space, body, 1280)


def fused(space: Any, model: Any, qat: bool = False) -> Any:
    """The model with every :func:`unit` fused."""
    names = []
    for path, module in model.named_modules():
        kinds = [type(child).__name__ for child in module.children()]
        if kinds[:2] == ["Conv2d", "BatchNorm2d"]:
            names.append([f"{path}.{i}" for i in range(len(kinds))])
    ao = space.ao.quantization
    return (ao.fuse_modules_qat if qat else ao.fuse_modules)(model, names)
