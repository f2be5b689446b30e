"""Writing a file as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat

__all__ = ["write_atomically"]


def write_atomically(path: str, data: bytes) -> None:
    """Put ``data`` into the file at ``path``, replacing what is there.

    The bytes go to a new file in the same folder, which is forced to disk and then takes
    the name. Whatever happens before that leaves the old file as it was, and no new one.
    A symbolic link is followed: the file that it names is replaced. Permissions are kept.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot save {path!r}: the folder {folder!r} does not exist")
    mode = None
    if os.path.exists(path):
        found = os.stat(path).st_mode
        if not stat.S_ISREG(found):
            raise OSError(f"cannot save {path!r}: it exists and is no regular file")
        mode = stat.S_IMODE(found)
    part = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _O_BINARY, 0o666)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(part, mode)
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
    _force_to_disk(folder)


_O_BINARY = getattr(os, "O_BINARY", 0)


def _force_to_disk(folder: str) -> None:
    """Force the new name to disk too, where a folder can be opened (not on Windows)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
