"""Call everything that is public with hostile arguments, on every kernel, in child processes.

    python tests/fuzz/caller.py --calls 2000 --seed 0
    python tests/fuzz/caller.py --minutes 60 --seed 7 --only avg_pool2d
    python tests/fuzz/caller.py --seed 7 --call 1234

A call follows from the seed and its number. It is made on the reference kernel and on the kernel in
use, with one thread and with three; results, arguments afterwards and gradients must have the same
bits. A call that asks neither which kernel is in use nor how many threads there are is made once,
because it has nothing to disagree about; one in 16 of these is made three times all the same.
What is found is printed with the line that repeats it, the first time in full, and is counted.
The exit code is 1 where there was a fault of a kind that ``--count`` does not name.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_TESTS = str(Path(__file__).resolve().parent.parent)
#: Seconds without a sign of life, whoever else uses the processor.
PATIENCE = 60.0
#: One call in so many is made on every kernel, even if it asked for none.
WHOLE = 16


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000, help="how many calls (2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--call", type=int, help="this call only")
    parser.add_argument("--only", default="", help="this function, method or layer only")
    parser.add_argument("--minutes", type=float, help="as many calls as this takes")
    parser.add_argument("--kernel", default="", help="kernel to compare with the reference")
    parser.add_argument("--seconds", type=int, default=5, help="of the processor for a call (5)")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="of addresses (3)")
    parser.add_argument("--patience", type=float, default=PATIENCE, help=argparse.SUPPRESS)
    parser.add_argument("--count", default="raw", help="kinds that only count, commas between")
    parser.add_argument("--json", help="write what was found to this file")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def child(given: argparse.Namespace) -> None:
    """Make calls one after another; tell the parent what was wrong."""
    import gc
    import resource

    from fuzz import cases, judge
    from fuzz.catalogue import chosen

    import pyqref

    pipe = os.fdopen(given.child, "w", buffering=1)
    progress = np.memmap(given.progress, np.int64, "r+", shape=(3,))
    targets = chosen(given.only)
    kernel = given.kernel or pyqref.kernels.in_use()
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)
    limit = int(given.gigabytes * 2**30)
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what calls print
    gc.freeze()  # what is imported stays
    for number in range(given.first, given.first + given.calls):
        case = cases.case(given.seed, number, targets)
        progress[0] = number
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + given.seconds
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, -1))
        whole = given.calls == 1 or number % WHOLE == 0
        answered, found = judge.judged(case, kernel, whole=whole)
        progress[1:] += 1, answered
        if found:
            told = {"call": number, "line": case.line, "found": [vars(each) for each in found]}
            pipe.write(json.dumps(told) + "\n")


def watched(given: argparse.Namespace, progress: Any) -> Iterator[dict[str, Any]]:
    """What the children tell, with their ends: ``crash`` and ``hang`` are faults too."""
    end = given.first + given.calls
    until = time.monotonic() + given.minutes * 60 if given.minutes else float("inf")
    first = given.first
    while first < end:
        progress[0] = -1
        with tempfile.TemporaryFile("w+") as errors:
            reader, writer = os.pipe()
            program = [sys.executable, __file__, *_passed(given), f"--child={writer}"]
            program += [f"--first={first}", f"--calls={end - first}"]
            path = os.pathsep.join(filter(None, (_TESTS, os.environ.get("PYTHONPATH"))))
            process = subprocess.Popen(
                program,
                pass_fds=(writer,),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**os.environ, "PYTHONPATH": path},
            )
            os.close(writer)
            waited = True
            try:
                yield from _lines(reader, given.patience, until, progress)
                waited = False
            except TimeoutError:
                if time.monotonic() > until:
                    return
            finally:
                os.close(reader)
                if waited:
                    process.kill()
                code = process.wait()
            errors.seek(0)
            said = errors.read()
        last = int(progress[0])
        if code == 0:
            return
        if last < 0:
            raise SystemExit(f"a child ended before its first call:\n{said}")
        hangs = waited or code == -signal.SIGXCPU
        kind = "hang" if hangs else "crash"
        text = "no sign of life" if waited else f"ended with {code}: {_place(said)}"
        line, name = _line(given, last)
        progress[1] += 1
        yield {"call": last, "line": line, "found": [{"kind": kind, "place": name, "said": text}]}
        first = last + 1


def _line(given: argparse.Namespace, number: int) -> tuple[str, str]:
    """The text of a call and the name of what it calls."""
    from fuzz import cases
    from fuzz.catalogue import chosen

    case = cases.case(given.seed, number, chosen(given.only))
    return case.line, case.target.name


def _passed(given: argparse.Namespace) -> list[str]:
    names = ("seed", "only", "kernel", "seconds", "gigabytes", "progress")
    return [f"--{name}={getattr(given, name)}" for name in names]


def _lines(reader: int, patience: float, until: float, progress: Any) -> Iterator[dict[str, Any]]:
    """What comes from a child; it is an error where it stands still for long."""
    rest, at = b"", -1
    end = time.monotonic() + max(patience, PATIENCE)  # it imports and reads the tables first
    while True:
        if not select.select([reader], [], [], min(patience, 1.0))[0]:
            yield {"found": []}
        else:
            got = os.read(reader, 1 << 16)
            if not got:
                return
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                yield json.loads(line)
        now, last = time.monotonic(), int(progress[0])
        if last != at:
            at, end = last, now + patience
        if now > min(end, until):
            raise TimeoutError


def _place(said: str) -> str:
    """The reason and the innermost frames of a report of faulthandler."""
    lines = [each.strip() for each in said.splitlines() if each.strip()]
    frames = [each for each in lines if each.startswith("File ")][:2]
    return " ".join([*lines[:1], *frames])[:300]


def main(arguments: list[str] | None = None) -> int:
    """Run, print every fault, and say how many there were."""
    given = options(arguments)
    if given.child is not None:
        child(given)
        return 0
    if given.call is not None:
        given.first, given.calls = given.call, 1
    if given.minutes:
        given.calls = 10**9
    tally = _Tally()
    with tempfile.NamedTemporaryFile() as shared:
        given.progress = shared.name
        # The call under way, how many were made, how many were answered.
        progress = np.memmap(shared.name, np.int64, "w+", shape=(3,))
        try:
            for told in watched(given, progress):
                for fault in told.pop("found"):
                    if tally.is_new({**told, **fault}):
                        _tell(given, told, fault)
                if given.json and time.monotonic() > tally.written + 60:
                    tally.write(given.json, progress)
        except KeyboardInterrupt:
            print("stopped")
        if given.json:
            tally.write(given.json, progress)
        _, calls, answered = map(int, progress)
    if given.call is not None:
        print(f"from fuzz.values import *; {_line(given, given.call)[0]}")
    print(f"\n{calls} calls, {answered} answered, in {time.monotonic() - tally.started:.0f} s")
    for kind, count in sorted(tally.kinds().items()):
        places = sum(each == kind for each, _ in tally.faults)
        print(f"{kind}: {count} in {places} places")
    return int(any(kind not in given.count.split(",") for kind in tally.kinds()))


class _Tally:
    """The faults by kind and place, and the first one of each place."""

    def __init__(self) -> None:
        self.started = self.written = time.monotonic()
        self.faults: Counter[tuple[str, str]] = Counter()
        self.first: list[dict[str, Any]] = []

    def is_new(self, fault: dict[str, Any]) -> bool:
        key = fault["kind"], fault["place"]
        self.faults[key] += 1
        if self.faults[key] == 1:
            self.first.append(fault)
        return self.faults[key] == 1

    def kinds(self) -> Counter[str]:
        kinds: Counter[str] = Counter()
        for (kind, _), count in self.faults.items():
            kinds[kind] += count
        return kinds

    def write(self, path: str, progress: Any) -> None:
        self.written = time.monotonic()
        _, calls, answered = map(int, progress)
        seconds = round(self.written - self.started)
        summary = {"calls": calls, "answered": answered, "seconds": seconds}
        summary |= {"kinds": self.kinds(), "faults": self.first}
        Path(path).write_text(json.dumps(summary, indent=1))


def _tell(given: argparse.Namespace, now: dict[str, Any], fault: dict[str, str]) -> None:
    only = f" --only {given.only}" if given.only else ""
    print(f"{fault['kind']} at {fault['place']}: {fault['said']}")
    print(f"    from fuzz.values import *; {now['line']}")
    print(f"    python tests/fuzz/caller.py --seed {given.seed} --call {now['call']}{only}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, _TESTS)
    for name in (
        signal.SIGTERM,
        signal.SIGINT,
    ):  # ends with a summary
        signal.signal(name, signal.default_int_handler)
    sys.exit(main())
