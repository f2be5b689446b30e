"""``example_inputs``: what is accepted, and what cannot be right."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from pyqref.ao.quantization import (
    ExampleInputsWarning,
    QConfigMapping,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.fx.custom_config import PrepareCustomConfig
from pyqref.ao.quantization.quantize_fx import prepare_fx, prepare_qat_fx

import pyqref as torch
from pyqref import nn

IMAGE, ROW = torch.ones(2, 3, 8, 8), torch.ones(2, 6)


class Two(nn.Module):
    """An image and a row; the row is optional."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn, self.relu = nn.Conv2d(3, 6, 3), nn.BatchNorm2d(6), nn.ReLU()
        self.linear = nn.Linear(6, 6)

    def forward(self, image: Any, row: Any = 0.0) -> Any:
        y = self.relu(self.bn(self.conv(image)))
        return self.linear(y.mean((2, 3))) + self.linear(row)


class Named(nn.Module):
    """One dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)

    def forward(self, inputs: Any) -> Any:
        return self.linear(inputs["row"])


def prepare(model: Any, example_inputs: Any, qat: bool = False) -> None:
    get = get_default_qat_qconfig_mapping if qat else get_default_qconfig_mapping
    made: Any = prepare_qat_fx if qat else prepare_fx
    made(model.train(qat), get(), example_inputs)


@pytest.mark.parametrize("qat", [False, True])
@pytest.mark.parametrize(
    "given",
    [
        (IMAGE, ROW), [IMAGE, ROW], (IMAGE,), (IMAGE[0],), IMAGE, IMAGE.numpy(),
        (IMAGE.numpy(), ROW), None, {"image": IMAGE}, {"image": IMAGE, "row": ROW},
    ],
    ids=lambda given: type(given).__name__,
)  # fmt: skip
def test_what_torch_accepts_is_accepted(given: Any, qat: bool) -> None:
    """Inputs that torch accepts are accepted in silence."""
    prepare(Two(), given, qat)


@pytest.mark.parametrize("given", [({"row": ROW},), {"row": ROW}, {"inputs": {"row": ROW}}, None])
def test_a_dictionary_may_be_one_input(given: Any) -> None:
    """A dictionary may be one input, and inputs by name may be one."""
    prepare(Named(), given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), r"forward takes \(image.*missing a required argument: 'image'"),
        ((IMAGE, ROW, ROW), "too many positional arguments"),
        ({"image": IMAGE[:, :1]}, r"'image' of shape \(2, 1, 8, 8\)"),
        (
            (IMAGE.reshape(2, 8, 8, 3),),
            r"'image' of shape \(2, 8, 8, 3\).*'conv', which takes 3 in",
        ),
        (ROW, "'conv', whose input has 3 or 4 dimensions"),
        ((IMAGE, torch.ones(2, 5)), r"'row' of shape \(2, 5\).*'linear', which takes 6 in"),
    ],
)
@pytest.mark.parametrize("qat", [False, True])
def test_what_cannot_be_is_told(given: Any, message: str, qat: bool) -> None:
    """Too few, too many or badly shaped inputs are reported."""
    with pytest.warns(ExampleInputsWarning, match=message):
        prepare(Two(), given, qat)


@pytest.mark.filterwarnings("ignore:prepare_fx. .* float, because")
@pytest.mark.filterwarnings("ignore:prepare_fx. nothing will be")
@pytest.mark.parametrize(
    ("layer", "fits", "does_not"),
    [
        (nn.Linear(6, 2), (6,), (5,)),
        (nn.Conv1d(3, 2, 1), (1, 3, 4), (1, 4, 3)),
        (nn.Conv3d(3, 2, 1), (3, 4, 4, 4), (2, 4, 4, 4)),
        (nn.ConvTranspose2d(3, 2, 1), (1, 3, 4, 4), (1, 4, 4, 3)),
        (nn.BatchNorm2d(3), (1, 3, 4, 4), (1, 4, 4, 3)),
        (nn.LSTM(3, 2), (4, 1, 3), (4, 3, 1)),
        (nn.GRUCell(3, 2), (1, 3), (3, 1)),
        (nn.Sequential(nn.Conv2d(3, 2, 1), nn.ReLU()), (1, 3, 4, 4), (1, 1, 4, 4)),
    ],
    ids=lambda each: type(each).__name__,
)
def test_first_layers(layer: Any, fits: tuple[int, ...], does_not: tuple[int, ...]) -> None:
    """Each knows the size of one dimension of its input, quantized or not."""
    model = nn.Sequential(layer).eval()
    for mapping in (get_default_qconfig_mapping(), QConfigMapping()):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", category=ExampleInputsWarning)
            prepare_fx(model, mapping, (torch.ones(*fits),))
        with pytest.warns(ExampleInputsWarning, match="does not fit the first layer"):
            prepare_fx(model, mapping, (torch.ones(*does_not),))


def test_what_goes_by_name_alone_may_be_missing() -> None:
    """A tuple has no place for it; the message names what else is missing."""

    class Masked(nn.Module):
        def forward(self, x: Any, *, mask: Any) -> Any:
            return x * mask

    prepare(Masked(), (ROW,))
    prepare(Masked(), {"x": ROW, "mask": ROW})
    with pytest.warns(ExampleInputsWarning, match="missing a required argument: 'x'"):
        prepare(Masked(), ())


def test_standalone_modules_take_the_same() -> None:
    """Standalone modules may have a tensor or None as their example inputs."""
    model = nn.Sequential(nn.Sequential(nn.Linear(6, 6))).eval()
    for given in (ROW, None, (ROW,)):
        custom = PrepareCustomConfig().set_standalone_module_name("0", None, given, None, None)
        prepare_fx(model, get_default_qconfig_mapping(), ROW, custom)
