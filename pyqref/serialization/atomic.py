"""Writing a file as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Callable
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows
    fcntl = None

__all__ = ["write_atomically"]


def write_atomically(path: str, write: Callable[[str], None]) -> None:
    """Let ``write`` fill a new file, which then replaces what is at ``path``.

    The new file stands in the same folder under another name, is forced to disk, and then takes
    the name. Whatever happens before that leaves the old file as it was, and no new one; what a
    killed process left there is removed by the next that saves to ``path``. A symbolic link is
    followed: the file that it names is replaced. Permissions are kept.

    Parameters
    ----------
    path
        The file to make.
    write
        Writes to the file whose path it is given, which exists and is empty.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot save {path!r}: the folder {folder!r} does not exist")
    mode = None
    if os.path.exists(path):
        found = os.stat(path).st_mode
        if not stat.S_ISREG(found):
            raise OSError(f"cannot save {path!r}: it exists and is not a regular file")
        mode = stat.S_IMODE(found)
    prefix = f".{name[:200]}."
    _remove_left(folder, prefix)
    part = os.path.join(folder, f"{prefix}{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | _O_BINARY, 0o666)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                _lock(descriptor, wait=True)  # the mark of a file that is being written
            write(part)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if mode is not None:
            os.chmod(part, mode)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    _force_to_disk(folder)


def _remove_left(folder: str, prefix: str) -> None:
    """Remove new files of this name whose process was killed while it wrote them."""
    for found in os.listdir(folder):
        middle = found.removeprefix(prefix).removesuffix(".part")
        if found != f"{prefix}{middle}.part" or not re.fullmatch("[0-9a-f]{16}", middle):
            continue
        left = os.path.join(folder, found)
        with contextlib.suppress(OSError):  # locked: another process writes it now
            descriptor = os.open(left, os.O_RDWR | _O_BINARY)
            try:
                _lock(descriptor, wait=False)
                os.unlink(left)
            finally:
                os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> None:
    """Lock a file until it is closed or the process ends.

    Windows needs none: it removes no file that is open.
    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


_O_BINARY = getattr(os, "O_BINARY", 0)


def _force_to_disk(folder: str) -> None:
    """Force the new name to disk too, where a folder can be opened (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
