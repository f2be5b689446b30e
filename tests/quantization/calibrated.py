"""A script that calibrates, for tests that interrupt it: ``calibrated.py processes|cluster``.

Its folder is the current one. Children are forked where a new interpreter would prove no more.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import pyqref
from pyqref import nn
from pyqref import quantization as q

BATCHES = 24
#: Files that the script leaves: a checkpoint, results, and a sign that it waits for Ctrl-C.
CHECKPOINT, FOUND, BEGUN = "calibration.safetensors", "found.json", "begun"


def prepared() -> nn.Module:
    """Return a network that is the same each time, and whose merge is exact."""
    pyqref.manual_seed(0)
    model = q.QuantWrapper(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))).eval()
    observer = q.PercentileObserver.with_args(percentile=99.0, bins=256)
    model.qconfig = q.QConfig(observer, q.default_weight_observer)
    return q.prepare(model)


def batches() -> list[np.ndarray]:
    """Batches whose ranges differ."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((5, 8), np.float32) * (1 + each % 7) for each in range(BATCHES)]


def state(model: Any) -> dict[str, Any]:
    """Return the state of the observers."""
    return {key: each.tolist() for key, each in q.get_observer_state_dict(model).items()}


def expected() -> dict[str, Any]:
    """Return the state of the observers after a plain loop."""
    model = prepared()
    for each in batches():
        model(pyqref.from_numpy(each))
    return state(model)


def _killed_after_half() -> int:
    """Return the exit code of a child that is killed in the middle, and leaves a checkpoint."""
    child = os.fork()
    if not child:
        q.calibrate(
            prepared(), batches(), checkpoint=CHECKPOINT, piece=2, progress=_kill_after_half
        )
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _kill_after_half(seen: int) -> None:
    if seen >= BATCHES // 2:
        os.kill(os.getpid(), signal.SIGKILL)


def _of_workers() -> dict[str, Any]:
    """States after calibration by two processes, and of graphs by one and by two."""
    states = [state(q.calibrate(prepared(), iter(batches()), workers=2, piece=3))]
    pyqref.manual_seed(0)
    mapping = q.get_default_qconfig_mapping("x86")
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    x, outputs = pyqref.from_numpy(batches()[0]), []
    for workers in (1, 2):
        graph = q.quantize_fx.prepare_fx(model, mapping, (x,))
        states.append(state(q.calibrate(graph, batches(), workers=workers, piece=3)))
        outputs.append(q.quantize_fx.convert_fx(graph)(x).tolist())
    return {"states": states, "outputs": outputs}


def _on_processes() -> None:
    """Be killed, calibrate by workers, write what was found, and wait for Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell has it ignored
    found: dict[str, Any] = {"killed": _killed_after_half()}
    has_workers = importlib.util.find_spec("joblib") is not None
    if has_workers:
        found |= _of_workers()
    Path(FOUND).write_text(json.dumps(found))
    if has_workers:
        q.calibrate(
            prepared(),
            _slowly(batches()),
            workers=2,
            piece=1,
            progress=lambda seen: Path(BEGUN).write_text(str(seen)),
        )


def _slowly(data: list[np.ndarray]) -> Any:
    for each in data:
        time.sleep(0.2)
        yield each


def _on_cluster() -> None:
    import dask
    import distributed

    pyqref.set_num_threads(1)  # a child that is forked has no threads but its own
    with (
        dask.config.set({"distributed.worker.multiprocessing-method": "fork"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed: list[int] = []

        def kill_one(seen: int) -> None:
            if not killed:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)

        model = q.calibrate(prepared(), batches(), client=client, piece=2, progress=kill_one)
    assert killed
    assert expected() == state(model)


if __name__ == "__main__":
    {"processes": _on_processes, "cluster": _on_cluster}[sys.argv[1]]()
