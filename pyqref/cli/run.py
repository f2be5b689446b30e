"""``pyqref run``: a script or notebook that is written for torch, unchanged."""

from __future__ import annotations

import argparse

from ..run.command import SUMMARY, add_arguments

__all__ = ["add_parser"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    command: argparse.ArgumentParser = commands.add_parser(
        "run",
        help=SUMMARY,
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}: in its process, torch is pyqref.",
        allow_abbrev=False,
    )
    add_arguments(command)
