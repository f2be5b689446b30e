"""The summary of a docstring says what is returned or done, in words that need one reading."""

from __future__ import annotations

import re
from pathlib import Path

import pyqref

PACKAGE = Path(pyqref.__file__).parent
OPENING = re.compile(r'^\s*[rR]?"""(?:What|Whether|Of|As|The same)\b.*', re.MULTILINE)


def faults(folder: Path) -> list[str]:
    """Return the lines of Python and Cython files that open a docstring in such a way."""
    return [
        f"{path.relative_to(folder)}: {found.strip()}"
        for path in sorted(folder.rglob("*.p[yx]*"))
        if path.suffix in (".py", ".pyx", ".pxd")
        for found in OPENING.findall(path.read_text(encoding="utf-8"))
    ]


def test_no_docstring_opens_as_a_fragment() -> None:
    """No docstring of the package opens with What, Whether, Of, As or The same."""
    assert [] == faults(PACKAGE)


def test_an_opening_is_found(tmp_path: Path) -> None:
    """A planted docstring is found, and words that only begin alike are not."""
    (tmp_path / "planted.py").write_text('"""What it is."""\n"""Offsets."""\nx = "Of"\n')
    (tmp_path / "planted.pxd").write_text('cdef int f():\n    r"""As above.\n    """\n')
    assert ['planted.pxd: r"""As above.', 'planted.py: """What it is."""'] == faults(tmp_path)
