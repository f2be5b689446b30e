"""Pretrained weights: read where they lie; nothing is downloaded."""

from __future__ import annotations

import os
import re
from typing import Any, NoReturn
from urllib.parse import urlparse

from .devices import device as device_
from .devices import require_cpu
from .serialization import load as load_file
from .utils.progress import tqdm as tqdm

__all__ = [
    "download_url_to_file",
    "get_dir",
    "load",
    "load_state_dict_from_url",
    "set_dir",
]

#: The hash in the name of a file of weights: ``resnet18-5c106cde.pth``.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")


class _State:
    folder: str | None = None


def get_dir() -> str:
    """The folder where ``torch.hub`` keeps what it has downloaded.

    It is the one that :func:`set_dir` named, else ``$TORCH_HOME/hub``, by default
    ``~/.cache/torch/hub``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hub.get_dir().endswith("hub")
    True
    """
    if _State.folder is not None:
        return _State.folder
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))
    return os.path.join(os.path.expanduser(home), "hub")


def _get_torch_home() -> str:
    """The folder above the one of :func:`get_dir`."""
    return os.path.dirname(get_dir())


def set_dir(d: str | None) -> None:
    """Set the folder that :func:`get_dir` returns.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hub.set_dir("/tmp/hub")
    >>> pyqref.hub.get_dir()
    '/tmp/hub'
    >>> pyqref.hub.set_dir(None)  # the usual one
    """
    _State.folder = None if d is None else os.path.expanduser(os.fspath(d))


def load_state_dict_from_url(
    url: str,
    model_dir: str | os.PathLike[str] | None = None,
    map_location: object = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> dict[str, Any]:
    """Read a file that has been downloaded before, from where ``torch`` would keep it.

    Parameters
    ----------
    url
        Where it comes from; its last part is the file's name.
    model_dir
        The folder; ``checkpoints`` in :func:`get_dir` by default.
    map_location
        None or ``"cpu"``.
    progress, check_hash, weights_only
        Of no use here: nothing is downloaded, and files never hold code.
    file_name
        The name of the file, if it is another.

    Raises
    ------
    FileNotFoundError
        The file is not there; the message says where to put it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hub.load_state_dict_from_url("https://x.org/no.pth", "/tmp")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileNotFoundError: ...: download https://x.org/no.pth to /tmp/no.pth, and run this again
    """
    if isinstance(map_location, (str, device_)):
        require_cpu(map_location, "hub: map_location: ", "use map_location='cpu'")
    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else os.fspath(model_dir)
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"hub: pyqref downloads nothing: download {url} to {path}, and run this again"
        )
    return load_file(path)


def load(repo_or_dir: str, model: str, *args: object, **kwargs: object) -> NoReturn:
    """Refused: ``torch.hub.load`` downloads code and runs it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hub.load("pytorch/vision", "resnet18")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: hub.load: pyqref downloads no code: download pytorch/vision, import the model's...
    """
    raise RuntimeError(
        f"hub.load: pyqref downloads no code: download {repo_or_dir}, import the model's class "
        f"from there ({model}), and read its weights with torch.load(path); models of torchvision "
        "come with pip install torchvision --no-deps"
    )


def download_url_to_file(
    url: str, dst: str, hash_prefix: str | None = None, progress: bool = True
) -> None:
    """Refused: pyqref downloads nothing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.hub.download_url_to_file("https://x.org/a.pth", "a.pth")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: hub.download_url_to_file: pyqref downloads nothing; write urllib.request...
    """
    raise RuntimeError(
        "hub.download_url_to_file: pyqref downloads nothing; write "
        f"urllib.request.urlretrieve({url!r}, {str(dst)!r})"
    )
