"""The museum of bugs: each bug is planted, changes its example, and is found by the suite."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyqref import course
from pyqref.cli import main
from pyqref.course.museum import Bug, bugs, grade_tests, picture
from pyqref.course.plan import PLANS
from pyqref.numerics import affine

ROOT = Path(__file__).parents[2]
BUGS = list(bugs().values())
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="bugs are planted in forks")


def test_the_museum_is_large() -> None:
    """At least 25 bugs, each with a public report of its own."""
    assert len(BUGS) >= 25
    assert len(BUGS) == len({each.name for each in BUGS})
    assert all(each.reference.startswith("https://github.com/") for each in BUGS)
    assert len({each.reference for each in BUGS}) >= len(BUGS) - 1


@pytest.mark.parametrize("bug", BUGS, ids=lambda each: each.name)
def test_a_bug_changes_its_example_and_goes_away(bug: Bug) -> None:
    before = bug.original().__code__
    right, wrong = bug.values()
    assert right.shape != wrong.shape or np.any(right != wrong)
    assert before is bug.original().__code__


@forks
def test_the_suite_finds_every_bug(tmp_path: Path) -> None:
    """The test that the museum names fails, exit status 1, while the bug is planted."""
    command = [sys.executable, str(Path(__file__).with_name("planting.py"))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    assert dict.fromkeys((bug.name for bug in BUGS), 1) == json.loads(done.stdout), done.stderr


def test_a_planted_bug_is_seen_wherever_the_function_was_imported() -> None:
    """clamp_to_int is imported by affine: the bug shows there."""
    x = np.float32([300.0])

    def quantized() -> list[int]:
        found: list[int] = affine.quantize_per_tensor(x, 1.0, 0, 0, 255, np.uint8).tolist()
        return found

    assert [255] == quantized()
    with bugs()["wraps"].planted():
        assert [44] == quantized()
    assert [255] == quantized()


GOOD = """
import numpy as np
from pyqref.numerics import affine
def test_ties():
    q = affine.quantize_per_tensor(np.float32([0.5, 2.5, -1.0, 300]), 1.0, 0, 0, 255, np.uint8)
    assert [0, 2, 0, 255] == q.tolist()
"""


@forks
def test_tests_are_graded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Those bugs are found that the tests can see; tests that fail by themselves are refused."""
    file = tmp_path / "test_mine.py"
    file.write_text(GOOD)
    grade = grade_tests(file, names=["half-away", "loses-the-sign", "wraps", "pads-with-zero"])
    assert ("half-away", "loses-the-sign", "wraps") == grade.found
    assert ("pads-with-zero",) == grade.missed
    file.write_text("def test_wrong():\n    assert False\n")
    assert 1 == main(["course", "grade-tests", str(file)])
    assert "must pass on pyqref as it is" in capsys.readouterr().out
    assert 1 == main(["course", "grade-tests", str(tmp_path / "none.py")])
    assert "none.py is no file" in capsys.readouterr().err


def test_the_command_lists_and_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["museum"])
    assert [each.name for each in BUGS] == [
        line.split()[0] for line in capsys.readouterr().out.splitlines()
    ]
    file = tmp_path / "bug.svg"
    assert 0 == main(["museum", "pads-with-zero", "--picture", str(file)])
    assert "reported      https://github.com/apache/tvm/pull/4807" in capsys.readouterr().out
    assert "<svg" in file.read_text("utf-8")
    assert 1 == main(["museum", "no-such-bug"])
    assert "there is no bug 'no-such-bug'" in capsys.readouterr().err


def test_pictures_are_drawn() -> None:
    for name in ("pool-window-in-the-padding", "average-from-zero"):
        assert 2 == len(picture(bugs()[name]).axes[0].lines)


# --- Plans and material ------------------------------------------------------------------------


@pytest.mark.parametrize("weeks", [6, 12])
def test_a_plan_has_every_exercise_and_every_tutorial_once(weeks: int) -> None:
    """Weeks, tutorials and exercises agree with what there is."""
    plan = PLANS[weeks]
    assert weeks == len(plan)
    planned = [name for week in plan for name in week.exercises]
    assert sorted(course.exercises()) == sorted(planned)
    tutorials = [name for week in plan for name in week.tutorials]
    present = sorted(each.stem for each in (ROOT / "tutorials").glob("plot_*.py"))
    assert sorted(tutorials) == [each for each in present if each in tutorials]
    assert 15 == len(set(tutorials))
    assert {name for week in plan for name in week.bugs} <= set(bugs())
    for week in plan:
        assert all((ROOT / "docs" / f"{each}.rst").is_file() for each in week.reading)
        assert all([week.goals, week.needs, week.question, week.project, min(week.hours) > 0])


def check_assignment(cells: list[dict[str, Any]]) -> None:
    """What nbgrader's schema 3 and its marks ask for; without the answers it is still Python."""
    about = [cell["metadata"]["nbgrader"] for cell in cells if cell["metadata"]]
    names = [each["grade_id"] for each in about]
    assert len(names) == len(set(names)) > 0
    assert {3} == {each["schema_version"] for each in about}
    assert all(each["solution"] != each["grade"] == ("points" in each) for each in about)
    for cell in cells:
        marks = re.findall(r"### (BEGIN|END) (SOLUTION|HIDDEN TESTS)", cell["source"])
        assert marks[::2] == [("BEGIN", what) for _, what in marks[1::2]]
        released = re.sub(r"### BEGIN (?s:.*?)### END.*", "pass", cell["source"])
        assert "seed = 77" not in released
        if cell["cell_type"] == "code":
            compile(released, "released", "exec")
            assert "np.rint" not in released


def test_slides_notebooks_and_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A page and a notebook for each week; no notebook holds an answer."""
    import json

    assert 0 == main(["course", "slides", str(tmp_path / "slides"), "--weeks", "6"])
    pages = sorted((tmp_path / "slides").glob("*.html"))
    assert 6 == len(pages)
    for page in pages:
        text = page.read_text("utf-8")
        for part in text.split('src="')[1:]:
            assert (page.parent / part.partition('"')[0]).is_file()
    assert 0 == main(["course", "starter", str(tmp_path / "starter")])
    assert 0 == main(["course", "answers", str(tmp_path / "answers")])
    written = {each.stem: each.read_text("utf-8") for each in (tmp_path / "answers").iterdir()}
    assert set(course.exercises()) == set(written)
    notebooks = sorted((tmp_path / "starter").iterdir())
    assert 12 == len(notebooks)
    for notebook in notebooks:
        cells: list[dict[str, Any]] = json.loads(notebook.read_text("utf-8"))["cells"]
        for cell in cells:
            if cell["cell_type"] == "code":
                compile(cell["source"], str(notebook), "exec")
                assert "np.rint" not in cell["source"]
    assert 0 == main(["course", "assignments", str(tmp_path / "source"), "--seed", "77"])
    for notebook in notebooks:
        source = tmp_path / "source" / notebook.stem / notebook.name
        check_assignment(json.loads(source.read_text("utf-8"))["cells"])
    capsys.readouterr()
    file = tmp_path / "answers" / "fuse.py"
    assert 0 == main(["course", "check", "fuse", str(file)])
