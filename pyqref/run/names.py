"""Look up names of torch in pyqref's own modules, as the alias would."""

from __future__ import annotations

import difflib
import importlib
import warnings
from functools import cache
from types import ModuleType
from typing import Any

from .._advice import advice, package_advice
from .torch_module import NOT_TORCH, TorchModule, pyqref

__all__ = ["is_here", "returns_tensor", "what_to_do"]

#: The value of a name that is absent; None is a value.
ABSENT = object()
_TOP = TorchModule("torch")


@cache
def find(name: str) -> object:
    """The object that ``torch.x.y`` is under the alias, or ``ABSENT``."""
    if name.startswith("torch.ops.") and not name.startswith("torch.ops.quantized"):
        # A program may have registered the operation; the table knows which are none of its own.
        return ABSENT if advice(name.partition(".")[2]) else None
    found: Any = _TOP
    for part in name.split(".")[1:]:
        owner, found = found, _attribute(found, part)
        if found is ABSENT and not isinstance(owner, (ModuleType, type)):
            return None  # what an object has, only a run can tell
        if found is ABSENT:
            found = _submodule(owner, part)
        if found is ABSENT:
            break
    return found


def _attribute(owner: Any, name: str) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(owner, name)
    except AttributeError:
        return ABSENT


def _submodule(owner: Any, name: str) -> Any:
    """The module ``name`` below the module ``owner``, or ``ABSENT``."""
    if not isinstance(owner, ModuleType) or not hasattr(owner, "__path__"):
        return ABSENT
    if owner is _TOP and name in NOT_TORCH:
        return ABSENT
    path = f"{pyqref.__name__ if owner is _TOP else owner.__name__}.{name}"
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        return ABSENT


def is_here(name: str) -> bool:
    """Return True if a full name, as ``"torch.nn.Linear"``, exists under the alias.

    Examples
    --------
    >>> is_here("torch.ao.quantization.MinMaxObserver"), is_here("torch.fft.rfft")
    (True, False)
    """
    return find(name) is not ABSENT


#: Functions and methods of tensors whose value is no tensor, or not always.
_OTHER_VALUES = frozenset(
    [
        "allclose",
        "aminmax",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "backward",
        "broadcast_tensors",
        "can_cast",
        "chunk",
        "cummax",
        "cummin",
        "data_ptr",
        "dim",
        "element_size",
        "equal",
        "from_dlpack",
        "get_default_dtype",
        "get_device",
        "initial_seed",
        "is_complex",
        "is_contiguous",
        "is_floating_point",
        "is_inference",
        "is_inference_mode_enabled",
        "is_nonzero",
        "is_pinned",
        "is_same_size",
        "is_signed",
        "is_tensor",
        "item",
        "kthvalue",
        "manual_seed",
        "max",
        "median",
        "meshgrid",
        "min",
        "mode",
        "ndimension",
        "nelement",
        "numel",
        "numpy",
        "nonzero",
        "promote_types",
        "q_per_channel_axis",
        "q_scale",
        "q_zero_point",
        "qscheme",
        "register_hook",
        "result_type",
        "retain_grad",
        "seed",
        "set_default_dtype",
        "set_printoptions",
        "set_rng_state",
        "size",
        "sort",
        "split",
        "split_with_sizes",
        "std_mean",
        "storage_offset",
        "stride",
        "tensor_split",
        "tolist",
        "topk",
        "type",
        "typename",
        "unbind",
        "unique",
        "unique_consecutive",
        "var_mean",
        "where",
    ]
)
_HOMES = ("pyqref.tensor.", "pyqref.nn.functional.")


@cache
def returns_tensor(name: str) -> bool:
    """Return True if the function or method of a full name certainly returns a tensor.

    Examples
    --------
    >>> returns_tensor("torch.zeros"), returns_tensor("torch.Tensor.item")
    (True, False)
    """
    front, _, last = name.rpartition(".")
    if last in _OTHER_VALUES or front not in ("torch", "torch.Tensor", "torch.nn.functional"):
        return name == "torch.Tensor"
    function = find(name)
    home = str(getattr(function, "__module__", ""))
    is_function = callable(function) and not isinstance(function, type)
    return function is pyqref.Tensor or (is_function and home.startswith(_HOMES))


def what_to_do(name: str) -> str:
    """The advice for a full name that is absent, or the names that are most like it.

    Examples
    --------
    >>> what_to_do("torch.nn.Lineer")
    'is it Linear?'
    """
    root, _, below = name.partition(".")
    if root != "torch":
        return package_advice(name)
    known = advice(below)
    if known:
        return known
    front, _, last = name.rpartition(".")
    owner = find(front) if front else ABSENT
    if isinstance(owner, (ModuleType, type)):
        names = [each for each in dir(owner) if not each.startswith("_")]
        near = difflib.get_close_matches(last, names, n=2, cutoff=0.75)
        if near:
            return f"is it {' or '.join(near)}?"
    return "pyqref does not have it"
