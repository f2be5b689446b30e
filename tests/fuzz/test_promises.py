"""The pages of promises name tests that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = [*(ROOT / "tests").rglob("test_*.py")]


@pytest.mark.parametrize("page", ["docs/security.rst", "docs/design/reliability.rst"])
def test_named_tests_exist(page):
    """Each file of tests, each tool and each test that a page names is there."""
    text = (ROOT / page).read_text("utf-8")
    paths = re.findall(r"``((?:tests|tools)/[\w/.]+)``", text)
    assert len(paths) > 5
    assert [] == [each for each in paths if not (ROOT / each).exists()]
    named = set(re.findall(r"``(test_\w+)``", text))
    source = "\n".join(each.read_text("utf-8") for each in TESTS)
    assert [] == [each for each in named if f"def {each}(" not in source]


def test_the_command_lines_are_right():
    """The commands that SECURITY.md and the page show are those of the tools."""
    for page in ("SECURITY.md", "docs/design/reliability.rst"):
        text = (ROOT / page).read_text("utf-8")
        for tool, options in re.findall(r"python (tests/fuzz/\w+\.py)(.*)", text):
            source = (ROOT / tool).read_text("utf-8")
            for option in re.findall(r"--[a-z]+", options):
                assert f'"{option}"' in source, (page, tool, option)
