"""Call everything that is public with hostile arguments, on every kernel, in child processes.

    python tests/fuzz/caller.py --calls 2000 --seed 0
    python tests/fuzz/caller.py --minutes 60 --seed 7 --only avg_pool2d
    python tests/fuzz/caller.py --seed 7 --call 1234

A call follows from the seed and its number. It is made on the reference kernel and on the kernel in
use, with one thread and with three; results, arguments afterwards and gradients must have the same
bits. (Functions of real numbers that are NumPy in both have nothing to disagree about.) What is
found is printed with the line that repeats it, the first time in full, and is counted. The exit
code is 1 where there was a fault of a kind that ``--count`` does not name.
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
from functools import lru_cache
from pathlib import Path
from typing import Any

_TESTS = str(Path(__file__).resolve().parent.parent)
#: Seconds without a sign of life, whoever else uses the processor.
PATIENCE = 60.0


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
    return parser.parse_args(arguments)


def child(given: argparse.Namespace) -> None:
    """Make calls one after another; tell the parent which, and what was wrong."""
    import resource

    from fuzz import cases, judge
    from fuzz.catalogue import chosen

    import pyqref
    from pyqref._kernels import registry

    # Which files are there does not change meanwhile; looking takes a third of the time.
    registry.built = lru_cache(registry.built)
    pipe = os.fdopen(given.child, "w", buffering=1)
    targets = chosen(given.only)
    kernel = given.kernel or pyqref.kernels.in_use()
    faulthandler.enable()
    faulthandler.register(signal.SIGXCPU, chain=True)
    limit = int(given.gigabytes * 2**30)
    with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what calls print
    for number in range(given.first, given.first + given.calls):
        case = cases.case(given.seed, number, targets)
        pipe.write(json.dumps({"call": number, "line": case.line, "name": case.target.name}) + "\n")
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + given.seconds
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, -1))
        answered, found = judge.judged(case, kernel)
        pipe.write(json.dumps({"done": answered, "found": [vars(e) for e in found]}) + "\n")


def watched(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """What the children tell, with their ends: ``crash`` and ``hang`` are faults too."""
    end = given.first + given.calls
    until = time.monotonic() + given.minutes * 60 if given.minutes else float("inf")
    first = given.first
    while first < end:
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
            last, waited = None, True
            try:
                for told in _lines(reader, given.patience):
                    last = told if "call" in told else None
                    yield told
                    if time.monotonic() > until:
                        return
                waited = False
            except TimeoutError:
                pass
            finally:
                os.close(reader)
                if waited:
                    process.kill()
                code = process.wait()
            errors.seek(0)
            said = errors.read()
        if last is None:
            if code:
                raise SystemExit(f"a child ended before its first call:\n{said}")
            return
        hangs = waited or code == -signal.SIGXCPU
        kind = "hang" if hangs else "crash"
        text = "no sign of life" if waited else f"ended with {code}: {_place(said)}"
        yield {"done": False, "found": [{"kind": kind, "place": last["name"], "said": text}]}
        first = last["call"] + 1


def _passed(given: argparse.Namespace) -> list[str]:
    names = ("seed", "only", "kernel", "seconds", "gigabytes")
    return [f"--{name}={getattr(given, name)}" for name in names]


def _lines(reader: int, patience: float) -> Iterator[dict[str, Any]]:
    """What comes from a child; it is an error where nothing came for long."""
    rest, wait = b"", max(patience, PATIENCE)  # it imports and reads the tables first
    while True:
        if not select.select([reader], [], [], wait)[0]:
            raise TimeoutError
        got = os.read(reader, 1 << 16)
        if not got:
            return
        wait = patience
        *lines, rest = (rest + got).split(b"\n")
        for line in lines:
            yield json.loads(line)


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
    started, calls, answered = time.monotonic(), 0, 0
    faults: Counter[tuple[str, str]] = Counter()
    written: list[dict[str, Any]] = []
    now: dict[str, Any] = {}
    try:
        for told in watched(given):
            if "call" in told:
                now = told
                continue
            calls, answered = calls + 1, answered + told["done"]
            for fault in told["found"]:
                key = fault["kind"], fault["place"]
                faults[key] += 1
                if faults[key] == 1:
                    written.append({**now, **fault})
                    _tell(given, now, fault)
    except KeyboardInterrupt:
        print("stopped")
    if given.call is not None:
        print(f"from fuzz.values import *; {now['line']}")
    kinds: Counter[str] = Counter()
    for (kind, _), count in faults.items():
        kinds[kind] += count
    print(f"\n{calls} calls, {answered} answered, in {time.monotonic() - started:.0f} s")
    for kind, count in sorted(kinds.items()):
        places = sum(each == kind for each, _ in faults)
        print(f"{kind}: {count} in {places} places")
    if given.json:
        summary = {"calls": calls, "answered": answered, "kinds": kinds, "faults": written}
        Path(given.json).write_text(json.dumps(summary, indent=1))
    return int(any(kind not in given.count.split(",") for kind in kinds))


def _tell(given: argparse.Namespace, now: dict[str, Any], fault: dict[str, str]) -> None:
    only = f" --only {given.only}" if given.only else ""
    print(f"{fault['kind']} at {fault['place']}: {fault['said']}")
    print(f"    from fuzz.values import *; {now['line']}")
    print(f"    python tests/fuzz/caller.py --seed {given.seed} --call {now['call']}{only}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path.insert(0, _TESTS)
    sys.exit(main())
