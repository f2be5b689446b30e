"""Following the messages of calibration in pieces, and of better observers, works."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from messages.following import says
from quantization.calibrated import batches, expected, prepared, state

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize

CHANNELS: dict[str, Any] = {"dtype": pyqref.qint8, "qscheme": pyqref.per_channel_symmetric}


def test_definitions_of_onnxruntime() -> None:
    """The default definition has channels, merges, and takes a tensor of any width."""
    with says("leave definition out"):
        q.EntropyObserver(definition="onnxruntime", **CHANNELS)
    q.EntropyObserver(**CHANNELS)
    small, large = pyqref.tensor([1e-6]), pyqref.tensor([1.0])
    theirs = [q.EntropyObserver(definition="onnxruntime") for _ in range(2)]
    for each in theirs:
        each(small)
    with says("leave definition out"):
        theirs[0].merge(theirs[1])
    with says("leave definition out: the default grid has a constant size"):
        theirs[0](large)
    first, second = q.EntropyObserver(), q.EntropyObserver()
    first(small)
    second(large)
    assert 1.0 == first.merge(second).max_val.item()


def test_trained_numbers_are_not_merged() -> None:
    """One model is trained, and merged with a copy of itself."""
    for make in (
        lambda scale: _LearnableFakeQuantize(q.MinMaxObserver, scale=scale).enable_param_learning(),
        lambda alpha: q.PACTFakeQuantize(alpha),
    ):
        first, second, third = make(1.0), make(2.0), make(1.0)
        with says("train one model"):
            first.merge(second)
        first.merge(third)


def test_fake_quantizers_whose_observers_are_off() -> None:
    """With observers on, or with the same data, they merge."""
    made = [q.FakeQuantize() for _ in range(3)]
    for index, each in enumerate(made):
        each(pyqref.tensor([0.0, 1.0 + index % 2]))
        each.disable_observer()
    with says("turn the observers on, or calibrate together"):
        made[0].merge(made[1])
    made[0].merge(made[2])
    for each in made:
        each.enable_observer()
    made[0].merge(made[1])


def test_classes_of_your_own() -> None:
    """They define how to merge and how to forget."""

    class Mine(q.ObserverBase):
        top = 0.0

        def forward(self, x: Any) -> Any:
            self.top = max(self.top, x.max().item())
            return x

        def calculate_qparams(self, **kwargs: object) -> Any:
            return pyqref.tensor([self.top]), pyqref.tensor([0])

    class MyFakeQuantize(q.FakeQuantizeBase):
        def forward(self, x: Any) -> Any:
            return x

        def calculate_qparams(self, **kwargs: object) -> Any:
            return pyqref.ones(1), pyqref.zeros(1)

    with says("define its method _merge(self, other), which takes in what other saw"):
        Mine(pyqref.quint8).merge(Mine(pyqref.quint8))
    with says("define its method _merge(self, other), which takes in what other saw"):
        MyFakeQuantize().merge(MyFakeQuantize())
    model = nn.Sequential(nn.Linear(8, 2)).eval()
    model.qconfig = q.QConfig(lambda: Mine(pyqref.quint8), q.default_weight_observer)
    with says("define its method reset_min_max_vals()"):
        q.calibrate(q.prepare(model), batches())

    class Better(Mine):
        def _merge(self, other: Any) -> None:
            self.top = max(self.top, other.top)

        def reset_min_max_vals(self) -> None:
            self.top = 0.0

    model.qconfig = q.QConfig(lambda: Better(pyqref.quint8), q.default_weight_observer)
    assert q.calibrate(q.prepare(model), batches())[0].activation_post_process.top > 0


def test_models_that_are_not_prepared() -> None:
    """Preparing gives observers, eval() the right mode."""
    model = nn.Sequential(nn.Linear(8, 2)).eval()
    with says("call prepare, prepare_fx or prepare_qat first"):
        q.merge([model])
    with says("call prepare or prepare_fx first"):
        q.calibrate(model, batches())
    model.qconfig = q.default_qconfig
    ready = q.prepare(model).train()
    with says("call prepared.eval() first"):
        q.calibrate(ready, batches())
    q.merge([q.calibrate(ready.eval(), batches())])


def test_checkpoints(tmp_path: Path) -> None:
    """A state of the same model goes on; a removed file or another path begins anew."""
    path = tmp_path / "kept"
    q.calibrate(prepared(), batches(), checkpoint=path, piece=4)
    with says("give the same model and piece to go on, or remove the file to begin anew"):
        q.calibrate(prepared(), batches(), checkpoint=path)
    q.calibrate(prepared(), batches(), checkpoint=path, piece=4)
    path.unlink()
    q.calibrate(prepared(), batches(), checkpoint=path)
    path.write_bytes(b"x")
    with says("remove it to begin anew"):
        q.calibrate(prepared(), batches(), checkpoint=path)
    pyqref.save({"a": pyqref.ones(1)}, path)
    with says("give another path"):
        q.calibrate(prepared(), batches(), checkpoint=path)
    q.calibrate(prepared(), batches(), checkpoint=tmp_path / "other")
    model = nn.Sequential(nn.Linear(8, 2)).eval()
    model.qconfig = q.default_debug_qconfig
    with says("leave checkpoint out"):
        q.calibrate(q.prepare(model), batches(), checkpoint=tmp_path / "third")
    q.calibrate(q.prepare(model), batches())


class Pinned:
    """Something that stays in its process."""

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("it stays here")


def test_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """One process needs nothing, and can run a model that cannot be sent."""
    model = prepared()
    model.pinned = Pinned()
    pytest.importorskip("joblib", reason="processes need joblib")
    with says("define its classes and functions in a module of their own, or use workers=1"):
        q.calibrate(model, batches(), workers=2)
    monkeypatch.setitem(sys.modules, "joblib", None)
    with says("use workers=1"):
        q.calibrate(prepared(), batches(), workers=2)
    q.calibrate(prepared(), batches(), workers=1)


class Cluster:
    """A client that runs a piece at once, or loses it if it holds too many batches."""

    def __init__(self, most: int) -> None:
        self.most = most

    def nthreads(self) -> dict[str, int]:
        return {"here": 1}

    def cancel(self, futures: list[Any], force: bool) -> None:
        self.cancelled = futures

    def scatter(self, data: Any, **_: Any) -> Any:
        return data

    def submit(
        self, function: Any, packed: Any, key: str, first: int, part: Any, *rest: Any, **_: Any
    ) -> Any:
        class KilledWorker(Exception):
            """Stand-in for the exception that dask raises."""

        class Future:
            def result(future) -> Any:
                if len(part) > self.most:
                    raise KilledWorker("out of memory")
                return function(packed, key, first, part, *rest)

        return Future()


def test_a_cluster_that_loses_pieces() -> None:
    """A smaller piece fits; workers have no effect beside a client."""
    with says("look at the memory of its workers, or use a smaller piece"):
        q.calibrate(prepared(), batches(), client=Cluster(4))
    assert expected() == state(q.calibrate(prepared(), batches(), client=Cluster(4), piece=4))
    with says("leave one of them out"):
        q.calibrate(prepared(), batches(), client=Cluster(8), workers=2)
    q.calibrate(prepared(), batches(), client=Cluster(8))


def test_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An iterator transforms by itself; arrays need no Pillow."""
    with says("apply it in your own iterator instead, got data of type"):
        q.calibrate(prepared(), batches(), transform=np.negative)
    q.calibrate(prepared(), map(np.negative, batches()))
    (tmp_path / "a.png").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with says("calibrate reads images with Pillow: pip install pillow, or give arrays"):
        q.calibrate(prepared(), tmp_path)
    q.calibrate(prepared(), batches())
