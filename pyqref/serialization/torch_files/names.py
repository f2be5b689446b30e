"""The names that a pickle may use, and what to say of the others."""

from __future__ import annotations

from ... import dtypes
from ..elements import ELEMENTS
from ..errors import FileError
from .inert import printable
from .storages import STORAGES

__all__ = ["CONSTANTS", "allow", "allow_script", "refuse_name"]

#: Constants of torch by name: here they have the same one.
CONSTANTS = {
    f"torch.{each._name}": each
    for each in vars(dtypes).values()
    if isinstance(each, dtypes.dtype | dtypes.qscheme | dtypes.memory_format | dtypes.layout)
}
#: Dtypes that torch has and pyqref has not: as a plain value they become their name.
FOREIGN = {f"torch.{name}" for name in ELEMENTS} | {
    "torch.complex32",
    "torch.complex64",
    "torch.complex128",
    "torch.uint64",
}
CALLED = {
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_qtensor",
    "torch._tensor._rebuild_from_type_v2",
    "torch.nn.parameter.Parameter",
    "torch.Tensor",
    "torch.Size",
    "torch.device",
    "torch.ScriptObject",
    "torch.serialization._get_layout",
    "torch.jit._pickle.build_boollist",
    "torch.jit._pickle.build_doublelist",
    "torch.jit._pickle.build_intlist",
    "torch.jit._pickle.build_tensorlist",
    "torch.jit._pickle.restore_type_tag",
    "collections.OrderedDict",
    "collections.Counter",
    "builtins.dict",
    "builtins.set",
    "builtins.frozenset",
    "builtins.bytearray",
    "builtins.complex",
    "argparse.Namespace",
    "_codecs.encode",
    "numpy._core.multiarray.scalar",
    "numpy._core.multiarray._reconstruct",
    "numpy._core.numeric._frombuffer",
    "numpy.ndarray",
    "numpy.dtype",
}
_KNOWN = CALLED | set(CONSTANTS) | FOREIGN | set(STORAGES)

#: Names that a careful reader would ask about, with the way out.
_ADVICE = {
    "torch._utils._rebuild_sparse_tensor": "a sparse tensor; save a dense one instead",
    "torch._utils._rebuild_nested_tensor": "a nested tensor; save a list of its tensors instead",
    "torch._utils._rebuild_meta_tensor_no_storage": "a meta tensor, which has no numbers",
    "torch._utils._rebuild_wrapper_subclass": "a tensor of another class; save a plain one instead",
    "collections.defaultdict": "a defaultdict; save dict(value) instead",
    "torch.storage._load_from_bytes": (
        "a tensor that pickle.dump wrote; save it with torch.save instead"
    ),
}


def allow(name: str, file: str, is_model: bool) -> None:
    """Raise FileError unless a name is on the list.

    Parameters
    ----------
    name
        Module and name.
    file
        For the error.
    is_model
        Whether the pickle looks like a module saved as a whole.

    Examples
    --------
    >>> allow("torch.FloatStorage", "model.pt", False)
    >>> allow("os.system", "model.pt", False)
    Traceback (most recent call last):
        ...
    pyqref.serialization.errors.FileError: model.pt: refused: the pickle names os.system; ...
    """
    if name not in _KNOWN:
        refuse_name(name, file, is_model)


def allow_script(name: str, file: str) -> None:
    """Form of :func:`allow` for TorchScript, where an archive may name its own classes."""
    if not name.startswith("__torch__."):
        allow(name, file, False)


def refuse_name(name: str, file: str, is_model: bool = False) -> None:
    """Raise FileError: this name is not on the list."""
    name = printable(name)
    if name in _ADVICE:
        raise FileError(f"{file}: refused: it holds {_ADVICE[name]}")
    if name.startswith("torch.") and name.endswith("Storage"):
        raise FileError(
            f"{file}: refused: it holds a {name.removeprefix('torch.')}, of numbers that no tensor "
            "here holds; where torch is installed, convert the tensor and save it again"
        )
    if is_model or name.startswith(("torch.nn.", "torch.ao.", "torch.fx.", "torch.quantization.")):
        raise FileError(
            f"{file}: refused: it holds a model saved as a whole, an object of the class {name}: "
            "loading it would run code, and nothing of it was run; where torch is installed and "
            "you trust the file, save the weights alone: "
            "torch.save(torch.load(path, weights_only=False).state_dict(), new_path)"
        )
    raise FileError(
        f"{file}: refused: the pickle names {name}; loading it would run code, and nothing of it "
        "was run; where torch is installed and you trust the file, save plain values and "
        "state_dict() instead: torch.save(values, new_path)"
    )
