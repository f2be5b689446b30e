"""``calibrate``: the same result for any number of processes, and after any interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from quantization import calibrated
from quantization.calibrated import (
    BATCHES,
    BEGUN,
    CHECKPOINT,
    FOUND,
    batches,
    expected,
    prepared,
    state,
)

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.utils.data import DataLoader, TensorDataset

SCRIPT = calibrated.__file__


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    package = Path(pyqref.__file__).parents[1]
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """The folder of a script that was killed, calibrated by two workers, and waits for Ctrl-C."""
    folder = tmp_path_factory.mktemp("processes")
    running = started(folder, "processes")
    for _ in range(1200):
        if (folder / BEGUN).exists() or running.poll() is not None:
            break
        time.sleep(0.1)
    yield folder, running
    if running.poll() is None:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()


@pytest.mark.parametrize("piece", [1, 5, BATCHES, 100])
def test_the_size_of_a_piece_does_not_matter(piece: int) -> None:
    """For observers whose merge is exact: the state of a plain loop, to the bit."""
    assert expected() == state(q.calibrate(prepared(), batches(), piece=piece))


def test_processes_give_the_same_bits(processes: tuple[Path, Any]) -> None:
    """Documented: the same for any number of workers, also for a histogram, and for graphs."""
    pytest.importorskip("joblib", reason="processes need joblib")
    found = json.loads((processes[0] / FOUND).read_text())
    plain, by_one, by_two = found["states"]
    assert expected() == plain
    assert by_one == by_two
    assert found["outputs"][0] == found["outputs"][1]


def test_what_was_seen_before_is_kept() -> None:
    """Documented; the second half is merged into the first."""
    model = prepared()
    for each in batches()[:10]:
        model(pyqref.from_numpy(each))
    assert expected() == state(q.calibrate(model, batches()[10:]))


def test_every_source_gives_the_same() -> None:
    """A loader with labels, an array, a tensor, dictionaries and tuples."""
    x = np.concatenate(batches())
    loader = DataLoader(TensorDataset(pyqref.from_numpy(x), pyqref.arange(len(x))), batch_size=5)
    sources: list[Any] = [
        loader,
        x,
        pyqref.from_numpy(x),
        [{"x": each} for each in batches()],
        [(each, 3) for each in batches()],
    ]
    for data in sources:
        assert expected() == state(q.calibrate(prepared(), data, batch_size=5))


def test_a_folder_of_images(tmp_path: Path) -> None:
    """Sorted by name, colours in [0, 1]; ``transform`` makes something else of them."""
    image = pytest.importorskip("PIL.Image", reason="images are read with Pillow")
    (tmp_path / "inner").mkdir()
    (tmp_path / "notes.txt").write_text("no image")
    for name, level in (("a.png", 51), ("inner/b.png", 255)):
        image.fromarray(np.full((4, 6, 3), level, np.uint8)).save(tmp_path / name)
    model = nn.Sequential(q.QuantStub(), nn.Conv2d(3, 2, 1)).eval()
    model.qconfig = q.QConfig(q.RecordingObserver, q.default_weight_observer)
    seen = q.calibrate(q.prepare(model), tmp_path)[0].activation_post_process.get_tensor_value()
    assert [(1, 3, 4, 6)] * 2 == [tuple(each.shape) for each in seen]
    assert [float(np.float32(51) / np.float32(255)), 1.0] == [each.max().item() for each in seen]
    other = q.calibrate(
        q.prepare(model), str(tmp_path), transform=lambda _: np.ones((3, 2, 2), np.float32)
    )
    seen = other[0].activation_post_process.get_tensor_value()
    assert [(1, 3, 2, 2)] * 2 == [tuple(each.shape) for each in seen]


def test_a_checkpoint_is_resumed(tmp_path: Path) -> None:
    """Pieces that were seen are left out; a run that is done does nothing more."""
    path = tmp_path / "calibration.safetensors"
    counts: list[int] = []

    def stop(seen: int) -> None:
        counts.append(seen)
        if seen == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        q.calibrate(prepared(), batches(), checkpoint=path, piece=4, progress=stop)
    resumed = q.calibrate(prepared(), batches(), checkpoint=path, piece=4, progress=counts.append)
    assert [4, 8, 12, 16, 20, 24] == counts
    assert expected() == state(resumed)
    assert expected() == state(q.calibrate(prepared(), batches(), checkpoint=path, piece=4))
    assert [path] == list(tmp_path.iterdir())


def test_a_checkpoint_of_something_else_is_refused(tmp_path: Path) -> None:
    """Another model, another size of pieces, another file: the error says what to do."""
    path = tmp_path / "calibration.safetensors"
    q.calibrate(prepared(), batches(), checkpoint=path, piece=4)
    with pytest.raises(ValueError, match="was written for pieces of 4 batches"):
        q.calibrate(prepared(), batches(), checkpoint=path, piece=5)
    other = prepared()
    other.module[0].weight.data[0, 0] = 5.0
    with pytest.raises(ValueError, match="was written for another model"):
        q.calibrate(other, batches(), checkpoint=path, piece=4)
    path.write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="remove it to begin anew"):
        q.calibrate(prepared(), batches(), checkpoint=path)
    pyqref.save({"a": pyqref.ones(1)}, path)
    with pytest.raises(ValueError, match="is no checkpoint of a calibration"):
        q.calibrate(prepared(), batches(), checkpoint=path)
    recording = nn.Sequential(nn.Linear(8, 2)).eval()
    recording.qconfig = q.default_debug_qconfig
    with pytest.raises(ValueError, match="RecordingObserver at '0"):
        q.calibrate(q.prepare(recording), batches(), checkpoint=path)


def test_a_folder_and_a_file_that_may_be_whole_are_not_to_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another path is asked for in place of a folder; errors of the system come through."""
    with pytest.raises(ValueError, match=r"path of a file, got .*, which is none; give another"):
        q.calibrate(prepared(), batches(), checkpoint=tmp_path)
    path = tmp_path / "calibration.safetensors"
    q.calibrate(prepared(), batches(), checkpoint=path)
    refused = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr("pyqref.quantization.calibrating.whole_file.load", refused)
    with pytest.raises(PermissionError):
        q.calibrate(prepared(), batches(), checkpoint=path)


def test_kill_9_and_go_on(processes: tuple[Path, Any]) -> None:
    """A process that is killed half way leaves a checkpoint that the next one goes on from."""
    folder, _ = processes
    assert -signal.SIGKILL == json.loads((folder / FOUND).read_text())["killed"]
    path = folder / CHECKPOINT
    seen: list[int] = []
    resumed = q.calibrate(prepared(), batches(), checkpoint=path, piece=2, progress=seen.append)
    assert BATCHES // 2 + 2 == seen[0]
    assert expected() == state(resumed)


def test_nothing_is_left_after_ctrl_c(processes: tuple[Path, Any]) -> None:
    """Documented: the processes are ended. The whole process group is gone soon after."""
    pytest.importorskip("joblib", reason="processes need joblib")
    _, running = processes
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    for _ in range(100):
        try:
            os.killpg(running.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("processes of the group are still there")


def test_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    """A LocalCluster of two processes, one of which is killed after the first piece."""
    pytest.importorskip("distributed", reason="a cluster needs dask.distributed")
    running = started(tmp_path, "cluster")
    output, errors = running.communicate(timeout=180)
    assert 0 == running.returncode, output + errors


def test_errors_name_the_batch() -> None:
    """The number of the batch, and why it failed."""
    data = [*batches()[:3], np.ones((5, 9), np.float32)]
    with pytest.raises(q.CalibrationError, match=r"batch 3 failed: .*9"):
        q.calibrate(prepared(), data)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: q.calibrate(prepared(), 3), TypeError, "data must be a DataLoader"),
        (lambda: q.calibrate(prepared(), []), ValueError, "data held no batch"),
        (lambda: q.calibrate(prepared(), np.float32(1)), TypeError, "data must be a DataLoader"),
        (lambda: q.calibrate(prepared(), "nowhere"), ValueError, "the path of no folder"),
        (lambda: q.calibrate(prepared(), [], workers=0), ValueError, "workers must be at least 1"),
        (lambda: q.calibrate(prepared(), [], piece=1.5), TypeError, "piece must be an int"),
        (
            lambda: q.calibrate(prepared(), [], client=True),
            TypeError,
            "client must be a dask.distributed.Client, got True",
        ),
        (lambda: q.calibrate(nn.Linear(2, 2), []), ValueError, "has no observers; call prepare"),
        (lambda: q.calibrate(prepared().train(), []), ValueError, "call prepared.eval"),
        (
            lambda: q.calibrate(prepared(), [], transform=len),
            TypeError,
            "transform is for a folder",
        ),
    ],
)
def test_bad_arguments(call: Any, error: Any, message: str) -> None:
    """The error says which argument, and what to do."""
    with pytest.raises(error, match=message):
        call()


def test_an_empty_folder(tmp_path: Path) -> None:
    """It is told which files are images."""
    with pytest.raises(ValueError, match=r"holds no image; images end in \.bmp"):
        q.calibrate(prepared(), tmp_path)
