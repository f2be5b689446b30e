"""Mixed work in eight threads for long: each result as alone, and the memory flat.

    python tests/fuzz/soak.py --seconds 10
    python tests/fuzz/soak.py --minutes 60 --json soak.json

Every piece of work is done once alone; then each thread does all of them again and again, in
another order each time, and compares the bits. When each thread has done each of them, the
resident memory is read every few seconds. It is flat if at the end (the median of the last
quarter) it is at most ``GROWTH`` more than after the first quarter (the median of the second). The
exit code is 1 where a result differed or the memory grew.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

if __name__ == "__main__":  # as a program: its own folder is no place to look
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from fuzz.soak_work import WORK

#: How much more resident memory is flat: a share of what there was, and some bytes.
GROWTH = 0.03, 4 * 2**20


def resident() -> int:
    """Bytes of memory that this process has now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


class Soak:
    """The threads, what they found, and the memory over time."""

    def __init__(self, threads: int, seed: int) -> None:
        self.threads, self.seed = threads, seed
        self.alone = {name: work() for name, work in WORK.items()}
        self.done = [0] * threads
        self.wrong: list[str] = []
        self.memory: list[int] = []
        self._stop = threading.Event()

    def run(self, seconds: float, every: float = 5.0) -> None:
        """Work for so long after the first round; reads the memory at least 20 times."""
        every = min(every, seconds / 20)
        workers = [threading.Thread(target=self._work, args=(n,)) for n in range(self.threads)]
        for each in workers:
            each.start()
        while min(self.done) < len(WORK) and not self.wrong:
            time.sleep(0.05)
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self.wrong:
            time.sleep(every)
            self.memory.append(resident())
        self._stop.set()
        for each in workers:
            each.join()

    def _work(self, number: int) -> None:
        rng = random.Random(f"{self.seed}:{number}")
        while not self._stop.is_set():
            for name in rng.sample(list(WORK), len(WORK)):
                try:
                    same = WORK[name]() == self.alone[name]
                except BaseException:
                    self.wrong.append(f"{name}: {traceback.format_exc()}")
                    return
                if not same:
                    self.wrong.append(f"{name}: another result than alone")
                    return
                self.done[number] += 1
                if self._stop.is_set():
                    return

    def levels(self) -> tuple[int, int]:
        """Memory after the first quarter and at the end."""
        quarter = max(1, len(self.memory) // 4)
        begin = self.memory[quarter : 2 * quarter] or self.memory
        return int(statistics.median(begin)), int(statistics.median(self.memory[-quarter:]))

    def is_flat(self) -> bool:
        """Return True if the memory did not grow."""
        begin, end = self.levels()
        return end <= begin * (1 + GROWTH[0]) + GROWTH[1]


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="write the figures to this file")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # before there are threads: filters belong to all of them
    soak = Soak(given.threads, given.seed)
    soak.run(given.minutes * 60 if given.minutes else given.seconds)
    begin, end = soak.levels()
    told = {
        "pieces of work": sum(soak.done),
        "threads": given.threads,
        "MiB after the first quarter": round(begin / 2**20, 1),
        "MiB at the end": round(end / 2**20, 1),
        "flat": soak.is_flat(),
        "wrong": soak.wrong,
        "memory": soak.memory,
    }
    for name, value in list(told.items())[:-1]:
        print(f"{name}: {value}")
    if given.json:
        Path(given.json).write_text(json.dumps(told))
    return int(bool(soak.wrong) or not soak.is_flat())


if __name__ == "__main__":
    sys.exit(main())
