"""Time the same work in several libraries, by turns in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .pinning import TASKS, Pinned, awake

Work = Callable[[], Any]


class Race(NamedTuple):
    """Work of ours and of others; ``operations`` counts what is worth counting.

    Before anything is timed, results may differ by ``tolerance``: in steps of the output
    where it is quantized, else in its own unit. ``moved`` counts the bytes that must be read
    and written once, 0 where nobody asks.
    """

    kind: str
    shape: str
    operations: float
    ours: Work
    peers: dict[str, Work]
    tolerance: float = 1.0
    moved: float = 0.0


class Result(NamedTuple):
    """Measurements of a race, in one round or several.

    ``times`` has the seconds of pyqref, as "", and of the peers. ``difference`` is the largest
    difference between results, in steps of the output. ``peaks`` are operations a second that the
    processor reached during these turns; it is empty where nobody asked.
    """

    kind: str
    shape: str
    operations: float
    moved: float
    times: dict[str, list[float]]
    difference: float
    peaks: list[float]

    @property
    def ours(self) -> float:
        """Median seconds."""
        return float(np.median(self.times[""]))

    @property
    def peers(self) -> dict[str, float]:
        """Median seconds of each."""
        return {name: float(np.median(each)) for name, each in self.times.items() if name}

    @property
    def peak(self) -> float:
        """Median operations a second, or 0."""
        return float(np.median(self.peaks)) if self.peaks else 0.0

    def and_then(self, later: Result) -> Result:
        """Return the result together with that of a later round of the same race."""
        return self._replace(
            times={name: each + later.times[name] for name, each in self.times.items()},
            difference=max(self.difference, later.difference),
            peaks=self.peaks + later.peaks,
        )

    @property
    def best_peer(self) -> str:
        peers = self.peers
        return min(peers, key=peers.__getitem__)

    @property
    def ratio(self) -> float:
        """Above 1 pyqref is faster than the fastest of the others."""
        return self.peers[self.best_peer] / self.ours


def numbers(result: Any) -> np.ndarray:
    """Return a library's result as an array; integers where it is quantized."""
    if isinstance(result, tuple | list):
        result = result[0]
    if getattr(result, "is_quantized", False):
        result = result.int_repr()
    return np.asarray(result.detach() if hasattr(result, "detach") else result)


def differences(race: Race) -> dict[str, float]:
    """Largest distance between our result and each other one."""
    ours = numbers(race.ours()).astype(np.float64)
    others = {name: numbers(run()).astype(np.float64) for name, run in race.peers.items()}
    return {
        name: float(np.abs(ours - other.reshape(ours.shape)).max(initial=0))
        for name, other in others.items()
    }


#: Seconds between looks at who is awake, and seconds after which all sleep where none can look.
LOOK, LONGEST = 0.001, 0.06


def settle() -> None:
    """Sleep until no other thread of this process is awake.

    Each library has threads of its own, which wait awake for the next piece of work: OpenMP's
    for milliseconds, those of ONNX Runtime for 45 of them. Whoever comes next would have to share
    a processor with them. Their processor time does not tell, since the system adds it up only
    every few milliseconds; their state does.
    """
    time.sleep(LOOK if TASKS.exists() else LONGEST)
    while awake():
        time.sleep(LOOK)


#: Seconds of a turn, and readings of the clock that it has at least.
BURST, LEAST = 0.005, 3
#: Seconds between two readings, at the least; with a loop, they take 40 nanoseconds.
APART = 5e-6


def seconds_of(work: Work) -> list[float]:
    """How long a run takes, by each reading of a turn; of short runs, several for a reading."""
    settle()
    work()
    seconds: list[float] = []
    runs = 1
    start = time.perf_counter()
    while len(seconds) < LEAST or time.perf_counter() - start < BURST:
        before = time.perf_counter()
        for _ in range(runs):
            work()
        passed = time.perf_counter() - before
        if passed < APART:
            runs *= 2
        else:
            seconds.append(passed / runs)
    return seconds


def places(number: int, turn: int) -> list[int]:
    """Return the order in which so many libraries run in a turn.

    What runs before leaves its mark: threads that stay awake for long leave cold caches and a clock
    that has slowed down. So each place moves by one every second turn, and each turn between is its
    mirror image: of all turns, everybody follows everybody else equally often (a Williams design).

    Examples
    --------
    >>> [places(4, turn) for turn in range(4)]
    [[0, 1, 3, 2], [2, 3, 1, 0], [1, 2, 0, 3], [3, 0, 2, 1]]
    """
    steps = [(place + 1) // 2 * (1 if place % 2 else -1) for place in range(number)]
    row = [(turn // 2 + step) % number for step in steps]
    return row[::-1] if turn % 2 else row


#: Turns of a round at the least and at the most, and how many are left out at its beginning.
TURNS, LEFT_OUT = (4, 400), 2
#: Operations from which the peak is measured in the same turns: clocks change by the minute.
LARGE = 1e9


def run(
    race: Race, seconds: float, pinned: Pinned, peak: Callable[[], float] | None = None
) -> Result:
    """Compare the results, then time runs in turns for about so many seconds."""
    distances = differences(race)
    wrong = {name: each for name, each in distances.items() if not each <= race.tolerance}
    if wrong:
        raise ValueError(
            f"{race.kind} {race.shape}: results differ from ours by {wrong}, allowed are "
            f"{race.tolerance:.3g}; what does not agree is not timed"
        )
    pinned.update()  # the comparison has made every thread there will be
    runners = {"": race.ours, **race.peers}
    names = list(runners)
    times: dict[str, list[list[float]]] = {name: [] for name in runners}
    start = time.perf_counter()
    turn = 0
    peaks: list[float] = []
    while turn < TURNS[0] or (time.perf_counter() - start < seconds and turn < TURNS[1]):
        for place in places(len(names), turn):
            times[names[place]].append(seconds_of(runners[names[place]]))
        if peak and race.moved and race.operations >= LARGE:
            settle()
            peaks.append(peak())
        turn += 1
    kept = {name: list(chain(*each[LEFT_OUT:])) for name, each in times.items()}
    largest = max(distances.values())
    return Result(
        race.kind, race.shape, race.operations, race.moved, kept, largest, peaks[LEFT_OUT:]
    )
