"""A script that calibrates, for tests that interrupt it: ``calibrated.py how [checkpoint]``."""

from __future__ import annotations

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


def _kill_after_half(seen: int) -> None:
    if seen >= BATCHES // 2:
        os.kill(os.getpid(), signal.SIGKILL)


def _slowly(data: list[np.ndarray]) -> Any:
    for each in data:
        time.sleep(0.2)
        yield each


def _on_cluster() -> None:
    import distributed

    with (
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


def main(how: str, checkpoint: str | None = None) -> None:
    """Calibrate in one of the ways that tests ask for."""
    if how == "killed":
        q.calibrate(
            prepared(), batches(), checkpoint=checkpoint, piece=2, progress=_kill_after_half
        )
    if how == "interrupted":
        signal.signal(signal.SIGINT, signal.default_int_handler)  # where a shell has it ignored
        begun = Path("begun")
        q.calibrate(
            prepared(),
            _slowly(batches()),
            workers=2,
            piece=1,
            progress=lambda seen: begun.write_text(str(seen)),
        )
    if how == "cluster":
        _on_cluster()


if __name__ == "__main__":
    main(*sys.argv[1:])
