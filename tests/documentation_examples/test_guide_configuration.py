"""The guide: settings, qconfigs, observers by name, fusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from documentation_examples.runner import assert_in_errata, run

import pyqref
from pyqref import nn
from pyqref import quantization as q


def test_settings_for_a_back_end() -> None:
    """The note on back ends: qconfigs for qnnpack, and the engine."""
    space = run("qconfig = torch.quantization.get_default_qconfig('qnnpack')")
    assert isinstance(space["qconfig"], q.QConfig)
    space = run("qconfig = torch.quantization.get_default_qat_qconfig('qnnpack')")
    assert isinstance(space["qconfig"].activation(), q.FakeQuantizeBase)
    run("torch.backends.quantized.engine = 'qnnpack'")
    assert "qnnpack" == pyqref.backends.quantized.engine


NAMES = {
    "QConfig": q.QConfig,
    "QConfigDynamic": q.QConfigDynamic,
    "MinMaxObserver": q.MinMaxObserver,
    "default_observer": q.default_observer,
}


def test_qconfig() -> None:
    space = run(
        "my_qconfig = QConfig(activation=MinMaxObserver.with_args(dtype=torch.qint8), "
        "weight=default_observer.with_args(dtype=torch.qint8))",
        **NAMES,
    )
    assert pyqref.qint8 is space["my_qconfig"].activation().dtype
    assert pyqref.qint8 is space["my_qconfig"].weight().dtype


def test_qconfig_with_translated_arguments() -> None:
    """The translation turned the names of the arguments into Chinese words."""
    with pytest.raises(TypeError, match="激活"):
        run(
            "my_qconfig = QConfig(激活= MinMaxObserver.with_args(dtype = torch.qint8),"
            "权重= default_observer.with_args(dtype = torch.qint8))",
            **NAMES,
        )
    assert_in_errata("the arguments ``activation`` and ``weight`` of ``QConfig`` are translated")


def test_qconfig_dynamic() -> None:
    space = run(
        "my_qconfig = QConfigDynamic(weight=default_observer.with_args(dtype=torch.qint8))",
        **NAMES,
    )
    assert pyqref.qint8 is space["my_qconfig"].weight().dtype


def same_parameters(first: Any, second: Any) -> None:
    """Two recipes: the same scale, zero point and range of integers, on the same data."""
    x = pyqref.from_numpy(np.random.default_rng(0).normal(0.3, 1, (4, 5)).astype(np.float32))
    made = [first(), second()]
    for observer in made:
        observer(x)
    found = [
        [each.item() for each in observer.calculate_qparams()]
        + [observer.quant_min, observer.quant_max, observer.dtype]
        for observer in made
    ]
    assert found[0] == found[1]


def test_default_observers() -> None:
    """Each default observer equals the one that the guide describes."""
    same_parameters(q.default_observer, q.MinMaxObserver.with_args(reduce_range=True))
    weight = q.MinMaxObserver.with_args(dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric)
    same_parameters(q.default_weight_observer, weight)


def test_default_qconfigs() -> None:
    """Each default qconfig equals the one that the guide describes."""
    assert q.default_qconfig == q.QConfig(
        activation=q.default_observer, weight=q.default_weight_observer
    )
    assert q.default_qat_qconfig == q.QConfig(
        activation=q.default_fake_quant, weight=q.default_weight_fake_quant
    )
    assert q.default_dynamic_qconfig.weight is q.default_weight_observer
    half = q.float16_dynamic_qconfig.weight()
    documented = q.NoopObserver.with_args(dtype=pyqref.float16)()
    assert documented.dtype is half.dtype is pyqref.float16


class MyModel(nn.Module):
    """The modules that the example of ``fuse_modules`` names."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1, self.relu1 = nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()
        self.submodule = nn.Sequential()
        self.submodule.add_module("conv", nn.Conv2d(2, 2, 1))
        self.submodule.add_module("relu", nn.ReLU())
        self.eval()

    def forward(self, x: Any) -> Any:
        return self.submodule(self.relu1(self.bn1(self.conv1(x))))


def test_fuse_modules() -> None:
    space = run(
        """
>>> m = myModel()
>>> # m is a module containing  the sub-modules below
>>> modules_to_fuse = [ ['conv1', 'bn1', 'relu1'], ['submodule.conv', 'submodule.relu']]
>>> fused_m = torch.quantization.fuse_modules(m, modules_to_fuse)
>>> output = fused_m(input)
""",
        myModel=MyModel,
        input=pyqref.ones(1, 1, 2, 2),
    )
    fused = space["fused_m"]
    assert nn.intrinsic.ConvReLU2d is type(fused.conv1)
    assert nn.intrinsic.ConvReLU2d is type(fused.submodule.conv)
    assert nn.Identity is type(fused.bn1) is type(fused.submodule.relu)
    assert nn.Conv2d is type(space["m"].conv1)


def test_fuse_modules_with_a_single_list() -> None:
    space = run(
        """
>>> m = myModel()
>>> # Alternately provide a single list of modules to fuse
>>> modules_to_fuse = ['conv1', 'bn1', 'relu1']
>>> fused_m = torch.quantization.fuse_modules(m, modules_to_fuse)
>>> output = fused_m(input)
""",
        myModel=MyModel,
        input=pyqref.ones(1, 1, 2, 2),
    )
    assert nn.Conv2d is type(space["fused_m"].submodule.conv)


def test_inplace_makes_no_copy() -> None:
    """The page says that ``inplace=True`` creates a copy; it is the other way round."""
    model = MyModel()
    assert q.fuse_modules(model, ["submodule.conv", "submodule.relu"], inplace=True) is model
    assert_in_errata('"if inplace=True a new copy is created" should say ``inplace=False``')
