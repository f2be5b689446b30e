"""Whatever touches the insides of Python or NumPy stands in ``pyqref._insides``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pyqref

PACKAGE = Path(pyqref.__file__).parent
TRICKS = {
    "a frame of a caller": r"\b_getframe\b|\bcurrentframe\b|\binspect\.stack\b",
    "a variable of a frame that is written": r"f_locals\[[^]]*\] *=(?!=)",
    "bytecode": r"\bco_code\b|^import (dis|opcode)\b|\bget_instructions\b",
    "another code object": r"\.__code__ =(?!=)|\bCodeType\(",
    "memory behind Python's back": r"^import ctypes\b|^from ctypes\b|\bmallopt\b",
    "a loop of a ufunc": r"\bufunc\.functions\b|\bmatmul\.functions\b",
    "a private name of NumPy": r"\bnp\._[a-z]|\bfrom numpy\._core\b",
}

#: Calls functions of users' shared libraries, which is what ctypes is for.
ELSEWHERE = {"testing/library.py"}


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_have_one_home(trick: str) -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxd") and path.parent.name != "_insides"
        if path.relative_to(PACKAGE).as_posix() not in ELSEWHERE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(TRICKS[trick], line)
    ]
    assert [] == found


def test_each_trick_says_why_and_what_if_not() -> None:
    for path in (PACKAGE / "_insides").iterdir():
        if path.suffix == ".py" and path.stem != "__init__":
            text = path.read_text(encoding="utf-8")
            assert all(part in text for part in ("What\n", "Why\n", "Where it is absent\n")), path
