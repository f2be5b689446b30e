"""The folder of the report appears whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["MANIFEST", "DestinationError", "check_destination", "report_folder"]

MANIFEST = "manifest.json"
SIGNATURE = "report of pyqref demo"


class DestinationError(ValueError):
    """The report cannot go there: the place is taken by something else, or not writable."""


def check_destination(out: Path) -> None:
    """Raise :class:`DestinationError` unless ``out`` is free, empty, or a report and only that."""
    above = next(folder for folder in out.absolute().parents if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        raise DestinationError(
            f"{above} is not a folder that can be written to; choose another with --out"
        )
    if not out.exists() and not out.is_symlink():
        return
    if not out.is_dir() or out.is_symlink():
        raise DestinationError(f"{out} is not a folder; choose another with --out")
    files = {path.name for path in out.iterdir()}
    if not files:
        return
    foreign = sorted(files - files_of_report(out))
    if foreign:
        raise DestinationError(
            f"{out} exists and holds what no report does ({', '.join(foreign[:3])}"
            f"{', ...' if len(foreign) > 3 else ''}): it is left as it is; "
            "choose another folder with --out"
        )


def files_of_report(out: Path) -> set[str]:
    """Names of the files that a report wrote into ``out``; none if it is no report."""
    try:
        manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))
        if manifest["kind"] != SIGNATURE:
            return set()
        return {MANIFEST, *map(str, manifest["files"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


@contextmanager
def report_folder(out: Path) -> Iterator[Path]:
    """A temporary folder beside ``out`` that takes its place when the ``with`` block ends well.

    After any exception, Ctrl-C included, the temporary folder is gone and ``out`` is as before.
    """
    check_destination(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        yield unfinished
        files = sorted(path.name for path in unfinished.iterdir())
        manifest = {"kind": SIGNATURE, "files": files}
        (unfinished / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        unfinished.chmod(0o755)
        replace(unfinished, out)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def replace(unfinished: Path, out: Path) -> None:
    """Put the finished folder where ``out`` is, and only then delete what was there."""
    check_destination(out)
    if not out.exists():
        unfinished.rename(out)
        return
    former = Path(tempfile.mkdtemp(prefix=f".{out.name}-former-", dir=out.parent))
    out.rename(former / "report")
    try:
        unfinished.rename(out)
    except BaseException:
        (former / "report").rename(out)
        raise
    finally:
        shutil.rmtree(former, ignore_errors=True)
