"""``pyqref kernels``: which kernels are built, supported by this machine, in use."""

from __future__ import annotations

import argparse

__all__ = ["add_parser", "run"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "show which kernels are built, supported by this processor, in use, and where"
    command: argparse.ArgumentParser = commands.add_parser(
        "kernels",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. The environment variable PYQREF_KERNEL "
        "forces another one.",
        allow_abbrev=False,
    )
    command.set_defaults(run=run)


def run(_options: argparse.Namespace) -> int:
    """Print the table of kernels."""
    from .. import kernels

    kernels.show()
    return 0
