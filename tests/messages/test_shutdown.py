"""A name that is first used while Python shuts down says so, and what to do instead."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import pytest
from messages.following import says

#: An object that is deleted after Python has stopped to import.
CLEANED_UP = """
import os, pyqref

class Late:
    def __del__(self, write=os.write, error=Exception):
        try:
            {call}
            write(1, b"done")
        except error as problem:
            write(1, str(problem).encode())

late = Late()
{before}
"""
CALLS = [
    "pyqref.nn.Linear(2, 2)",
    "pyqref.quantize_per_tensor(pyqref.ones(2), 0.1, 0, pyqref.quint8)",
    "pyqref.randn(2)",
    "pyqref.save",
]


def printed_by(script: str) -> str:
    """Return the text that a process of its own prints, which must report no errors."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        # Elsewhere: in a clone the sources would hide the package that is tested.
        cwd=tempfile.gettempdir(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "" == done.stderr
    return done.stdout


@pytest.mark.parametrize("call", CALLS)
def test_first_use_in_a_finalizer(call: str) -> None:
    """The message names what is missing; used once before, or by atexit, it is there."""
    with says(
        "use {} once before, or register what uses it with atexit.register instead of calling it "
        "in __del__"
    ) as told:
        told(printed_by(CLEANED_UP.format(call=call, before="")))
    assert "while the interpreter is shutting down" in told.text
    assert "built from other sources" not in told.text
    assert "done" == printed_by(CLEANED_UP.format(call=call, before=call))
    script = f"import atexit, pyqref; atexit.register(lambda: (({call}), print('done')))"
    assert "done\n" == printed_by(script)


def test_first_use_by_a_thread_that_is_waited_for() -> None:
    """Python waits for such a thread, and for one that a function of atexit joins."""
    work = "def work(): time.sleep(0.2); pyqref.nn.Linear(2, 2); print('done')"
    start = "import atexit, threading, time, pyqref\n" + work + "\n"
    assert "done\n" == printed_by(start + "threading.Thread(target=work).start()")
    joined = (
        "def wait():\n    thread = threading.Thread(target=work)\n    thread.start()\n"
        "    thread.join()\natexit.register(wait)"
    )
    assert "done\n" == printed_by(start + joined)
    daemon = "threading.Thread(target=work, daemon=True).start()"
    assert printed_by(start + daemon) in ("", "done\n")
