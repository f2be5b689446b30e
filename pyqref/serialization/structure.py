"""Nested Python values as arrays and JSON, and back.

``None``, booleans, integers, strings and finite floats stand for themselves in JSON;
everything else is a list whose first entry names its kind, such as ``["tuple", [...]]``
or ``["tensor", "fc.weight", false, null]``, where the array lies under that name.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict
from typing import Any, NoReturn

import numpy as np

from .. import dtypes
from ..tape import Array
from ..tensor.base import TensorBase, wrap
from ..tensor.parameter import Parameter
from ..tensor.size import Size
from .container import short
from .errors import FileError
from .kinds import kind_named, kind_of_value
from .quantizers import describe_quantizer, quantized_tensor
from .reals import SPECIAL_REALS, real_to_json

__all__ = ["Builder", "Flattener"]

_MAX_DEPTH = 50
_MAX_BITS = 1024
_CONSTANTS = {
    kind.__name__: {each._name: each for each in vars(dtypes).values() if isinstance(each, kind)}
    for kind in (dtypes.dtype, dtypes.qscheme, dtypes.memory_format)
}
_MAPPINGS = {"dict": dict, "ordered_dict": OrderedDict, "counter": Counter}
#: Numbers of NumPy: the names of their types, and the type of Python that holds their value.
_SCALARS = {
    **dict.fromkeys(("float16", "float32", "float64"), float),
    **dict.fromkeys((f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), int),
    "bool": bool,
}
_SEQUENCES = {"list": list, "tuple": tuple, "size": Size}


class Flattener:
    """Takes values apart; :attr:`arrays` collects what the tensors hold.

    Tensors on the same memory are stored once, and share it again after loading.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[Any, str] = {}

    def flatten(self, value: object, path: tuple[Any, ...] = ()) -> object:
        """The JSON form of ``value``, which stands at ``path``."""
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            if value.bit_length() > _MAX_BITS:
                _refuse(path, f"an integer of {value.bit_length()} bits, at most {_MAX_BITS}")
            return value
        if type(value) is float:
            return real_to_json(value)
        if len(path) >= _MAX_DEPTH:
            _refuse(path[:3], f"nested more than {_MAX_DEPTH} levels deep, or contains itself")
        for tag, kind in _MAPPINGS.items():
            if type(value) is kind:
                return self._mapping(tag, value, path)
        for tag, sequence in _SEQUENCES.items():
            if type(value) is sequence:
                members = enumerate(value)
                return [tag, [self.flatten(each, (*path, index)) for index, each in members]]
        if type(value) is Namespace:
            return self._mapping("namespace", vars(value), path)
        if isinstance(value, np.number | np.bool_) and value.dtype.kind in "biuf":
            return ["numpy", [value.dtype.name, self.flatten(value.item(), path)]]
        if isinstance(value, TensorBase):
            return self._tensor(value, path)
        if isinstance(value, dtypes.device):
            return ["device", str(value)]
        for tag, constants in _CONSTANTS.items():
            for name, constant in constants.items():
                if constant is value:
                    return [tag, name]
        added = kind_of_value(value)
        if added is not None:
            return [added.tag, self.flatten(added.take_apart(value), path)]
        if callable(getattr(value, "state_dict", None)):
            _refuse(path, f"a {type(value).__name__}; save its state_dict() instead")
        if isinstance(value, np.ndarray | np.generic):
            _refuse(path, f"a numpy.{type(value).__name__}; use pyqref.from_numpy() or item()")
        return _refuse(
            path,
            f"a {type(value).__module__}.{type(value).__qualname__}; a file can hold tensors, "
            "numbers, strings, None, dtypes, and dicts, lists and tuples of them",
        )

    def _mapping(self, tag: str, value: Any, path: tuple[Any, ...]) -> Any:
        pairs = [
            [self.flatten(key, (*path, key)), self.flatten(each, (*path, key))]
            for key, each in value.items()
        ]
        metadata = getattr(value, "_metadata", None)
        if metadata is None:
            return [tag, pairs]
        return [tag, pairs, self.flatten(metadata, (*path, "_metadata"))]

    def _tensor(self, tensor: Any, path: tuple[Any, ...]) -> Any:
        array = tensor._array
        address = array.__array_interface__["data"][0]
        # An empty array has an address, but no memory that it could share.
        key = (address, array.shape, array.strides, array.dtype) if array.size else object()
        if key not in self._names:
            self._names[key] = self._new_name(path)
            self.arrays[self._names[key]] = array
        tag = "parameter" if isinstance(tensor, Parameter) else "tensor"
        quantizer = describe_quantizer(tensor) if tensor.is_quantized else None
        return [tag, self._names[key], bool(tensor.requires_grad), quantizer]

    def _new_name(self, path: tuple[Any, ...]) -> str:
        """The path with dots, as it stands in a state dict; a number makes it unique."""
        words = (str(step).encode("utf-8", "backslashreplace").decode() for step in path)
        plain = name = ".".join(words) or "tensor"
        number = 1
        while name in self.arrays or name == "__metadata__":
            number += 1
            name = f"{plain}~{number}"
        return name


class Builder:
    """Puts values together again; every node is checked.

    Parameters
    ----------
    arrays
        By name, as the file has them.
    file
        Its name, for errors.
    """

    def __init__(self, arrays: dict[str, Array], file: str) -> None:
        self.arrays = arrays
        self.file = file
        self.used: set[str] = set()

    def build(self, node: Any, depth: int = 0) -> Any:
        """The value whose JSON form is ``node``."""
        if node is None or isinstance(node, bool | int | float | str):
            return node
        if depth > _MAX_DEPTH:
            self._refuse(f"the structure is nested more than {_MAX_DEPTH} levels deep")
        if not isinstance(node, list) or len(node) < 2 or not isinstance(node[0], str):
            self._refuse(f"the structure has a node {short(node)}")
        tag, rest = node[0], node[1:]
        if tag in ("tensor", "parameter"):
            return self._tensor(tag, rest)
        if tag in _MAPPINGS and isinstance(rest[0], list):
            return self._mapping(tag, rest, depth)
        if tag == "namespace" and isinstance(rest[0], list):
            return self._namespace(rest, depth)
        if tag == "numpy":
            return self._scalar(rest, depth)
        if len(rest) != 1:
            self._refuse(f"the structure has a node {short(node)}")
        if tag in _SEQUENCES and isinstance(rest[0], list):
            members = [self.build(each, depth + 1) for each in rest[0]]
            if tag == "size" and not all(type(each) is int for each in members):
                self._refuse(f"the structure has a size {short(members)}")
            return _SEQUENCES[tag](members)
        if tag == "device" and isinstance(rest[0], str):
            return self._device(rest[0])
        try:
            kind = kind_named(tag)
            if kind is not None:
                return kind.put_together(self.build(rest[0], depth + 1))
        except ValueError as error:
            self._refuse(str(error))
        known: dict[str, Any] = {**_CONSTANTS, "float": SPECIAL_REALS}
        values = known.get(tag)
        if values is None or not isinstance(rest[0], str) or rest[0] not in values:
            self._refuse(f"the structure has a node {short(node)}")
        return values[rest[0]]

    def _device(self, name: str) -> dtypes.device:
        try:
            return dtypes.device(name)
        except RuntimeError:
            self._refuse(f"the structure has a node {short(['device', name])}")

    def _mapping(self, tag: str, rest: list[Any], depth: int) -> Any:
        mapping: Any = _MAPPINGS[tag]()
        for pair in rest[0]:
            if not isinstance(pair, list) or len(pair) != 2:
                self._refuse(f"a {tag} in the structure has the entry {short(pair)}")
            key = self.build(pair[0], depth + 1)
            try:
                twice = key in mapping
            except TypeError:
                self._refuse(f"a {tag} in the structure has the key {short(pair[0])}")
            if twice:
                self._refuse(f"a {tag} in the structure has the key {key!r} twice")
            mapping[key] = self.build(pair[1], depth + 1)
        if len(rest) == 2 and tag == "ordered_dict":
            mapping._metadata = self._versions(self.build(rest[1], depth + 1))
        elif len(rest) != 1:
            self._refuse(f"a {tag} in the structure has {len(rest)} parts")
        return mapping

    def _namespace(self, rest: list[Any], depth: int) -> Namespace:
        found = self._mapping("dict", rest, depth)
        if not all(isinstance(name, str) for name in found):
            self._refuse(f"a namespace in the structure has the names {short(list(found))}")
        made = Namespace()
        vars(made).update(found)
        return made

    def _scalar(self, rest: list[Any], depth: int) -> Any:
        parts = rest[0] if len(rest) == 1 and isinstance(rest[0], list) else []
        kind = _SCALARS.get(parts[0]) if len(parts) == 2 and isinstance(parts[0], str) else None
        value: Any = self.build(parts[1], depth + 1) if kind is not None else None
        if kind is None or type(value) is not kind:
            self._refuse(f"the structure has a number {short(rest)}")
        try:
            made: Any = np.dtype(parts[0]).type
            return made(value)
        except OverflowError:
            self._refuse(f"the structure has a number {short(rest)}")

    def _versions(self, metadata: Any) -> Any:
        """The ``_metadata`` of a state dict: a dictionary for each path."""
        if not isinstance(metadata, dict) or not all(
            isinstance(path, str) and isinstance(entry, dict) for path, entry in metadata.items()
        ):
            self._refuse(f"the _metadata of a state dict is {short(metadata)}")
        return metadata

    def _tensor(self, tag: str, rest: list[Any]) -> Any:
        if len(rest) != 3 or not isinstance(rest[0], str) or not isinstance(rest[1], bool):
            self._refuse(f"the structure has a {tag} {short(rest)}")
        name, requires_grad, quantizer = rest
        if name not in self.arrays:
            self._refuse(f"{name!r}: the structure names it, but the file has no such tensor")
        self.used.add(name)
        array = self.arrays[name]
        where = f"{self.file}: {name!r}"
        if quantizer is not None:
            if requires_grad or tag != "tensor":
                self._refuse(f"{name!r}: a quantized tensor cannot require a gradient")
            return quantized_tensor(array, quantizer, where)
        if requires_grad and array.dtype.kind != "f":
            self._refuse(f"{name!r}: a tensor of {array.dtype} cannot require a gradient")
        tensor = wrap(array)
        if tag == "parameter":
            return Parameter(tensor, requires_grad=requires_grad)
        tensor.requires_grad = requires_grad
        return tensor

    def _refuse(self, what: str) -> NoReturn:
        raise FileError(f"{self.file}: {what}")


def _refuse(path: tuple[Any, ...], what: str) -> NoReturn:
    place = "".join(f"[{step!r}]" for step in path)
    raise TypeError(f"save: obj{place} is {what}")
