"""Programs and devices, which read the cases from one ``.npz`` file and write another.

The file of the cases holds each argument under ``NUMBER/NAME``, such as ``3/x_scale``, where
numbers count the cases from 0; an argument that is None is left out. ``names`` holds the names of
the cases. The file of the results holds each under ``NUMBER/y``.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import Dtype
from .case import Case
from .conformance_set import conformance

__all__ = ["FromProgram", "from_program", "read_answers", "write_cases"]


class FromProgram:
    """A program as :func:`pyqref.testing.check_implementation` runs it: once for all cases.

    Made by :func:`from_program`.

    Examples
    --------
    >>> from pyqref.testing import from_program
    >>> from_program(["./simulate", "--fast"])
    <./simulate --fast CASES.npz RESULTS.npz>
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self.command, self.timeout = tuple(command), timeout

    def answers(self, cases: list[Case]) -> list[Any]:
        """The result of each case, or what went wrong."""
        with tempfile.TemporaryDirectory() as folder:
            given, got = Path(folder, "cases.npz"), Path(folder, "results.npz")
            _write(given, cases)
            command = [*self.command, str(given), str(got)]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=self.timeout, check=False
                )
            except OSError as error:
                return [f"{self.command[0]} cannot be run: {error.strerror}"] * len(cases)
            except subprocess.TimeoutExpired:
                return [f"{self.command[0]} took more than {self.timeout} seconds"] * len(cases)
            if done.returncode or not got.exists():
                said = (done.stderr or done.stdout).strip()[-500:]
                problem = f"{self.command[0]} ended with {done.returncode}, no results: {said}"
                return [problem] * len(cases)
            return read_answers(got, cases)

    def __repr__(self) -> str:
        return f"<{' '.join(self.command)} CASES.npz RESULTS.npz>"


def from_program(command: str | Sequence[str], timeout: float = 60.0) -> FromProgram:
    """A program, to be checked.

    Parameters
    ----------
    command
        The program and its first arguments. Behind them it is given two paths: that of the cases,
        as :func:`write_cases` writes them, and that of the results, to be written as ``0/y``,
        ``1/y``, ...
    timeout
        Seconds after which it has failed.

    Returns
    -------
    FromProgram
        To be given to :func:`check_implementation`.

    Raises
    ------
    TypeError
        ``command`` is no text, nor a list of texts.

    Examples
    --------
    >>> from_program("./simulate")
    <./simulate CASES.npz RESULTS.npz>
    """
    words = [command] if isinstance(command, str) else list(command)
    if not words or not all(isinstance(each, str) for each in words):
        raise TypeError(f"command must be a program or a list of it and arguments, got {command!r}")
    return FromProgram(words, timeout)


def write_cases(
    path: str | PathLike[str],
    operation: str,
    engine: str = "fbgemm",
    *,
    dtype: Dtype | str = "uint8",
    without: Iterable[str] = (),
) -> None:
    """Write the arguments of all cases to one file, for a device to read.

    Parameters
    ----------
    path
        The ``.npz`` file. An argument is the array ``NUMBER/NAME``, such as ``3/x_scale``; those
        that are None are left out. ``names`` holds the names of the cases.
    operation, engine, dtype, without
        As :func:`conformance` takes them.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> path = os.path.join(tempfile.mkdtemp(), "cases.npz")
    >>> write_cases(path, "dequantize")
    >>> with np.load(path) as file:
    ...     print(file["names"][0], file["0/scale"], file["0/x"].dtype)
    every integer 0.037 uint8
    """
    _write(Path(path), conformance(operation, engine, dtype=dtype, without=without))


def _write(path: Path, cases: list[Case]) -> None:
    arrays: dict[str, Any] = {
        f"{number}/{name}": np.asarray(value)
        for number, case in enumerate(cases)
        for name, value in case.arguments.items()
        if value is not None
    }
    names = np.array([case.name for case in cases])
    partial = path.with_name(path.name + ".part")
    with open(partial, "wb") as file:
        np.savez(file, names=names, **arrays)
    os.replace(partial, path)


def read_answers(path: str | PathLike[str], cases: list[Case]) -> list[Any]:
    """The results in a file, one for each case; of those that are missing, that they are.

    Raises
    ------
    ValueError
        The file is no ``.npz`` file.
    """
    try:
        with np.load(fspath(path), allow_pickle=False) as file:
            found = dict(file) if hasattr(file, "files") else None
    except (EOFError, ValueError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{fspath(path)} must be an .npz file of results: {error}") from error
    if found is None:
        raise ValueError(f"{fspath(path)} must be an .npz file of results, got one array")
    return [
        found.get(f"{number}/y", f"the results have no {number}/y") for number in range(len(cases))
    ]
