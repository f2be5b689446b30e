"""A save that is killed leaves the old file intact, and large files take little memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version

import pytest

import pyqref
from pyqref.serialization import FileError, atomic

MEBIBYTE = 2**20


def in_a_process(script: str) -> str:
    """Return the text that a fresh process prints."""
    command = [sys.executable, "-c", script]
    # Elsewhere: in a clone the sources would hide the package that is tested.
    folder = tempfile.gettempdir()
    result = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=folder
    )
    return result.stdout


def peak_growth(script: str, before: str) -> int:
    """Bytes by which the peak of a process grows while ``script`` runs, after ``before``."""
    lines = [
        "import resource, pyqref",
        before,
        "first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss",
        script,
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first)",
    ]
    return int(in_a_process("\n".join(lines))) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_of_large_files(tmp_path):
    """Saving copies no tensor, and loading holds each once: 64 MiB of them.

    8 MiB are for the packages, the pieces and the header. Before its release 0.8, safetensors
    copies what it saves.
    """
    is_copied = version("safetensors").startswith(("0.4.", "0.5.", "0.6.", "0.7."))
    path = str(tmp_path / "large.safetensors")
    state = "state = {str(i): pyqref.ones(4, 2**20) for i in range(4)}"
    small = f"pyqref.save({{'a': pyqref.ones(1)}}, {path!r}); pyqref.load({path!r})"
    save = f"pyqref.save(state, {path!r})"
    assert peak_growth(save, f"{small}\n{state}") < (72 if is_copied else 8) * MEBIBYTE
    assert peak_growth(f"state = pyqref.load({path!r})", "import safetensors.numpy") < 72 * MEBIBYTE


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal")
def test_the_next_save_removes_what_a_killed_one_left(tmp_path):
    """The old file stays whole, another that is being written now is left alone."""
    path = str(tmp_path / "model.safetensors")
    pyqref.save({"a": pyqref.ones(1)}, path)
    script = (
        "import time, pyqref; from pyqref.serialization import atomic; "
        f"atomic.write_atomically({path!r}, lambda part: time.sleep(60))"
    )
    command = [sys.executable, "-c", script]
    writers = [subprocess.Popen(command, cwd=tmp_path.parent) for _ in range(2)]
    deadline = time.monotonic() + 60
    while len(os.listdir(tmp_path)) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    writers[0].kill()
    writers[0].wait()
    assert 3 == len(os.listdir(tmp_path))
    pyqref.save({"a": pyqref.zeros(1)}, path)
    left = set(os.listdir(tmp_path)) - {"model.safetensors"}
    assert 1 == len(left)
    writers[1].kill()
    writers[1].wait()
    pyqref.save({"a": pyqref.ones(1)}, path)
    assert ["model.safetensors"] == os.listdir(tmp_path)


def test_an_error_while_writing_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"old")

    def fail(part: str) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        atomic.write_atomically(str(path), fail)
    assert [path] == list(tmp_path.iterdir())
    assert b"old" == path.read_bytes()


def test_a_header_of_millions_of_values_is_refused_before_it_is_parsed(tmp_path):
    """20 MB of brackets would take half a gigabyte."""
    path = tmp_path / "hostile.safetensors"
    text = b"[" + b"[]," * 6_000_000 + b"0]"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(FileError, match=r"has 12000001 values, at most 2000000 are read"):
        pyqref.load(path)


def test_a_byte_that_is_no_bool_is_refused(tmp_path):
    path = tmp_path / "bools.safetensors"
    header = {"mask": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}}
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\x01\x02")
    with pytest.raises(FileError, match=r"'mask': the bytes of BOOL must be 0 or 1, found 2"):
        pyqref.load(path)
