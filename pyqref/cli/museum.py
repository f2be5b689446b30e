"""``pyqref museum``: bugs that quantization libraries really had."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

__all__ = ["add_parser", "run"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "list bugs that quantization libraries really had, or show one"
    command: argparse.ArgumentParser = commands.add_parser(
        "museum",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}: its report, the change of one function "
        "that makes it, and the numbers that it turns wrong.",
        allow_abbrev=False,
    )
    command.add_argument("name", nargs="?", metavar="NAME", help="a bug, as listed")
    command.add_argument(
        "--picture", type=Path, metavar="FILE", help="draw it, for example as bug.svg"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """List or show; 1 where there is no such bug."""
    from ..course.museum import bugs, picture, told

    every = bugs()
    if options.name is None:
        width = max(map(len, every))
        for bug in every.values():
            sys.stdout.write(f"{bug.name:{width}}  {bug.title}\n")
        return 0
    if options.name not in every:
        sys.stderr.write(
            f"pyqref museum: there is no bug {options.name!r}; pyqref museum lists them\n"
        )
        return 1
    sys.stdout.write(f"{told(every[options.name])}\n")
    if options.picture is not None:
        try:
            picture(every[options.name]).savefig(options.picture)
        except (ImportError, OSError, ValueError) as error:
            sys.stderr.write(f"pyqref museum: --picture: {error}\n")
            return 1
        sys.stdout.write(f"{options.picture}\n")
    return 0
