"""mypy and pyright read the types of pyqref: they tell the faults of a script, and only those."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import pyqref

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
WRONG = HERE / "wrong.py"
PACKAGES = Path(pyqref.__file__).parent.parent


def _run(module: str, *arguments: str, where: Path) -> str:
    pytest.importorskip(
        module, reason=f"{module} is not installed, so it checked nothing: pip install '.[lint]'"
    )
    environment = os.environ | {"MYPYPATH": str(PACKAGES) if PACKAGES == ROOT else ""}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def _mypy(files: tuple[Path, ...], where: Path) -> set[tuple[str, int]]:
    told = _run("mypy", "--strict", "--config-file=", *map(str, files), where=where)
    assert re.search(r"^(Found|Success)", told, re.M), told
    return {
        (Path(name).name, int(line))
        for name, line in re.findall(r"^(.+?):(\d+): error", told, re.M)
    }


def _pyright(files: tuple[Path, ...], where: Path) -> set[tuple[str, int]]:
    config = {"extraPaths": [str(PACKAGES)], "include": [each.name for each in files]}
    (where / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    told = json.loads(_run("pyright", "--outputjson", where=where))
    return {
        (Path(each["file"]).name, each["range"]["start"]["line"] + 1)
        for each in told["generalDiagnostics"]
        if each["severity"] == "error"
    }


@cache
def _readme() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.partition("## Fifteen lines\n\n```python\n")[2].partition("```")[0]


@pytest.mark.parametrize("told", [_mypy, _pyright], ids=["mypy", "pyright"])
def test_faults_are_told(told, tmp_path):
    """Each faulty line of a script is an error; the fifteen lines of the README have none."""
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(_readme(), encoding="utf-8")
    assert len(_readme().splitlines()) > 10
    wrong.write_text(WRONG.read_text(encoding="utf-8"), encoding="utf-8")
    lines = wrong.read_text(encoding="utf-8").splitlines()
    faulty = {("wrong.py", n) for n, line in enumerate(lines, 1) if "# fault" in line}
    assert len(faulty) == 8
    assert faulty == told((wrong, right), tmp_path)
