"""``pyqref course``: the exercises, checks of what students wrote, and material for lectures."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

__all__ = ["add_parser", "run"]

RUNS = (
    "The file is run as Python runs a script, with all that it does, in a process of its own, so "
    "that it should be one that you trust. It must define the function or class of the exercise "
    "under its name."
)


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "list the exercises of the course, describe one, check a solution"
    command: argparse.ArgumentParser = commands.add_parser(
        "course",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}; write slides and notebooks. Without an "
        "action: list the exercises.",
        allow_abbrev=False,
    )
    command.set_defaults(run=run)
    actions = command.add_subparsers(title="actions", metavar="action", dest="action")
    actions.add_parser("list", help="names of the exercises, in the order of the course")
    describe = actions.add_parser("describe", help="what is to be written, with an example")
    check = actions.add_parser(
        "check",
        help="try a solution; tell which cases fail, and the mistake by its name",
        description="Try a solution; tell which cases fail, and the mistake by its name. " + RUNS,
    )
    for action in (describe, check):
        action.add_argument("name", metavar="NAME", help="an exercise, as listed")
    many = actions.add_parser(
        "check-all",
        help="try all solutions of a file, for a teacher's records",
        description="Try all solutions of a file. " + RUNS + " The exit code is 0 if all that "
        "count are right.",
    )
    for action in (check, many):
        action.add_argument("file", type=Path, metavar="FILE", help="Python source")
        _add_limits(action)
    many.add_argument(
        "--only", nargs="+", metavar="NAME", help="exercises that count, answered or not"
    )
    many.add_argument(
        "--format",
        choices=("text", "json", "gradescope", "nbgrader"),
        default="text",
        help="gradescope: the contents of results.json; nbgrader: the points, a number",
    )
    many.add_argument("--points", type=float, default=100.0, help="for everything right (100)")
    many.add_argument(
        "--partial", action="store_true", help="count the share of the cases that are right"
    )
    many.add_argument("--out", type=Path, metavar="REPORT", help="write there instead")
    _add_material(actions)


def _add_seed(action: argparse.ArgumentParser) -> None:
    seed = action.add_mutually_exclusive_group()
    seed.add_argument("--seed", type=int, default=0, help="of the cases that are drawn (0)")
    seed.add_argument("--seed-file", type=Path, metavar="FILE", help="holds the seed, a number")


def _add_limits(action: argparse.ArgumentParser) -> None:
    _add_seed(action)
    action.add_argument(
        "--seconds", type=float, default=10.0, help="how long an exercise may take (10)"
    )
    if action.prog.endswith(" check"):
        action.add_argument("--json", action="store_true", help="write the result as JSON")


def _add_material(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Commands that write folders, and the one that grades tests."""
    for name, summary in (
        ("slides", "slides with their figures, a page of HTML for each week"),
        ("starter", "notebooks with holes for students, without answers"),
        ("assignments", "the same with answers and points, for the folder source of nbgrader"),
        ("answers", "the model answers, one file for each exercise"),
    ):
        action = actions.add_parser(name, help=summary)
        action.add_argument("folder", type=Path, metavar="FOLDER", help="made if it is missing")
        if name == "assignments":
            _add_seed(action)
        if name == "slides":
            action.add_argument("--weeks", type=int, choices=(6, 12), default=12, help="plan (12)")
    tests = actions.add_parser(
        "grade-tests",
        help="say which bugs of the museum a student's tests find",
        description="Run the tests of a file, first on pyqref as it is, where all must pass, and "
        "then with each bug of the museum. The file is run with all that it does.",
    )
    tests.add_argument("file", type=Path, metavar="FILE", help="tests for pytest")
    tests.add_argument("--seconds", type=float, default=60.0, help="for each run of the tests (60)")
    tests.add_argument("--json", action="store_true", help="write the result as JSON")


def _seed(options: argparse.Namespace) -> int:
    if options.seed_file is None:
        seed: int = options.seed
        return seed
    try:
        return int(options.seed_file.read_text("utf-8"))
    except (OSError, ValueError):
        raise ValueError(f"--seed-file: {options.seed_file} must hold one whole number") from None


def run(options: argparse.Namespace) -> int:
    """List, describe, check or write; 1 where something is wrong."""
    from .. import course

    try:
        if options.action in (None, "list"):
            width = max(map(len, course.exercises()))
            for name in course.exercises():
                sys.stdout.write(f"{name:{width}}  {course.get(name).label}\n")
            return 0
        if options.action == "describe":
            sys.stdout.write(f"{course.describe(options.name)}\n")
            return 0
        if options.action == "check":
            return _check(options)
        if options.action == "check-all":
            return _check_all(options)
        if options.action == "grade-tests":
            return _grade_tests(options)
        return _write(options)
    except (course.SolutionError, ValueError, OSError) as error:
        sys.stderr.write(f"pyqref course: {error}\n")
        return 1


def _check(options: argparse.Namespace) -> int:
    from .. import course

    result = course.check_file(
        options.name, options.file, seed=_seed(options), seconds=options.seconds
    )
    text = json.dumps(result.as_dict(), indent=2) if options.json else str(result)
    sys.stdout.write(f"{text}\n")
    return 0 if result else 1


def _check_all(options: argparse.Namespace) -> int:
    from .. import course

    if not options.file.is_file():
        raise course.SolutionError(f"{options.file} is no file")
    report = course.check_all(
        options.file, names=options.only, seed=_seed(options), seconds=options.seconds
    )
    points = options.points, options.partial
    texts = {
        "text": lambda: str(report),
        "json": report.as_json,
        "gradescope": lambda: json.dumps(report.gradescope(*points), indent=2),
        "nbgrader": lambda: f"{report.points(*points):g}",
    }
    text = f"{texts[options.format]()}\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text, "utf-8")
    return 0 if report.results and all(report.results.values()) else 1


def _grade_tests(options: argparse.Namespace) -> int:
    from ..course.museum import grade_tests

    grade = grade_tests(options.file, seconds=options.seconds)
    text = json.dumps(grade.as_dict(), indent=2) if options.json else str(grade)
    sys.stdout.write(f"{text}\n")
    return 0 if grade.passed else 1


def _write(options: argparse.Namespace) -> int:
    from ..course import material, notebooks

    if options.action == "slides":
        files = material.write_slides(options.folder, options.weeks)
    elif options.action == "starter":
        files = notebooks.write_starters(options.folder)
    elif options.action == "assignments":
        files = notebooks.write_assignments(options.folder, seed=_seed(options))
    else:
        files = material.write_answers(options.folder)
    for file in files:
        sys.stdout.write(f"{file}\n")
    return 0
