"""Padding of quantized convolutions: modes other than zeros, ``"same"`` and ``"valid"``."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.quantization import (
    DeQuantStub,
    QuantStub,
    convert,
    fuse_modules,
    fuse_modules_qat,
    get_default_qat_qconfig,
    get_default_qconfig,
    get_default_qconfig_mapping,
    prepare,
    prepare_qat,
)
from pyqref.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

MODES = ["zeros", "reflect", "replicate", "circular"]
FLOAT = {1: nn.Conv1d, 2: nn.Conv2d, 3: nn.Conv3d}
STATIC = {1: nn.quantized.Conv1d, 2: nn.quantized.Conv2d, 3: nn.quantized.Conv3d}
FUSED = {
    1: nn.intrinsic.quantized.ConvReLU1d,
    2: nn.intrinsic.quantized.ConvReLU2d,
    3: nn.intrinsic.quantized.ConvReLU3d,
}
DYNAMIC = {
    1: nn.quantized.dynamic.Conv1d,
    2: nn.quantized.dynamic.Conv2d,
    3: nn.quantized.dynamic.Conv3d,
}
#: Kernel, dilation, padding, and what that adds before and after each dimension.
PADDINGS: list[tuple[int, int, Any, tuple[int, int]]] = [
    (3, 1, 0, (0, 0)),
    (3, 1, 2, (2, 2)),
    (3, 1, "valid", (0, 0)),
    (3, 1, "same", (1, 1)),
    (3, 2, "same", (2, 2)),
    (4, 1, "same", (1, 2)),
    (2, 1, "same", (0, 1)),
]


def _input(spatial: int) -> Any:
    pyqref.manual_seed(0)
    return pyqref.randn(2, 4, *(7, 6, 5)[:spatial])


@pytest.mark.filterwarnings("ignore:Dynamic.*prefer a static convolution")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family", [STATIC, FUSED, DYNAMIC])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_the_input_is_padded_first(spatial: int, family: dict[int, Any], mode: str) -> None:
    """The layer gives what it gives without padding, of the input that ``pad`` makes."""
    x = _input(spatial)
    if family is not DYNAMIC:
        x = pyqref.quantize_per_tensor(x, 0.03, 100, pyqref.quint8)
    for kernel, dilation, padding, pair in PADDINGS:
        options = {"dilation": dilation, "groups": 2}
        layer = family[spatial](4, 6, kernel, padding=padding, padding_mode=mode, **options)
        bare = family[spatial](4, 6, kernel, **options)
        weight = pyqref.quantize_per_tensor(
            pyqref.randn(*layer.weight().shape), 0.02, 0, pyqref.qint8
        )
        for each in (layer, bare):
            each.set_weight_bias(weight, pyqref.linspace(-1, 1, 6))
            each.scale, each.zero_point = 0.05, 40
        padded = F.pad(x, pair * spatial, mode="constant" if mode == "zeros" else mode)
        expected, actual = bare(padded), layer(x)
        assert expected.shape == actual.shape
        assert expected.dequantize().tolist() == actual.dequantize().tolist()
        assert ("padding_mode" in repr(layer)) is (mode != "zeros")


class _Net(nn.Module):
    """A convolution, batch norm and ReLU, between stubs."""

    def __init__(self, spatial: int, mode: str, padding: Any) -> None:
        super().__init__()
        self.quant, self.dequant = QuantStub(), DeQuantStub()
        self.conv = FLOAT[spatial](4, 6, 3, padding=padding, padding_mode=mode)
        self.bn = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}[spatial](6)
        self.relu = nn.ReLU()

    def forward(self, x: Any) -> Any:
        return self.dequant(self.relu(self.bn(self.conv(self.quant(x)))))


def _static(model: Any, x: Any) -> tuple[Any, Any]:
    model.eval().qconfig = get_default_qconfig("fbgemm")
    model = prepare(fuse_modules(model, ["conv", "bn", "relu"]))
    return model(x), convert(model)(x)


def _qat(model: Any, x: Any) -> tuple[Any, Any]:
    model.train().qconfig = get_default_qat_qconfig("fbgemm")
    model = prepare_qat(fuse_modules_qat(model, ["conv", "bn", "relu"]))
    model(x)
    return model.eval()(x), convert(model)(x)


def _graph(model: Any, x: Any, finish: Any = convert_fx) -> tuple[Any, Any]:
    model = prepare_fx(model.eval(), get_default_qconfig_mapping("fbgemm"), (x,))
    return model(x), finish(model)(x)


def _reference(model: Any, x: Any) -> tuple[Any, Any]:
    return _graph(model, x, convert_to_reference_fx)


@pytest.mark.parametrize("workflow", [_static, _qat, _graph, _reference])
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_every_workflow_keeps_the_padding(spatial: int, workflow: Any) -> None:
    """The converted model agrees with the observed one; another padding is wrong by halves."""
    x = _input(spatial)
    for mode, padding in itertools.product(MODES, [1, "same"]):
        before, after = workflow(_Net(spatial, mode, padding), x)
        error = (before - after).abs().max().item()
        assert error < 0.1 * before.abs().max().item(), (mode, padding)


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_packing_takes_words(spatial: int) -> None:
    """``"valid"`` and ``"same"`` of an odd kernel are numbers; an even one gets the remedy."""
    prepack = getattr(ops, f"conv{spatial}d_prepack")
    odd, even = (
        pyqref.quantize_per_tensor(pyqref.ones(2, 2, *(n,) * spatial), 0.5, 0, pyqref.qint8)
        for n in (3, 4)
    )
    assert (0,) * spatial == prepack(odd, None, 2, "valid").padding
    assert (2,) * spatial == prepack(odd, None, 1, "same", 2).padding
    with pytest.raises(
        ValueError,
        match=r"'same' of an even kernel .*call nn.functional.pad\(x, \(1, 2.* on the input",
    ):
        prepack(even, None, 1, "same")
    with pytest.raises(ValueError, match="padding='same' needs stride 1"):
        prepack(odd, None, 2, "same")


def test_transposed_convolutions_take_numbers_alone() -> None:
    """Padding is numbers only, as in the float layers, since it is the output that is padded."""
    with pytest.raises(ValueError, match="padding must be one integer or 2 integers"):
        nn.quantized.ConvTranspose2d(2, 3, 3, padding="same")
    with pytest.raises(ValueError, match="padding_mode must be 'zeros', got 'reflect'"):
        nn.quantized.ConvTranspose2d(2, 3, 3, padding_mode="reflect")
