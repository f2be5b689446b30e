"""Devices: any may be named, as scripts do; the one that computes is ``cpu``."""

from __future__ import annotations

from typing import Any

__all__ = ["device", "refuse_move", "require_cpu"]

#: Types of devices that ``torch`` knows.
_TYPES = (
    *("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga"),
    *("maia", "xla", "lazy", "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone"),
)
_IF_AVAILABLE = "device = 'cuda' if torch.cuda.is_available() else 'cpu' picks the right one"


class device:
    """Place where a tensor lives. Here all live on ``cpu``; others can be named, not used.

    As a context, ``with device("cpu"):`` changes nothing.

    Parameters
    ----------
    type
        Such as ``"cpu"``, ``"cuda"`` or ``"cuda:1"``, or a device.
    index
        Its number, where ``type`` has none.

    Raises
    ------
    RuntimeError
        No device is called so, or its index is no number >= 0.
    TypeError
        ``type`` is no text.

    Notes
    -----
    Source: documentation of ``torch.device``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.device("cpu")
    device(type='cpu')
    >>> pyqref.device("cuda:1").index
    1
    >>> pyqref.ones(2, device="cuda")
    Traceback (most recent call last):
        ...
    RuntimeError: device 'cuda' is not available: pyqref runs on the CPU only; use device='cpu'
    """

    __slots__ = ("index", "type")

    def __init__(self, type: str = "cpu", index: int | None = None) -> None:
        if isinstance(type, device):
            given: Any = type
            type, index = given.type, given.index if index is None else index
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError(
                f"device {type}: a number alone names an accelerator, and none is available: "
                "pyqref runs on the CPU only; use device='cpu'"
            )
        if not isinstance(type, str):
            raise TypeError(f"device: type must be a str such as 'cpu', got {type!r}")
        name, colon, number = type.partition(":")
        if name not in _TYPES:
            raise RuntimeError(f"device {type!r}: its type must be one of {', '.join(_TYPES)}")
        if colon:
            if index is not None:
                raise RuntimeError(
                    f"device: type must not have an index when index is given: {type!r}"
                )
            if not number.isdecimal() or not number.isascii() or len(number) > 3:
                raise RuntimeError(f"device {type!r}: the index must be a number, as in 'cuda:0'")
            index = int(number)
        elif index is not None and (not isinstance(index, int) or not 0 <= index < 128):
            raise RuntimeError(f"device: index must be an integer in [0, 127], got {index!r}")
        self.type = name
        self.index = index

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:  # noqa: PYI034
        require_cpu(self, "with device(...): ")
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def require_cpu(given: Any, what: str = "", remedy: str = "use device='cpu'") -> None:
    """Raise unless a device, or the name of one, is the CPU.

    Parameters
    ----------
    given
        A device or its name.
    what
        What is to run there, before the message.
    remedy
        What to write instead.

    Raises
    ------
    RuntimeError
        It is another device.

    Examples
    --------
    >>> require_cpu("cpu")
    >>> require_cpu("cuda:0")
    Traceback (most recent call last):
        ...
    RuntimeError: device 'cuda:0' is not available: pyqref runs on the CPU only; use device='cpu'
    """
    found = given if isinstance(given, device) else device(given)
    if found.type == "meta":
        raise RuntimeError(
            f"{what}device 'meta' is not available: every tensor of pyqref has its numbers; "
            f"{remedy}"
        )
    if found.type != "cpu":
        raise RuntimeError(
            f"{what}device {str(found)!r} is not available: pyqref runs on the CPU only; {remedy}"
        )


def refuse_move(what: str, given: str) -> None:
    """Raise, for a method that moves something to an accelerator.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones(1).cuda()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: Tensor.cuda(): device 'cuda' is not available: pyqref runs on the CPU only; ...
    """
    require_cpu(given, f"{what}: ", f"leave the call out, or write .to(device): {_IF_AVAILABLE}")
