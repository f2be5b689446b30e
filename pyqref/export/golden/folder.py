"""A folder of files that appears whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .manifest import KIND, MANIFEST

__all__ = ["check_destination", "new_folder"]


def check_destination(folder: Path) -> None:
    """Raise unless nothing is there, an empty folder, or vectors and only those.

    Raises
    ------
    OSError
        It cannot be written there.
    ValueError
        Other files are there.
    """
    where = f"pyqref.export.vectors: folder: {str(folder)!r}"
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"{where}: the folder it is to stand in does not exist")
    if not os.access(folder.parent, os.W_OK):
        raise PermissionError(f"{where}: the folder it is to stand in cannot be written to")
    if not folder.exists() and not folder.is_symlink():
        return
    if folder.is_symlink() or not folder.is_dir():
        raise NotADirectoryError(f"{where} is not a folder; name another one")
    foreign = sorted({path.name for path in folder.iterdir()} - _files_of(folder))
    if foreign:
        some = ", ".join(foreign[:3]) + (", ..." if len(foreign) > 3 else "")
        raise ValueError(
            f"{where} holds what no vectors do ({some}) and is left as it is; name another folder"
        )


def _files_of(folder: Path) -> set[str]:
    """Names of the files that were written there before."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        return {MANIFEST, *map(str, found["files"])} if found["kind"] == KIND else set()
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder to write to, which takes the place of ``folder`` when the block ends well.

    After any exception it is gone, and ``folder`` is as before.
    """
    check_destination(folder)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        yield unfinished
        unfinished.chmod(0o755)
        check_destination(folder)
        if not folder.exists():
            unfinished.rename(folder)
            return
        former = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        folder.rename(former / "former")
        try:
            unfinished.rename(folder)
        except BaseException:
            (former / "former").rename(folder)
            raise
        finally:
            shutil.rmtree(former, ignore_errors=True)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
