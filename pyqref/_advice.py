"""Advice on missing names of ``torch``, looked up in one table.

The same sentence answers an attribute that is not there (``torch.fft.rfft``), an import
(``import torch.fft``), and a name that ``pyqref check`` finds in a script.
"""

from __future__ import annotations

from functools import cache

from ._advice_packages import PACKAGES
from ._advice_table import TABLE

__all__ = ["advice", "package_advice", "rows"]


@cache
def rows() -> dict[str, str]:
    """Return the table by name: ``"compile"``, or ``"distributed.*"`` for names below it."""
    return {name: text for text, names in TABLE for name in names.split()}


def advice(name: str) -> str:
    """Return what to use instead of a missing name, or "" if the table does not know it.

    Parameters
    ----------
    name
        As it stands below ``torch``: ``"fft.rfft"``, ``"Tensor.to_sparse"``.

    Examples
    --------
    >>> advice("utils.tensorboard.SummaryWriter")
    'install tensorboardX: it writes the same files, and needs no torch'
    >>> advice("nowhere")
    ''
    """
    for path in _spellings(name):
        found = _longest(path)
        if found:
            return found
    return ""


def _spellings(name: str) -> list[str]:
    """The paths under which the table may have a name."""
    paths = [name]
    if name.startswith("ao."):
        paths.append(name.removeprefix("ao."))
    elif name.startswith(("quantization.", "nn.")):
        paths.append(f"ao.{name}")
    if name.startswith("Tensor."):
        paths.append(name.removeprefix("Tensor."))
    return paths


def _longest(path: str) -> str:
    """The row of the longest front of ``path``."""
    table = rows()
    if path in table:
        return table[path]
    front = path
    while "." in front:
        front = front.rpartition(".")[0]
        found = table.get(f"{front}.*") or table.get(front)
        if found:
            return found
    return ""


def package_advice(name: str) -> str:
    """Return what to do without a package beside torch, or "" for an unknown one.

    Examples
    --------
    >>> package_advice("torchvision.transforms")
    'pip install torchvision --no-deps (and pillow): it runs on pyqref under the alias'
    """
    return PACKAGES.get(name.partition(".")[0], "")
