"""The error of a file that cannot be what it claims to be."""

from __future__ import annotations

__all__ = ["FileError"]


class FileError(RuntimeError):
    """A file cannot be loaded: the message names the file, the place in it, and what was found.

    Examples
    --------
    >>> import io
    >>> import pyqref
    >>> pyqref.load(io.BytesIO(b"no model"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    pyqref.serialization.errors.FileError: the file object: not a safetensors file: the ...
    """
