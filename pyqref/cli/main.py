"""``pyqref``: reads the command line and hands over to the command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .. import kernels as chosen
from ..version import __version__
from . import check, course, demo, explain, inspect, kernels, museum, run, verify

__all__ = ["main", "parser"]

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    top = argparse.ArgumentParser(
        prog="pyqref",
        description="The quantization system of PyTorch as a readable, bit-exact reference.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"pyqref {__version__}")
    commands = top.add_subparsers(title="commands", metavar="command", dest="command")
    for command in (run, check, inspect, explain, verify, demo, kernels, course, museum):
        command.add_parser(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that ``arguments`` (those of the process, if None) name.

    Returns
    -------
    int
        The exit code: 0; 1 after an error that was explained in one line; 2 after a wrong
        command line or a wrong ``PYQREF_KERNEL``; 130 after Ctrl-C.

    Examples
    --------
    >>> try:
    ...     main(["--version"])  # doctest: +ELLIPSIS
    ... except SystemExit as end:
    ...     print("exit code", end.code)
    pyqref ...
    exit code 0
    """
    top = parser()
    options = top.parse_args(arguments)
    if options.command is None:
        top.print_help()
        return 0
    try:
        chosen.in_use()
    except ValueError as error:
        sys.stderr.write(f"{top.prog}: {error}\n")
        return EXIT_USAGE
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        sys.stderr.write("pyqref: interrupted, no report was written\n")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return EXIT_ERROR
