"""``pyqref run``: its arguments, and who runs what they name."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .alias import install_as_torch
from .notebook import run_notebook
from .script import run_module, run_script

__all__ = ["add_arguments", "main", "run"]

SUMMARY = "run a script or notebook that is written for torch, unchanged"
EXIT_USAGE = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``pyqref run`` to a parser."""
    parser.add_argument(
        "--conventions",
        choices=["torch", "documented"],
        default="torch",
        help="numbers of torch 2.13 (the default), or of torch's documentation where it departs "
        "from that",
    )
    parser.add_argument(
        "-m", dest="as_module", action="store_true", help="the name belongs to a module"
    )
    parser.add_argument("name", metavar="script", help="script.py, notebook.ipynb, or a module")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="what the script finds in sys.argv"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Install the alias, then run what the command line names."""
    if not options.as_module and not Path(options.name).is_file():
        advice = "; for a module say -m" if not options.name.endswith((".py", ".ipynb")) else ""
        sys.stderr.write(f"pyqref run: there is no file {options.name!r}{advice}\n")
        return EXIT_USAGE
    try:
        install_as_torch(options.conventions)
    except RuntimeError as error:
        sys.stderr.write(f"pyqref run: {error}\n")
        return EXIT_USAGE
    if options.as_module:
        return run_module(options.name, options.arguments)
    if options.name.endswith(".ipynb"):
        return run_notebook(options.name, options.arguments)
    return run_script(options.name, options.arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of ``python -m pyqref.run``."""
    parser = argparse.ArgumentParser(
        prog="python -m pyqref.run", description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}."
    )
    add_arguments(parser)
    return run(parser.parse_args(arguments))
