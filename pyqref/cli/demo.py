"""``pyqref demo``: its options, and what it needs beyond NumPy."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["add_parser", "missing_packages", "run"]

EXTRAS = {"sklearn": "scikit-learn", "matplotlib": "matplotlib", "rich": "rich"}
"""Modules that the demo imports, and the package that provides each."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "train and quantize two small networks on real images, and write a report"
    command: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        allow_abbrev=False,
    )
    command.add_argument(
        "--out",
        type=Path,
        default=Path("pyqref-report"),
        metavar="FOLDER",
        help="where the report goes; an older report there is replaced (default: pyqref-report)",
    )
    command.add_argument(
        "--seed",
        type=whole(0, 2**32 - 1),
        default=0,
        help="chooses split, first weights and order; the same seed gives the same numbers "
        "(default: 0)",
    )
    command.add_argument(
        "--epochs",
        type=whole(1, 1000),
        default=argparse.SUPPRESS,
        help="passes of the CNN over the training images; the others follow "
        "(default: 5, or 3 with --quick)",
    )
    command.add_argument(
        "--threads",
        type=whole(1, 1024),
        default=argparse.SUPPRESS,
        help="threads of the kernels (default: as many as there are processors)",
    )
    command.add_argument(
        "--quick", action="store_true", help="fewer epochs, widths and repetitions"
    )
    command.set_defaults(run=run)


def whole(smallest: int, largest: int) -> Callable[..., Any]:
    """A type for argparse: an integer in a range."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if not smallest <= value <= largest:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from {smallest} to {largest}, got {text!r}"
            )
        return value

    return convert


def missing_packages() -> list[str]:
    """Names of the packages that the demo needs and that are not installed."""
    return [name for module, name in EXTRAS.items() if importlib.util.find_spec(module) is None]


def run(options: argparse.Namespace) -> int:
    """Run the demo."""
    missing = missing_packages()
    if missing:
        sys.stderr.write(
            f"pyqref demo: needs {', '.join(missing)}; run: pip install 'pyqref[demo]'\n"
        )
        return 1
    from ..demo.folder import DestinationError
    from ..demo.plan import Plan
    from ..demo.run import run as run_demo

    names = ("out", "seed", "epochs", "threads", "quick")
    given = {name: getattr(options, name) for name in names if hasattr(options, name)}
    try:
        run_demo(Plan(**given))
    except (DestinationError, OSError) as error:
        sys.stderr.write(f"pyqref demo: {error}\n")
        return 1
    return 0
