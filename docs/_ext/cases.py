"""How many cases pytest collects from the tests that :mod:`pyqref.sphinx.equations` finds."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from pyqref.sphinx.equations import ROOT, TESTS

#: Without the folder that it starts in, where a clone's sources would hide the installed package.
COLLECT = """
import sys
sys.path = [each for each in sys.path if each]
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def cases(files: list[str], cache: Path | None = None) -> Counter[str]:
    """How many cases pytest collects for each ``file::test`` of the files.

    The numbers are those of this machine: tests of kernels run for each kernel that it
    supports, and tests of an optional package only where that is installed. They are kept in
    ``cache`` until a test file changes.
    """
    sources = b"".join(path.read_bytes() for path in sorted(TESTS.rglob("*.py")))
    key = hashlib.sha256(sources + f"{sys.version}{files}".encode()).hexdigest()
    if cache is not None and cache.exists():
        kept = json.loads(cache.read_text(encoding="utf-8"))
        if kept["key"] == key:
            return Counter(kept["cases"])
    command = [sys.executable, "-c", COLLECT, "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"pytest could not collect the tests:\n{done.stdout}{done.stderr}")
    lines = [line for line in done.stdout.splitlines() if "::" in line]
    counted = Counter(line.partition("[")[0] for line in lines)
    if cache is not None:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps({"key": key, "cases": counted}), encoding="utf-8")
    return counted
