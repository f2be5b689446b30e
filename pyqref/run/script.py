"""Run a script, or a module with ``-m``, as Python itself runs it."""

from __future__ import annotations

import io
import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from .failure import report

__all__ = ["run_module", "run_script"]


def run_script(path: str, arguments: Sequence[str] = ()) -> int:
    """Run ``path`` as the main program of this process, as ``python path arguments`` does.

    ``__name__`` is ``"__main__"``, ``sys.argv`` begins with the path, the script's folder is
    first on ``sys.path``. An exception that it does not catch is printed with the script's
    own frames.

    Parameters
    ----------
    path
        The script.
    arguments
        What follows the script on the command line.

    Returns
    -------
    int
        0, or 1 after an exception, or 130 after Ctrl-C. ``SystemExit`` passes.
    """
    main = ModuleType("__main__")
    loader = SourceFileLoader("__main__", path)
    vars(main).update(__file__=path, __loader__=loader, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    sys.argv[:] = [path, *arguments]
    sys.path[:1] = [str(Path(path).resolve().parent)]
    try:
        with io.open_code(str(Path(path).resolve())) as file:
            source = file.read()
        exec(compile(source, path, "exec", dont_inherit=True), vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        return report(error)
    return 0


def run_module(name: str, arguments: Sequence[str] = ()) -> int:
    """Run a module as the main program, as ``python -m name arguments`` does.

    Parameters
    ----------
    name
        The module, found along ``sys.path``, which begins with the working folder.
    arguments
        What follows the module on the command line.

    Returns
    -------
    int
        As of :func:`run_script`.
    """
    sys.argv[:] = [name, *arguments]
    sys.path[:1] = [str(Path.cwd())]
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit:
        raise
    except BaseException as error:
        return report(error)
    return 0
