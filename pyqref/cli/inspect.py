"""``pyqref inspect``: what is in a file of torch, safetensors or pyqref."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path

__all__ = ["add_parser", "run"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "list what is in a file of torch, safetensors or pyqref; no code in it is run"
    command: argparse.ArgumentParser = commands.add_parser(
        "inspect",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. torch is not needed.",
        allow_abbrev=False,
    )
    command.add_argument("file", metavar="FILE", help=".pt, .pth, .bin, .safetensors, TorchScript")
    command.add_argument(
        "--model",
        metavar="MODULE:CLASS",
        help="say whether it fits this model, which is imported and made without arguments; the "
        "exit code is 1 if it does not",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of tables")
    command.add_argument(
        "--html", type=Path, metavar="PAGE", help="write a page with histograms to this file"
    )
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load the file and say what is in it; 1 where something is wrong or does not fit."""
    from ..serialization import FileError, load
    from .inspection.contents import contents, state_dicts
    from .inspection.file import container
    from .inspection.model import ModelError, fits, named_model
    from .inspection.page import as_page
    from .inspection.text import as_json, as_text

    path = options.file
    try:
        model = None if options.model is None else named_model(options.model)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            value = load(path)
        found, written_by = contents(value), container(path)
        found.notes = [str(each.message).removeprefix(f"load: {path}: ") for each in told]
        problems = None
        if model is not None:
            states = list(state_dicts(value).values())
            problems = fits(model, states[0]) if states else "the file holds no state dict"
        if options.html is not None:
            page = as_page(path, written_by, found, problems, options.model or "")
            options.html.write_text(page, encoding="utf-8")
    except (FileError, ModelError, OSError) as error:
        sys.stderr.write(f"pyqref inspect: {error}\n")
        return 1
    if options.json:
        report = as_json(path, written_by, found, problems)
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    else:
        fit = None
        if problems is not None:
            fit = f"fits        {options.model}: {'no' if problems else 'yes'}"
        sys.stdout.write(as_text(path, written_by, found, fit))
        if problems:
            sys.stdout.write(f"\n{problems}\n")
    return 1 if problems else 0
