"""``fx.experimental.optimization``: batch norms in weights, no dropout."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.fx.experimental.optimization import fuse, optimize_for_inference


def given(library: Any) -> tuple[Any, Any]:
    """A model with norms that can be fused, one whose input is used twice, and one called twice."""
    nn = library.nn
    rng = np.random.default_rng(0)

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.bn = nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2)
            self.conv2, self.bn2 = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2)
            self.drop = nn.Dropout()
            self.fc, self.bn3 = nn.Linear(2, 3), nn.BatchNorm1d(3)

        def forward(self, x: Any) -> Any:
            x = self.bn(self.conv(x)).relu()
            y = self.conv2(x)
            x = (self.bn2(y) + y).mean((2, 3))
            return self.bn3(self.fc(self.drop(x)))

    model = Model().eval()
    state = {
        key: library.from_numpy(np.abs(rng.standard_normal(tuple(value.shape))).astype(np.float32))
        for key, value in model.state_dict().items()
        if value.ndim
    }
    model.load_state_dict(state, strict=False)
    x = rng.standard_normal((2, 1, 4, 4)).astype(np.float32)
    return model, library.from_numpy(x)


def test_fused() -> None:
    """The output stays, the norms go, but for the one whose input is used elsewhere, too."""
    model, x = given(pyqref)
    expected = model(x).detach().numpy()
    fused = fuse(model)
    assert ["conv", "conv2", "bn2", "drop", "fc"] == [name for name, _ in fused.named_children()]
    # Two layers: 4 and 8 roundings of weights, and sums of 4 products.
    bound = 32 * 2.0**-24 * np.abs(expected).max()
    assert np.abs(fused(x).detach().numpy() - expected).max() <= bound
    assert np.array_equal(expected, model(x).detach().numpy())
    small = optimize_for_inference(model)
    assert "drop" not in dict(small.named_children())
    assert np.abs(small(x).detach().numpy() - expected).max() <= bound
    whole = optimize_for_inference(model, {"conv_bn_fuse": False, "remove_dropout": False})
    assert np.array_equal(expected, whole(x).detach().numpy())


def test_as_torch() -> None:
    """Torch fuses the same layers; its model gives the same numbers."""
    torch = pytest.importorskip("torch")
    names, outputs = [], []
    for library in (torch, pyqref):
        model, x = given(library)
        with warnings.catch_warnings():  # an import of torch
            warnings.simplefilter("ignore")
            module = import_module(f"{library.__name__}.fx.experimental.optimization")
        fused = module.fuse(model)
        names.append([node.name for node in fused.graph.nodes])
        outputs.append(fused(x).detach().numpy())
    assert names[0] == names[1]
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=64 * 2.0**-24)


def test_in_place_and_refusals() -> None:
    """A graph module is taken as it is; training mode and other layouts are refused."""
    model, _ = given(pyqref)
    traced = pyqref.fx.symbolic_trace(model)
    assert fuse(traced, inplace=True, no_trace=True).conv is traced.conv
    with pytest.raises(ValueError, match="a layout of another library; leave it out"):
        optimize_for_inference(model, {"mkldnn_layout_optimize": {}, "remove_dropout": True})
    with pytest.raises(ValueError, match="pass_config must have keys among"):
        optimize_for_inference(model, {"dropout": True})
