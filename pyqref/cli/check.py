"""``pyqref check``: which names of torch a program uses and pyqref does not have."""

from __future__ import annotations

import argparse

from ..run.check import SUMMARY, add_arguments

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    command: argparse.ArgumentParser = commands.add_parser(
        "check",
        help=SUMMARY,
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}, with what to use instead. Nothing is "
        "run. The exit code is 1 if a name is missing.",
        allow_abbrev=False,
    )
    add_arguments(command)
