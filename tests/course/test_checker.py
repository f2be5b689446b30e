"""The checker: answers of many kinds, drawn cases, processes that hang or crash, reports."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyqref import course
from pyqref.cli import main
from pyqref.course.checking import all_cases, run
from pyqref.course.library import LIBRARIES
from pyqref.course.library.model import compiled, pairs, singles
from pyqref.course.loading import wanted
from pyqref.course.outcome import attempt, same

ANSWERS = Path(__file__).parent / "answers"


def answers(file: str) -> list[tuple[str, str, str]]:
    """Exercise, what is wrong, source."""
    blocks = re.split(r"^=== ", (ANSWERS / file).read_text("utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for block in blocks:
        head, _, source = block.partition("\n")
        name, what = (each.strip() for each in head.split("|"))
        found.append((name, what, f"import math\nimport numpy as np\n{source}"))
    return found


def judged(name: str, source: str, seed: int = 0) -> course.Result:
    names: dict[str, Any] = {}
    exec(source, names)
    return run(course.get(name), names[wanted(course.get(name).signature)], seed)


# --- Wrong answers as students write them ------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "named"),
    [("first.txt", 0.9), ("second.txt", 0.5), ("third.txt", 0.8), ("fourth.txt", 0.8)],
)
def test_wrong_answers_are_named_or_described(file: str, named: float) -> None:
    """docs/course: none is accepted, each is named or described, most are named.

    Every eleventh answer, for the time it takes; the figures in docs/course are of all.
    """
    chosen = [each for each in answers(file)[::11] if "loop" not in each[1]]
    results = [(what, judged(name, source)) for name, what, source in chosen]
    assert [] == [what for what, result in results if result.passed]
    assert [] == [what for what, result in results if not (result.mistakes or result.notes)]
    assert sum(bool(result.mistakes) for _, result in results) >= named * len(results)


# The kinds of what is told, with an answer of each to the exercise quantize.
KINDS = {
    "one mistake": ("np.clip(half_up(x / scale + zero_point), low, high)", "rounds halves up."),
    "two mistakes": ("np.clip(np.ceil(x / scale), low, high)", "at once: One: rounds up."),
    "a step altered by rule": (
        "np.clip(np.rint(np.float16(x / scale + zero_point)), low, high)",
        "x / scale + zero_point is held in float16",
    ),
    "an example step by step": (
        "np.clip(np.rint(x / scale + zero_point) // 3, low, high)",
        "Step by step: x / scale = ",
    ),
    "a type that forgets": (
        "np.clip(np.rint(x / scale + zero_point), low, high) + len(seen.append(0) or seen) // 30",
        "something is remembered from call to call",
    ),
    "the line of an error": ("undefined", "NameError: name 'undefined' is not defined"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_what_is_told(kind: str) -> None:
    expression, words = KINDS[kind]
    source = f"def quantize(x, scale, zero_point, low, high):\n    return {expression}\n"
    source = f"import numpy as np\nfrom pyqref.course.wrong import half_up\nseen = []\n{source}"
    assert words in " ".join(str(judged("quantize", source)).split())


def test_values_that_are_returned_are_told_one_by_one() -> None:
    """Each of two values has two mistakes, which no single pair explains."""
    source = (
        "import numpy as np\n"
        "def affine_qparams(low, high, quant_min, quant_max):\n"
        "    low, high = min(low, 0.0), max(high, 0.0)\n"
        "    scale = max((high - low) / (quant_max - quant_min), 2.0**-23)\n"
        "    point = int(np.clip(-np.trunc(low / scale), 0, 255))\n"
        "    return max((high - low) / 256, 1e-8), point\n"
    )
    told = {each.name for each in judged("affine_qparams", source).mistakes}
    assert {"divides by 256 always", "takes another least scale"} <= told


def test_right_answers_of_every_style_pass() -> None:
    """Loops, double and single precision, lists and floats: right is right."""
    for name, style, source in answers("right.txt"):
        for seed in (0, 7):
            result = judged(name, source, seed)
            assert result.passed, f"{name}, {style}: {result}"


def test_integers_as_floats_are_right_with_a_remark() -> None:
    def quantize(x: Any, scale: float, zero_point: int, low: int, high: int) -> Any:
        return np.clip(np.rint(x / scale + zero_point), low, high)

    result = run(course.get("quantize"), quantize)
    assert result.passed
    assert "store them as integers" in str(result)


# --- The library -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", course.exercises())
def test_the_library_of_an_exercise_tells_its_mistakes(name: str) -> None:
    """The model answer passes; each mistake alone is told, or is none by itself.

    Every eighth mistake, for the time it takes: those of one exercise are made alike.
    """
    exercise, library = course.get(name), LIBRARIES[name]
    assert run(exercise, compiled(library.answer), seed=3)
    for (mistake,) in list(singles(library))[::8]:
        result = run(exercise, mistake.function, seed=3)
        told = [each.name for each in result.mistakes]
        assert (
            [mistake.name] == told
            or result.passed
            or any(mistake.name in each or "no result" in each for each in result.notes)
        ), f"{mistake.name}: {result}"
    assert any(True for _ in pairs(library))


def test_mistakes_that_pass_by_themselves_are_known() -> None:
    """Only what the rest of the model answer makes good: a zero point in range needs no clamp."""
    passing = set()
    for name, library in LIBRARIES.items():
        exercise = course.get(name)
        cases = all_cases(exercise, seed=5)
        right = [attempt(exercise, exercise.solution, case) for case in cases]
        for (mistake,) in singles(library):
            if all(
                same(expected, attempt(exercise, mistake.function, case), exercise.tolerance)
                for case, expected in zip(cases, right, strict=True)
            ):
                passing.add((name, mistake.name))
    assert {("affine_qparams", "does not clamp the zero point")} == passing


def test_drawn_cases_follow_from_the_seed() -> None:
    for name in course.exercises():
        exercise = course.get(name)
        same, other = (repr(all_cases(exercise, seed)) for seed in (11, 12))
        assert same == repr(all_cases(exercise, 11))
        assert same != other


# --- Processes ---------------------------------------------------------------------------------


def hangs(*_: Any) -> Any:
    while True:
        time.sleep(0.1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no limit without os.fork")
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (hangs, "it took longer than 0.5 s: is there a loop that does not end?"),
        (lambda *_: os._exit(0), "it ended the process"),
        (lambda *_: os.kill(os.getpid(), 9), "it ended the process by SIGKILL"),
        (lambda *_: np.zeros(10**13), "it raised MemoryError"),
        (lambda *_: np.zeros(2_000_000), "it returned more than 1,000,000 numbers"),
        (lambda *_: input(), "it raised EOFError"),
        (lambda *_: sys.exit(0), "it raised SystemExit: 0"),
    ],
    ids=["hangs", "exits", "is killed", "fills the memory", "returns much", "asks", "sys.exit"],
)
def test_whatever_happens_to_the_process_is_reported(
    function: Any, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """docs/security: student code ends neither the checker nor its time."""
    start = time.monotonic()
    result = course.check("quantize", function, seconds=0.5)
    assert time.monotonic() - start < 30
    assert not result
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="it runs here without os.fork")
def test_what_a_student_wrote_runs_in_another_process() -> None:
    """docs/security: what it changes is not changed here, but it has the same rights."""
    seen: list[int] = []
    course.check("roofline", lambda *_: seen.append(os.getpid()))
    assert [] == seen


# --- Many answers at once ----------------------------------------------------------------------

FILE = """
import numpy as np
def dequantize(q, scale, zero_point):
    print("some output")
    return (q.astype(int) - zero_point) * scale
def roofline(m, k, n, peak, bandwidth):
    return 2 * m * k * n / peak
"""


def test_check_all_of_a_file_and_of_functions(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    report = course.check_all(file)
    assert ["dequantize", "roofline"] == list(report.results)
    assert 0.5 == report.points()
    assert 0.5 < report.points(partial_credit=True) < 1
    assert "1 of 2 exercises are right." in str(report)
    names: dict[str, Any] = {}
    exec(FILE, names)
    assert report.as_dict() == course.check_all(names).as_dict()


def test_reports_for_other_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The forms that docs/course shows: JSON, results.json of Gradescope, points for nbgrader."""
    file = tmp_path / "mine.py"
    file.write_text(FILE)
    command = ["course", "check-all", str(file), "--only", "dequantize", "roofline", "quantize"]
    assert 1 == main([*command, "--format", "json"])
    read = json.loads(capsys.readouterr().out)
    assert (3, 2, 1) == (read["exercises"], read["answered"], read["passed"])
    assert "must define quantize" in read["results"]["quantize"]["problem"]
    assert 1 == main([*command, "--format", "gradescope", "--points", "30"])
    scope = json.loads(capsys.readouterr().out)
    assert [10, 0, 0] == [each["score"] for each in scope["tests"]]
    assert {"score": float, "tests": list} == {key: type(value) for key, value in scope.items()}
    kinds = {"name": str, "score": float, "max_score": float, "output": str}
    for each in scope["tests"]:  # as Gradescope documents them, each of the others may be left out
        assert kinds == {key: type(value) for key, value in each.items()}
        assert 0 <= each["score"] <= each["max_score"]
    assert scope["score"] == sum(each["score"] for each in scope["tests"])
    out = tmp_path / "points"
    assert 1 == main([*command, "--format", "nbgrader", "--points", "30", "--out", str(out)])
    assert "10\n" == out.read_text()


def test_a_seed_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, seed = tmp_path / "mine.py", tmp_path / "seed"
    file.write_text(FILE)
    seed.write_text("1234\n")
    arguments = ["course", "check", "dequantize", str(file), "--json", "--seed-file", str(seed)]
    assert 0 == main(arguments)
    assert json.loads(capsys.readouterr().out)["passed"]
    seed.write_text("secret")
    assert 1 == main(arguments)
    assert "must hold one whole number" in capsys.readouterr().err


def test_links_lead_below_the_root_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYQREF_DOCS", "https://example.org/docs/")
    text = str(run(course.get("requantize"), lambda *_: None))
    assert "https://example.org/docs/theory/requantization.html#equation-eq-requantize" in text
