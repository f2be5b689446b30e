"""Following the messages of optimizers, operators, measures and data loaders works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import library, measure, nn, optim
from pyqref import quantization as q
from pyqref._kernels import uncompiled
from pyqref.utils.data import DataLoader


def test_optimizers() -> None:
    """Parameters in a list, once each; settings that are there; decay rates below 1."""
    weight = nn.Parameter(floats(3))
    with says("use a list"):
        optim.SGD([{"params": {weight}}], lr=0.1)
    optim.SGD([weight], lr=0.1)
    with says("give each of them once"):
        optim.SGD([weight, weight], lr=0.1)
    with says("leave it False"):
        optim.Adam([weight], capturable=True)
    optim.Adam([weight], capturable=False)
    with says("use [0, 1)"):
        optim.Adam([weight], betas=(0.9, 1.0))
    optim.Adam([weight], betas=(0.0, 0.999))


def test_schedulers() -> None:
    """step() of the optimizer first, without an epoch; its state before going on."""
    weight = nn.Parameter(floats(3))
    optimizer = optim.SGD([weight], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    with says("call `optimizer.step()` first"):
        scheduler.step()
    optimizer = optim.SGD([weight], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    with says("call `scheduler.step()`"):
        scheduler.step(1)
    scheduler.step()
    fresh = optim.SGD([weight], lr=0.1)
    with says("load the optimizer's state first"):
        optim.lr_scheduler.StepLR(fresh, 1, last_epoch=2)
    fresh.load_state_dict(optimizer.state_dict())
    optim.lr_scheduler.StepLR(fresh, 1, last_epoch=2)


def test_modes_of_a_plateau() -> None:
    """The modes that the messages name."""
    optimizer = optim.SGD([nn.Parameter(floats(3))], lr=0.1)
    make = optim.lr_scheduler.ReduceLROnPlateau
    with says("use 'min' or 'max'"):
        make(optimizer, mode="least")
    with says("use 'rel' or 'abs'"):
        make(optimizer, threshold_mode="relative")
    for mode in ("min", "max"):
        for threshold_mode in ("rel", "abs"):
            make(optimizer, mode=mode, threshold_mode=threshold_mode)


def test_own_operations() -> None:
    """Another name, another namespace, and one that is registered."""
    with says("choose another than {}"):
        library.register("quantized::mine", lambda x: x)
    library.register("recipes::mine", lambda x: x)
    with says("choose another name"):
        library.register("recipes::mine", lambda x: x)
    library.register("recipes::mine_again", lambda x: x)
    with says("register one with pyqref.library.register('{}::...', function)"):
        pyqref.ops.recipes_of_mine  # noqa: B018
    pyqref.library.register("recipes_of_mine::halve", lambda x: x / 2)
    assert 1.5 == pyqref.ops.recipes_of_mine.halve(3)


def test_measuring_layers_of_two_models() -> None:
    """The fused float model shares its layers with the quantized one."""
    x, inner = floats(4, 1, 3, 3), nn.Sequential(nn.Conv2d(1, 2, 1), nn.ReLU())
    model = q.QuantWrapper(inner).eval()
    fused = q.fuse_modules(model, [["module.0", "module.1"]])
    fused.qconfig = q.default_qconfig
    prepared = q.prepare(fused)
    prepared(x)
    quantized = q.convert(prepared)
    with says("pass the fused float model of which the quantized one was made"):
        measure.layer_sqnr(nn.ModuleDict({"other": inner})["other"], quantized, x)
    assert "module.0" in measure.layer_sqnr(fused, quantized, x)


def test_a_data_loader_with_workers() -> None:
    """num_workers=0 says nothing."""
    with says("use num_workers=0"):
        DataLoader([1, 2], num_workers=2)
    DataLoader([1, 2], num_workers=0)


def test_folders_of_the_demo(tmp_path: Path, capsys: Any) -> None:
    """Another folder is taken."""
    from pyqref.demo.folder import check_destination

    file = tmp_path / "file"
    file.write_text("mine")
    with says("choose another with --out"):
        check_destination(file)
    with says("choose another folder with --out"):
        check_destination(tmp_path)
    check_destination(tmp_path / "another")


def test_a_package_without_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable chooses NumPy, and there is nothing to warn of."""
    monkeypatch.setattr(uncompiled, "_PACKAGE", str(tmp_path / "pyqref"))
    monkeypatch.setattr(uncompiled, "_reason", lambda: "it was not compiled")
    monkeypatch.delenv("PYQREF_KERNEL", raising=False)
    with says("set PYQREF_KERNEL=reference to use NumPy and hide this warning"):
        uncompiled.warn_if_uncompiled()
    monkeypatch.setenv("PYQREF_KERNEL", "reference")
    uncompiled.warn_if_uncompiled()
    script = "import pyqref; print(pyqref.kernels.in_use())"
    command = [sys.executable, "-W", "error", "-c", script]
    assert b"reference\n" == subprocess.run(command, capture_output=True, check=True).stdout
