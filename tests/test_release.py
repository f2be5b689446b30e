"""Releases are as CONTRIBUTING.md describes: one version, and a changelog that fits it."""

from __future__ import annotations

import re
from pathlib import Path

import pyqref

ROOT = Path(__file__).parent.parent
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", CHANGELOG, flags=re.MULTILINE)


def test_version_is_the_newest_release_or_leads_to_the_next() -> None:
    """Between releases the version ends in ``.dev0``; at a release it has a section and a date."""
    number, _, suffix = pyqref.__version__.partition(".dev")
    versions = [name for name, _ in SECTIONS]
    assert "Unreleased" == versions[0]
    if suffix:
        assert number not in versions
    else:
        assert number == versions[1]
    assert all(date for _, date in SECTIONS[1:])


def test_unreleased_changes_have_their_three_lists() -> None:
    """New lines are added at the end of *Changed*, *Added* or *Fixed* of ``[Unreleased]``."""
    unreleased = CHANGELOG.split("\n## ")[1]
    assert ["Changed", "Added", "Fixed"] == re.findall(r"^### (\w+)$", unreleased, re.MULTILINE)


def test_version_is_written_down_once() -> None:
    """``pyqref/version.py`` is the only file that a release changes for its number."""
    number = pyqref.__version__.partition(".dev")[0]
    for name in ("pyproject.toml", "setup.py", "CITATION.cff", "docs/conf.py", "README.md"):
        assert number not in (ROOT / name).read_text(encoding="utf-8"), name
