"""Input-weight equalization of graph mode: the function stays, and integers are used better."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref as torch
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.quantization import NotRepairedWarning, QConfigMapping, default_qconfig, quantize_fx
from pyqref.quantization.fx._equalize import (
    EqualizationQConfig,
    _InputEqualizationObserver,
    default_equalization_qconfig,
)

RNG = np.random.default_rng(0)
MAPPING = QConfigMapping().set_global(default_qconfig)
COLUMNS = QConfigMapping().set_global(default_equalization_qconfig)


def unlike(*shape: int, axis: int = 1) -> torch.Tensor:
    """Random numbers whose columns differ by a factor of ten each."""
    along = [1] * len(shape)
    along[axis] = -1
    sizes = 10.0 ** np.arange(-1, shape[axis] - 1).reshape(along)
    return torch.from_numpy((RNG.uniform(-1, 1, shape) * sizes).astype(np.float32))


class Functions(nn.Module):
    """Linear functions whose weights are parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.b = nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.randn(4))
        self.v = nn.Parameter(torch.randn(2, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(F.relu(F.linear(x, self.w, bias=self.b)), weight=self.v)


class Twice(nn.Module):
    """A ReLU as a method, a residual connection, and a layer behind both."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.a(x).relu()
        return self.c(self.b(y) + y)


def networks() -> dict[str, tuple[Any, torch.Tensor]]:
    """What torch equalizes, and what it equalizes wrongly."""
    conv, linear, relu = nn.Conv2d, nn.Linear, nn.ReLU
    return {
        "chain": (nn.Sequential(linear(3, 4), relu(), linear(4, 2)), unlike(9, 3)),
        "sequences": (nn.Sequential(linear(3, 4), linear(4, 2)), unlike(4, 5, 3, axis=2)),
        "conv": (
            nn.Sequential(conv(3, 4, 2), nn.BatchNorm2d(4), relu(), conv(4, 2, 1)),
            unlike(2, 3, 5, 5),
        ),
        "pool": (nn.Sequential(conv(3, 4, 2), nn.MaxPool2d(2), conv(4, 2, 1)), unlike(2, 3, 5, 5)),
        "relu6": (nn.Sequential(linear(3, 4), nn.ReLU6(), linear(4, 2)), unlike(9, 3)),
        "functions": (Functions(), unlike(9, 3)),
        "residual": (Twice(), unlike(9, 3)),
    }


def error(model: Any, x: torch.Tensor, columns: Any, convert: Any) -> float:
    """The error of the converted model beside the largest output."""
    prepared = quantize_fx.prepare_fx(model, MAPPING, (x,), _equalization_config=columns)
    prepared(x)
    y = model(x)
    return float((convert(prepared)(x) - y).abs().max() / y.abs().max())


@pytest.mark.parametrize("name", networks())
def test_the_function_stays(name: str) -> None:
    """A reference and a converted model are as near to the float model as eight bits allow."""
    _ = torch.manual_seed(0)
    model, x = networks()[name]
    model.eval()
    for convert in (quantize_fx.convert_to_reference_fx, quantize_fx.convert_fx):
        assert error(model, x, COLUMNS, convert) < 0.1


def test_small_columns_are_seen_again() -> None:
    """A small column with a large weight is lost in eight bits, and kept after equalization."""
    model = nn.Sequential(nn.Linear(2, 2, bias=False)).eval()
    model[0].weight.data = torch.tensor([[100.0, 0.01], [-100.0, -0.01]])
    x = torch.tensor([[0.01, 100.0], [-0.01, 100.0], [0.0, -100.0], [0.005, 0.0]])
    before, after = (
        error(model, x, columns, quantize_fx.convert_fx) for columns in (None, COLUMNS)
    )
    assert before > 0.4
    assert after < 0.03


def test_a_layer_before_that_is_not_equalized_multiplies_nothing() -> None:
    """Then a product stands in the graph, as in front of the first layer."""
    model, x = networks()["chain"]
    columns = QConfigMapping().set_module_name("2", default_equalization_qconfig)
    prepared = quantize_fx.prepare_fx(model.eval(), MAPPING, (x,), _equalization_config=columns)
    prepared(x)
    names = [node.name for node in quantize_fx.convert_to_reference_fx(prepared).graph.nodes]
    assert names.index("_0") < names.index("mul") < names.index("_2")
    assert error(model, x, columns, quantize_fx.convert_to_reference_fx) < 0.1


def test_the_prepared_model_stays_as_it_was() -> None:
    """It converts again with the same result, and calibrates further."""
    model, x = networks()["conv"]
    prepared = quantize_fx.prepare_fx(model.eval(), MAPPING, (x,), _equalization_config=COLUMNS)
    prepared(x)
    state = {name: value.clone() for name, value in prepared.state_dict().items()}
    first, second = (quantize_fx.convert_fx(prepared)(x) for _ in range(2))
    assert (first == second).all()
    for name, value in prepared.state_dict().items():
        assert np.array_equal(state[name].numpy(), value.numpy()), name


def test_an_uncalibrated_model_has_no_factors() -> None:
    """Nothing is scaled by what was never measured."""
    model, x = networks()["chain"]
    prepared = quantize_fx.prepare_fx(model.eval(), MAPPING, (x,), _equalization_config=COLUMNS)
    with pytest.warns(UserWarning, match="run the prepared model on calibration data"):
        converted = quantize_fx.convert_fx(prepared)
    assert not any("mul" in node.name for node in converted.graph.nodes)


@pytest.mark.parametrize(
    ("model", "x", "reason"),
    [
        (nn.Sequential(nn.Conv2d(4, 4, 1, groups=2)), torch.ones(1, 4, 2, 2), "has 2 groups"),
        (nn.Sequential(*[nn.Linear(2, 2)] * 2), torch.ones(1, 2), "is called more than once"),
    ],
)
def test_what_cannot_be_equalized_is_named(model: Any, x: torch.Tensor, reason: str) -> None:
    """The warning has the path and the reason, and another says that nothing is left."""
    with (
        pytest.warns(NotRepairedWarning, match=f"prepare_fx: 0: .*{reason}"),
        pytest.warns(NotRepairedWarning, match="equalizes nothing"),
    ):
        quantize_fx.prepare_fx(model.eval(), MAPPING, (x,), _equalization_config=COLUMNS)


def test_configs_are_not_mixed_up() -> None:
    """Each of the two mappings refuses the entries of the other."""
    model, x = networks()["chain"]
    model.eval()
    with pytest.raises(TypeError, match="must hold EqualizationQConfigs or None, got QConfig"):
        quantize_fx.prepare_fx(model, MAPPING, (x,), _equalization_config=MAPPING)
    with pytest.raises(TypeError, match="must hold QConfigs or None, got EqualizationQConfig"):
        quantize_fx.prepare_fx(model, COLUMNS, (x,))
    with pytest.raises(TypeError, match="_equalization_config must be a QConfigMapping or a dict"):
        quantize_fx.prepare_fx(model, MAPPING, (x,), _equalization_config=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="with two to five dimensions, got 1"):
        _InputEqualizationObserver()(torch.ones(3))


def test_recipes_may_be_others() -> None:
    """A dictionary is a mapping, and an EqualizationQConfig takes any recipe of the two."""
    model, x = networks()["chain"]
    own = EqualizationQConfig(_InputEqualizationObserver.with_args(dtype=torch.qint8))
    default, other = (
        error(model.eval(), x, {"": each}, quantize_fx.convert_fx)
        for each in (default_equalization_qconfig, own)
    )
    assert default == other
