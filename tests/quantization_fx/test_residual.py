"""Residual networks under the back end of onednn, which adds inside its convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyqref.ao.quantization import (
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.backend_config import get_onednn_backend_config
from pyqref.ao.quantization.quantize_fx import convert_fx, fuse_fx, prepare_fx, prepare_qat_fx

import pyqref as torch
from pyqref import nn


class Block(nn.Module):
    """Two convolutions with batch norm, the input of which is added by a function."""

    def __init__(self, add: Callable[[Any, Any, Any], Any], stride: int = 1) -> None:
        super().__init__()
        self.add, self.stride = add, stride
        self.conv1, self.conv2 = nn.Conv2d(4, 4, 3, stride, 1), nn.Conv2d(4, 4, 3, 1, 1)
        self.down, self.bn3 = nn.Conv2d(4, 4, 1, stride), nn.BatchNorm2d(4)
        self.bn1, self.bn2, self.relu = nn.BatchNorm2d(4), nn.BatchNorm2d(4), nn.ReLU()

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.add(self, y, x)


def shortcut(m: Any, y: Any, x: Any) -> Any:
    """Add the shortcut of a ResNet: the input, or a convolution of it where the size changes."""
    y += m.bn3(m.down(x)) if m.stride > 1 else x
    return m.relu(y)


def prepared(model: Any, x: Any, qat: bool = False) -> Any:
    torch.manual_seed(1)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.copy_(torch.randn(4))
    get = get_default_qat_qconfig_mapping if qat else get_default_qconfig_mapping
    prepare: Any = prepare_qat_fx if qat else prepare_fx
    made = prepare(model.train(qat), get("x86"), (x,), backend_config=get_onednn_backend_config())
    made(x)
    return made.eval()


#: Sums that no fused module can hold.
OTHERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "number": lambda m, y, x: y + 1.5,
    "size": lambda m, y, x: y + x.shape[0],
    "itself": lambda m, y, x: y + y,
    "alpha": lambda m, y, x: torch.add(y, x, alpha=2),
    "by_name": lambda m, y, x: torch.add(y, other=x),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_sums_are_not_fused(name: str) -> None:
    """Torch fuses them all the same, and fails; or drops ``alpha``."""
    torch.manual_seed(0)
    model, x = Block(OTHERS[name]).eval(), torch.randn(2, 4, 5, 5)
    fused = fuse_fx(model, backend_config=get_onednn_backend_config())
    assert {"Conv2d", "ConvReLU2d"} == {type(m).__name__ for m in fused.children()} - {"Module"}
    observed = prepared(model, x)
    expected = observed(x)
    # A step of 7 bits is about 0.05 here.
    assert float((convert_fx(observed)(x) - expected).abs().max()) < 0.2


def test_a_smaller_summand_is_broadcast() -> None:
    """Torch writes beyond the end of a buffer."""
    torch.manual_seed(0)
    model = Block(lambda m, y, x: m.relu(y + x.mean((2, 3), keepdim=True)))
    x = torch.randn(2, 4, 5, 5)
    observed = prepared(model, x)
    expected = observed(x)
    converted = convert_fx(observed)
    assert "ConvAddReLU2d" in {type(module).__name__ for module in converted.children()}
    assert float((converted(x) - expected).abs().max()) < 0.1


@pytest.mark.parametrize("qat", [False, True])
def test_resnet(qat: bool) -> None:
    """Each block is fused; for training, where torch fails, batch norm keeps its own sum."""
    torch.manual_seed(0)
    strides = (1, 1, 2, 1, 2, 1, 2, 1)
    blocks = nn.Sequential(*(Block(shortcut, stride) for stride in strides))
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3))
    model, x = nn.Sequential(blocks, *head), torch.randn(2, 4, 16, 16)
    observed = prepared(model, x, qat)
    expected = observed(x)
    converted = convert_fx(observed)
    kinds = [type(module).__name__ for module in converted.modules()]
    assert (0 if qat else 8) == kinds.count("ConvAddReLU2d")
    assert float((converted(x) - expected).abs().max()) < 0.1 * float(expected.abs().max())
