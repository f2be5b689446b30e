"""Fusion: what becomes of the layers, their hooks, and lists that cannot be fused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q

#: Folding a batch norm reorders float32 roundings of sums of a few dozen terms.
FOLDING_BOUND = 2e-6


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(2, 3, 3)
        self.bn1 = nn.BatchNorm2d(3)
        self.relu1 = nn.ReLU()
        self.submodule = nn.Sequential()
        self.submodule.add_module("conv", nn.Conv2d(3, 3, 1))
        self.submodule.add_module("relu", nn.ReLU())
        self.flatten = nn.Flatten()
        self.fc = nn.Linear(12, 4)
        self.relu2 = nn.ReLU()

    def forward(self, x: Any) -> Any:
        x = self.submodule(self.relu1(self.bn1(self.conv1(x))))
        return self.relu2(self.fc(self.flatten(x)))


@pytest.fixture
def model() -> Model:
    """A model whose batch norm has statistics of its own."""
    pyqref.manual_seed(0)
    made = Model()
    rng = np.random.default_rng(1)
    for _ in range(3):
        made(pyqref.from_numpy(rng.standard_normal((5, 2, 4, 4), np.float32)))
    return made.eval()


def test_documented_example(model: Model) -> None:
    """Lists of lists, with paths into submodules; the first layer is replaced."""
    modules_to_fuse = [["conv1", "bn1", "relu1"], ["submodule.conv", "submodule.relu"]]
    fused = q.fuse_modules(model, modules_to_fuse)
    assert nn.intrinsic.ConvReLU2d is type(fused.conv1)
    assert (nn.Identity, nn.Identity) == (type(fused.bn1), type(fused.relu1))
    assert nn.intrinsic.ConvReLU2d is type(fused.submodule.conv)
    assert nn.Identity is type(fused.submodule.relu)


def test_a_single_list(model: Model) -> None:
    fused = q.fuse_modules(model, ["conv1", "bn1", "relu1"])
    assert nn.intrinsic.ConvReLU2d is type(fused.conv1)


def test_the_fused_model_computes_the_same(model: Model) -> None:
    x = pyqref.from_numpy(np.random.default_rng(2).standard_normal((5, 2, 4, 4), np.float32))
    lists = [["conv1", "bn1", "relu1"], ["submodule.conv", "submodule.relu"], ["fc", "relu2"]]
    expected = model(x).detach().numpy()
    found = q.fuse_modules(model, lists)(x).detach().numpy()
    assert np.abs(expected - found).max() <= FOLDING_BOUND


def test_only_inplace_changes_the_model(model: Model) -> None:
    """Documented the wrong way round; by default a copy is fused."""
    assert q.fuse_modules(model, ["fc", "relu2"]) is not model
    assert nn.Linear is type(model.fc)
    assert q.fuse_modules(model, ["fc", "relu2"], inplace=True) is model
    assert nn.intrinsic.LinearReLU is type(model.fc)


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (lambda: [nn.Conv1d(1, 2, 1), nn.BatchNorm1d(2)], "Conv1d"),
        (lambda: [nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)], "Conv2d"),
        (lambda: [nn.Conv3d(1, 2, 1), nn.BatchNorm3d(2)], "Conv3d"),
        (lambda: [nn.Conv1d(1, 2, 1), nn.BatchNorm1d(2), nn.ReLU()], "ConvReLU1d"),
        (lambda: [nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()], "ConvReLU2d"),
        (lambda: [nn.Conv3d(1, 2, 1), nn.BatchNorm3d(2), nn.ReLU()], "ConvReLU3d"),
        (lambda: [nn.Conv1d(1, 2, 1), nn.ReLU()], "ConvReLU1d"),
        (lambda: [nn.Conv2d(1, 2, 1), nn.ReLU()], "ConvReLU2d"),
        (lambda: [nn.Conv3d(1, 2, 1), nn.ReLU()], "ConvReLU3d"),
        (lambda: [nn.Linear(1, 2), nn.ReLU()], "LinearReLU"),
        (lambda: [nn.Linear(1, 2), nn.BatchNorm1d(2)], "Linear"),
        (lambda: [nn.BatchNorm2d(2), nn.ReLU()], "BNReLU2d"),
        (lambda: [nn.BatchNorm3d(2), nn.ReLU()], "BNReLU3d"),
        (lambda: [nn.ConvTranspose2d(1, 2, 1), nn.BatchNorm2d(2)], "ConvTranspose2d"),
    ],
)
def test_known_sequences(layers: Callable[[], list[Any]], expected: str) -> None:
    made = nn.Sequential(*layers()).eval()
    paths = [name for name, _ in made.named_children()]
    assert expected == type(q.fuse_modules(made, paths)[0]).__name__


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (lambda: [nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)], "ConvBn2d"),
        (lambda: [nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()], "ConvBnReLU2d"),
        (lambda: [nn.Linear(1, 2), nn.BatchNorm1d(2)], "LinearBn1d"),
        (lambda: [nn.Linear(1, 2), nn.ReLU()], "LinearReLU"),
    ],
)
def test_known_sequences_for_training(layers: Callable[[], list[Any]], expected: str) -> None:
    made = nn.Sequential(*layers()).train()
    paths = [name for name, _ in made.named_children()]
    fused = q.fuse_modules_qat(made, paths)
    assert expected == type(fused[0]).__name__
    assert all(each.training for each in fused.modules())


def test_fusing_in_training_mode_is_refused(model: Model) -> None:
    """The message has paths, types and both remedies; the model is as it was."""
    model.train()
    with pytest.raises(ValueError, match=r"cannot fuse conv1 .Conv2d., bn1 .BatchNorm2d.") as error:
        q.fuse_modules(model, [["fc", "relu2"], ["conv1", "bn1"]], inplace=True)
    assert "model.eval()" in str(error.value)
    assert "fuse_modules_qat" in str(error.value)
    assert (nn.Linear, nn.ReLU) == (type(model.fc), type(model.relu2))


def test_mixed_modes_are_refused(model: Model) -> None:
    model.bn1.train()
    with pytest.raises(ValueError, match="must all be in training mode or all in eval"):
        q.fuse_modules(model, ["conv1", "bn1"])


def test_an_unknown_sequence_is_refused(model: Model) -> None:
    """The message names the layers by path and type, and lists what can be fused."""
    with pytest.raises(ValueError, match=r"relu1 .ReLU., fc .Linear.") as error:
        q.fuse_modules(model, ["relu1", "fc"])
    assert "(Conv2d, BatchNorm2d, ReLU)" in str(error.value)


def test_a_subclass_is_not_fused() -> None:
    """It may compute something else."""

    class Twice(nn.Linear):
        def forward(self, x: Any) -> Any:
            return 2 * super().forward(x)

    with pytest.raises(ValueError, match="Twice"):
        q.fuse_modules(nn.Sequential(Twice(1, 1), nn.ReLU()).eval(), ["0", "1"])


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("submodule.cnv", "submodule .Sequential. has no submodule 'cnv'; it has conv, relu"),
        ("fc3", "the model .Model. has no submodule 'fc3'"),
    ],
)
def test_a_path_that_leads_nowhere(model: Model, path: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        q.fuse_modules(model, [path, "relu2"])


def test_what_is_no_list(model: Model) -> None:
    with pytest.raises(TypeError, match="list of paths, got 'fc'"):
        q.fuse_modules(model, "fc")
    with pytest.raises(ValueError, match="empty list"):
        q.fuse_modules(model, [[]])


def test_batch_norm_of_another_size_is_refused() -> None:
    layers = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(3)).train()
    with pytest.raises(ValueError, match="as many features"):
        q.fuse_modules_qat(layers, ["0", "1"])
    layers = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2, affine=False)).train()
    with pytest.raises(ValueError, match="affine=False"):
        q.fuse_modules_qat(layers, ["0", "1"])


def test_hooks_move_to_the_fused_module(model: Model) -> None:
    """The first layer's pre-hooks, the last one's forward hooks; each runs once."""
    calls: list[str] = []
    model.conv1.register_forward_pre_hook(lambda module, args: calls.append("pre"))
    model.relu1.register_forward_hook(lambda module, args, output: calls.append("post"))
    fused = q.fuse_modules(model, ["conv1", "bn1", "relu1"])
    fused(pyqref.zeros(1, 2, 4, 4))
    assert ["pre", "post"] == calls
    model(pyqref.zeros(1, 2, 4, 4))
    assert ["pre", "post"] * 2 == calls


FUSERS: dict[str, Callable[[list[Any]], Any]] = {
    "documented": lambda seen: lambda layers: _one_of(layers),
    "as in torch": lambda seen: (
        lambda layers, is_qat, table: seen.extend([is_qat, table]) or _one_of(layers)
    ),
    "by name": lambda seen: lambda layers, is_qat: seen.append(is_qat) or _one_of(layers),
    "any names": lambda seen: lambda layers, **rest: seen.extend(rest.values()) or _one_of(layers),
}


def _one_of(layers: list[Any]) -> list[Any]:
    return [nn.Sequential(*layers), *(nn.Identity() for _ in layers[1:])]


@pytest.mark.parametrize("fuse", [q.fuse_modules, q.fuse_modules_qat])
@pytest.mark.parametrize("name", FUSERS)
def test_a_fuser_of_the_users(model: Model, name: str, fuse: Any) -> None:
    """It gets the list, and is_qat and a table, as in torch, where it takes them.

    Without a configuration the table is empty, not None.
    """
    seen: list[Any] = []
    fused = fuse(model.train(), ["relu1", "fc"], fuser_func=FUSERS[name](seen))
    assert nn.Sequential is type(fused.relu1)
    expected = [fuse is q.fuse_modules_qat, {}]
    assert expected[: {"documented": 0, "by name": 1}.get(name, 2)] == seen


def test_a_fuser_that_loses_modules_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match="as many modules as it got, 2"):
        q.fuse_modules(model, ["fc", "relu2"], fuser_func=lambda layers: layers[:1])


def test_additional_sequences(model: Model) -> None:
    mapping = {(nn.ReLU, nn.Flatten): lambda is_qat, relu, flatten: nn.Sequential(relu, flatten)}
    config = {"additional_fuser_method_mapping": mapping}
    fused = q.fuse_modules(model, ["relu1", "flatten"], fuse_custom_config_dict=config)
    assert nn.Sequential is type(fused.relu1)


def test_fusers_take_the_documented_arguments() -> None:
    """``fuse_conv_bn(conv, bn)``: for training if the layers are in training mode."""
    conv, bn = nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2)
    assert "ConvBn2d" == type(q.fuse_conv_bn(conv, bn)).__name__
    assert "Conv2d" == type(q.fuse_conv_bn(conv.eval(), bn.eval())).__name__
    assert "ConvBn2d" == type(q.fuse_conv_bn(True, conv, bn)).__name__
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        q.fuse_conv_bn(conv)


def test_get_fuser_method() -> None:
    assert q.fuse_conv_bn_relu is q.get_fuser_method((nn.Conv2d, nn.BatchNorm2d, nn.ReLU))
    with pytest.raises(ValueError, match=r"no fusion is known for \(Tanh\)"):
        q.get_fuser_method((nn.Tanh,))


def test_a_model_in_evaluation_mode_is_fused_for_training() -> None:
    """It stays in evaluation mode, as in torch, and ``prepare_qat`` asks for training mode."""
    model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)).eval()
    fused = q.fuse_modules_qat(model, ["0", "1"])
    assert isinstance(fused[0], nn.intrinsic.ConvBn2d)
    assert (False, False) == (fused.training, fused[0][1].training)
    fused.qconfig = q.default_qat_qconfig
    with pytest.raises(ValueError, match=r"call model.train\(\) first"):
        q.prepare_qat(fused)
    q.prepare_qat(fused.train())
