"""Processes that do one thing after another, and a parent that sees how each of them ends.

A child writes the number of what it does now into memory that the parent sees, and tells what was
wrong as lines of JSON. When it crashes or stands still, the parent notes the number and starts the
next child behind it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

TESTS = str(Path(__file__).resolve().parent.parent)
#: Seconds without a sign of life, whoever else uses the processor.
PATIENCE = 60.0
#: The same until a child has imported what it needs.
START = 600.0


class Parent:
    """Starts children and counts.

    Parameters
    ----------
    program
        The arguments of a child that begins at a number: ``program(first)`` with ``--child``
        and ``--progress``, which are added.
    first, count
        Numbers of what is to be done.
    minutes
        The time after which no more is done, or None.
    patience
        Seconds without a sign of life.
    """

    def __init__(
        self,
        program: Callable[[int], list[str]],
        first: int,
        count: int,
        minutes: float | None = None,
        patience: float = PATIENCE,
    ) -> None:
        self.program, self.first, self.end, self.patience = program, first, first + count, patience
        self.until = time.monotonic() + minutes * 60 if minutes else float("inf")
        self._shared = tempfile.NamedTemporaryFile()  # noqa: SIM115 as long as the parent
        weakref.finalize(self, self._shared.close)
        # What is done now, how many were done, how many were answered.
        self.progress = np.memmap(self._shared.name, np.int64, "w+", shape=(3,))

    def watched(self) -> Iterator[dict[str, Any]]:
        """Yield the reports of the children, and ``kind``, ``said``, ``number`` of a child's end.

        An empty dict is a sign of life.
        """
        first = self.first
        while first < self.end:
            self.progress[0] = -1
            said, code, waited = "", 0, False
            for told in self._child(first):
                if "code" in told:
                    said, code, waited = told["said"], told["code"], told["waited"]
                else:
                    yield told
            if time.monotonic() > self.until or (code == 0 and not waited):
                return
            last = int(self.progress[0])
            if last < 0:
                raise SystemExit(f"a child ended before it did anything:\n{said}")
            hangs = waited or code == -signal.SIGXCPU
            text = "no sign of life" if waited else f"ended with {code}: {_place(said)}"
            self.progress[1] += 1
            yield {"kind": "hang" if hangs else "crash", "said": text, "number": last}
            first = last + 1

    def _child(self, first: int) -> Iterator[dict[str, Any]]:
        with tempfile.TemporaryFile("w+") as errors:
            reader, writer = os.pipe()
            program = [*self.program(first), f"--child={writer}", f"--progress={self._shared.name}"]
            path = os.pathsep.join(filter(None, (TESTS, os.environ.get("PYTHONPATH"))))
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
                yield from self._lines(reader)
                waited = False
            except TimeoutError:
                pass
            finally:
                os.close(reader)
                if waited:
                    process.kill()
                code = process.wait()
            errors.seek(0)
            yield {"code": code, "waited": waited, "said": errors.read()}

    def _lines(self, reader: int) -> Iterator[dict[str, Any]]:
        """Yield the lines of a child; raise an error where it stands still for long."""
        rest, at = b"", -1
        end = time.monotonic() + START
        while True:
            if not select.select([reader], [], [], min(self.patience, 1.0))[0]:
                yield {}
            else:
                got = os.read(reader, 1 << 16)
                if not got:
                    return
                *lines, rest = (rest + got).split(b"\n")
                for line in lines:
                    yield json.loads(line)
            now, last = time.monotonic(), int(self.progress[0])
            if last != at:  # it has begun, or gone on
                at, end = last, now + self.patience
            if now > min(end, self.until):
                raise TimeoutError


def _place(said: str) -> str:
    """The reason and the innermost frames of a report of faulthandler."""
    lines = [each.strip() for each in said.splitlines() if each.strip()]
    frames = [each for each in lines if each.startswith("File ")][:2]
    return " ".join([*lines[:1], *frames])[:300]


class Child:
    """The other side: limits, the number of what is done now, and what was wrong."""

    def __init__(self, pipe: int, progress: str, seconds: int) -> None:
        self._pipe = os.fdopen(pipe, "w", buffering=1)
        self._progress = np.memmap(progress, np.int64, "r+", shape=(3,))
        self._seconds = seconds

    def limit(self, addresses: int) -> None:
        """Limit the addresses of this process in bytes, and let it say why it ends."""
        import resource

        faulthandler.enable()
        faulthandler.register(signal.SIGXCPU, chain=True)
        with contextlib.suppress(ValueError, OSError):  # macOS has no such limit
            resource.setrlimit(resource.RLIMIT_AS, (addresses, addresses))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what calls print
        gc.freeze()  # what is imported stays

    def begin(self, number: int) -> None:
        """Allow the next step its seconds of processor time."""
        import resource

        self._progress[0] = number
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = int(used.ru_utime + used.ru_stime) + 1 + self._seconds
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, -1))

    def end(self, answered: bool, told: dict[str, Any]) -> None:
        """It is done; ``told`` is empty where nothing was wrong."""
        self._progress[1] += 1
        self._progress[2] += answered
        if told:
            self._pipe.write(json.dumps(told) + "\n")


class Tally:
    """The faults by kind and place, and the first one of each place."""

    def __init__(self, path: str | None, progress: Any) -> None:
        self.started = self._written = time.monotonic()
        self.faults: Counter[tuple[str, str]] = Counter()
        self.first: list[dict[str, Any]] = []
        self._path, self._progress = path, progress

    def is_new(self, fault: dict[str, Any]) -> bool:
        """Count a fault; whether it is the first of its kind at its place."""
        key = fault["kind"], fault["place"]
        self.faults[key] += 1
        if self.faults[key] == 1:
            self.first.append(fault)
        return self.faults[key] == 1

    def kinds(self) -> Counter[str]:
        """Count the faults of each kind."""
        kinds: Counter[str] = Counter()
        for (kind, _), count in self.faults.items():
            kinds[kind] += count
        return kinds

    def write(self, *, at_once: bool) -> None:
        """Write what was found so far, every minute."""
        now = time.monotonic()
        if not self._path or (not at_once and now < self._written + 60):
            return
        self._written = now
        _, done, answered = map(int, self._progress)
        summary = {"calls": done, "answered": answered, "seconds": round(now - self.started)}
        summary |= {"kinds": self.kinds(), "faults": self.first}  # type: ignore[dict-item]
        Path(self._path).write_text(json.dumps(summary, indent=1))

    def show(self, what: str) -> None:
        """Print the numbers."""
        _, done, answered = map(int, self._progress)
        seconds = time.monotonic() - self.started
        print(f"\n{done} {what}, {answered} answered, in {seconds:.0f} s")
        for kind, count in sorted(self.kinds().items()):
            places = sum(each == kind for each, _ in self.faults)
            print(f"{kind}: {count} in {places} places")


def end_with_a_summary() -> None:
    """Let the signals that end a program interrupt it, in the background too."""
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, signal.default_int_handler)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
