"""TorchScript archives: the tensors of their modules by path, and what the modules are."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any

from ... import dtypes
from ..._typing import AnyModule
from ...tensor.base import TensorBase
from ...tensor.creation import tensor
from .constructors import CONSTRUCTORS
from .inert import Call, short
from .packed import script_object
from .storages import Storages
from .values import Builder

__all__ = ["ScriptArchive", "ScriptBuilder", "script_archive"]

_MANGLED = re.compile(r"___torch_mangle_\d+\.")
#: TorchScript writes dtypes as numbers.
_DTYPES = {5: dtypes.float16, 12: dtypes.qint8, 13: dtypes.quint8, 14: dtypes.qint32}
_DTYPES |= {16: dtypes.quint4x2, 17: dtypes.quint2x4}
#: In the tuple that a quantized convolution gives as its state.
_WEIGHT, _BIAS, _SCALE, _ZERO_POINT = 10, 11, 12, 13


class ScriptArchive(OrderedDict[str, Any]):
    """State dict of a TorchScript archive, such as ``torch.jit.save`` writes.

    The code in the archive is not read, only its tensors: by path, packed weights as the pairs
    of weight and bias that quantized layers load.

    Attributes
    ----------
    module_types : dict[str, str]
        The class of each module, by path: ``{"": "Net", "fc": "torch.nn.modules.linear.Linear"}``.
    attributes : dict[str, object]
        Numbers, strings and lists that modules hold, by path.
    constants : tuple
        What the code refers to: of a frozen model, all weights.

    Examples
    --------
    :func:`pyqref.load` makes it:

    >>> import pyqref
    >>> archive = pyqref.serialization.ScriptArchive({"fc.weight": pyqref.ones(1, 2)})
    >>> archive.module_types = {"": "Net", "fc": "torch.nn.modules.linear.Linear"}
    >>> list(archive), archive.constants
    (['fc.weight'], ())
    """

    module_types: dict[str, str]
    attributes: dict[str, Any]
    constants: tuple[Any, ...]

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.module_types, self.attributes, self.constants = {}, {}, ()


class _Module:
    """A module of an archive: its class, and its attributes or the state that it gives."""

    def __init__(self, name: str, state: Any) -> None:
        self.name, self.state = name, state


class ScriptBuilder(Builder):
    """:class:`Builder` with the classes that an archive defines itself."""

    def __init__(self, storages: Storages) -> None:
        super().__init__(storages, _Classes(CONSTRUCTORS))


class _Classes(dict[str, Any]):
    """The constructors; ``__torch__...`` makes modules, without their code."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).startswith("__torch__.")

    def __missing__(self, name: str) -> Any:
        return _made


def _made(builder: Builder, call: Call, where: str) -> Any:
    if call.args:
        builder.refuse(where, f"makes a {call.name} of {short(call.args)}")
    if call.name.startswith("__torch__.torch.classes."):
        return script_object(builder, call.name, call.state, where)
    name = _MANGLED.sub("", call.name).removeprefix("__torch__.")
    return _Module(name, {} if call.state is None else builder.build(call.state, where, 2))


def script_archive(builder: Builder, root: AnyModule, constants: object) -> ScriptArchive:
    """The state dict of the module ``root``."""
    made = ScriptArchive()
    if not isinstance(root, _Module):
        builder.refuse("", f"is {short(root)}, not a TorchScript module")
    made.constants = constants if isinstance(constants, tuple) else (constants,)
    _collect(made, root, "", builder)
    return made


def _collect(made: ScriptArchive, module: _Module, path: str, builder: Builder) -> None:
    if len(made.module_types) > 100_000:
        builder.refuse(path, "is one of more than 100000 modules")
    made.module_types[path] = module.name
    prefix = f"{path}." if path else ""
    state = module.state
    if isinstance(state, tuple) and "Conv" in module.name and len(state) > _ZERO_POINT:
        state = {
            "weight": state[_WEIGHT],
            "bias": state[_BIAS],
            "scale": state[_SCALE],
            "zero_point": state[_ZERO_POINT],
        }
        made[f"{prefix}bias"] = made[f"{prefix}weight"] = None  # both, in the order of torch
        made.move_to_end(f"{prefix}bias")
    elif isinstance(state, tuple):
        state = {f"state.{index}": each for index, each in enumerate(state)}
    if not isinstance(state, dict):
        builder.refuse(path, f"is a module with the state {short(state)}")
    packs = "packed_params" in "".join(map(str, state)) or state.keys() >= {"weight", "scale"}
    for name, each in state.items():
        key = f"{prefix}{name}"
        if isinstance(each, _Module):
            _collect(made, each, key, builder)
        elif isinstance(each, TensorBase) or _is_packed(each):
            made[key] = each
        elif packs and name == "scale" and type(each) in (int, float):
            made[key] = tensor(float(each))
        elif packs and name == "zero_point" and type(each) is int:
            made[key] = tensor(each)
        elif name == "dtype" and "PackedParams" in module.name and type(each) is int:
            made[key] = _DTYPES.get(each, each)
        elif key not in made:
            made.attributes[key] = each


def _is_packed(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(each is None or isinstance(each, TensorBase) for each in value)
        and any(isinstance(each, TensorBase) for each in value)
    )
