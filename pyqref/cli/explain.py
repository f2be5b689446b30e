"""``pyqref explain``: where a number of a saved model comes from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

__all__ = ["add_parser", "run"]


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "derive one number of a saved quantized model, step by step"
    command: argparse.ArgumentParser = commands.add_parser(
        "explain",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        allow_abbrev=False,
    )
    command.add_argument(
        "file", metavar="FILE", help="a whole model by pyqref.jit.save, or a state dict"
    )
    command.add_argument(
        "--model",
        metavar="MODULE:NAME",
        help="what makes the quantized model that takes a state dict; called without arguments",
    )
    command.add_argument(
        "--input", required=True, metavar="X.npy", help="what the model is called with"
    )
    command.add_argument("--layer", metavar="NAME", help="module or node; the last one if left out")
    command.add_argument(
        "--index", metavar="0,3,5", default="", help="which element of the layer's output"
    )
    command.add_argument(
        "--arithmetics",
        metavar="NAME,...",
        default="",
        help="other systems to put beside it, such as qnnpack,tflite",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.add_argument("--html", type=Path, metavar="PAGE", help="write a page to this file")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Load, run, derive, print; 1 where something is wrong."""
    import numpy as np

    from .. import from_numpy, jit
    from ..explaining import explain
    from ..nn import Module
    from ..serialization import FileError, load
    from .inspection.model import ModelError, named_model

    try:
        index = tuple(int(each) for each in options.index.split(",") if each.strip())
        if options.model is None:
            model: Module = jit.load(options.file)
        else:
            model = named_model(options.model)
            model.load_state_dict(load(options.file))
        x = from_numpy(np.load(options.input, allow_pickle=False))
        names = [each.strip() for each in options.arithmetics.split(",") if each.strip()]
        found = explain(model, x, options.layer, index, names)
    except (
        FileError,
        ModelError,
        OSError,
        ValueError,
        TypeError,
        LookupError,
        RuntimeError,
    ) as error:
        sys.stderr.write(f"pyqref explain: {error}\n")
        return 1
    if options.html is not None:
        page = '<!doctype html><meta charset="utf-8"><meta name="color-scheme" '
        page += f'content="light dark"><title>pyqref explain</title>{found._repr_html_()}\n'
        options.html.write_text(page, encoding="utf-8")
    sys.stdout.write(f"{found.to_json(1) if options.json else found}\n")
    return 0
