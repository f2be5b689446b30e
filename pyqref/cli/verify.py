"""``pyqref verify``: what a device gave, beside golden vectors."""

from __future__ import annotations

import argparse
import sys
from typing import Any

__all__ = ["add_parser", "run"]


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "compare the integers of a device with golden vectors, and say why they differ"
    command: argparse.ArgumentParser = commands.add_parser(
        "verify",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. The exit code is 1 if they differ.",
        allow_abbrev=False,
    )
    command.add_argument("folder", metavar="FOLDER", help="written by pyqref.export.vectors")
    command.add_argument(
        "--got",
        required=True,
        metavar="GOT.npz",
        help="arrays by the path of the layer; or a folder with files of the names in FOLDER",
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compare and print; 1 where something differs or is wrong."""
    from ..export.golden.verifying import verify
    from ..serialization import FileError

    try:
        found = verify(options.folder, options.got)
    except (FileError, OSError, ValueError, TypeError) as error:
        sys.stderr.write(f"pyqref verify: {error}\n")
        return 1
    sys.stdout.write(f"{found}\n")
    return 0 if found.ok else 1
