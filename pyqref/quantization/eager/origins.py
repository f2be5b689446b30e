"""Records in a converted model about the model that it was made from.

``convert`` takes qconfigs and observers away; ``coverage`` must still be able to say what
stood where. The memory is a plain attribute of the converted model, of strings and numbers
only: state dicts, printing, copying and saving are as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyqref._typing import Module, QConfigLike
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.observer.state import is_observer_path
from pyqref.tensor.base import TensorBase

__all__ = [
    "Origin",
    "describe_qconfig",
    "named_layers",
    "origins",
    "parameter_bytes",
    "remember",
    "type_name",
]

_ATTRIBUTE = "_quantization_origins"


@dataclass(frozen=True)
class Origin:
    """Record of the module that was at one path before.

    Attributes
    ----------
    type : str
        Name of the float type.
    qconfig : str or None
        How it was to be quantized.
    reason : str or None
        Why it was left alone; None if it was swapped.
    kind : str
        ``"static"``, ``"dynamic"`` or ``"training"``: what was done to the model.
    weight_bytes : int
        Size of its own parameters.
    """

    type: str
    qconfig: str | None
    reason: str | None
    kind: str
    weight_bytes: int

    @property
    def is_quantized(self) -> bool:
        """Return True if a quantized module stands there now."""
        return self.reason is None and self.kind != "training"


def origins(model: Module) -> dict[str, Origin]:
    """All that a model and its submodules remember, by path in the model."""
    found: dict[str, Origin] = {}
    for path, each in model.named_modules():
        for below, origin in each.__dict__.get(_ATTRIBUTE, {}).items():
            # What the outer module remembers comes first: it was converted as a whole.
            found.setdefault(".".join(part for part in (path, below) if part), origin)
    return found


def remember(model: Module, found: Mapping[str, Origin]) -> None:
    """Add to what a model remembers; the oldest type and size stay."""
    known = dict(model.__dict__.get(_ATTRIBUTE, {}))
    below = origins(model)
    for path, origin in found.items():
        if path in below and below[path].is_quantized and origin.reason is not None:
            continue  # quantized before, by itself
        if path in known:
            origin = replace(origin, type=known[path].type, weight_bytes=known[path].weight_bytes)
        known[path] = origin
    # Not through Module.__setattr__: the memory is no part of the model.
    model.__dict__[_ATTRIBUTE] = known


def named_layers(model: Module) -> Iterator[tuple[str, Any]]:
    """Paths and modules, without observers and fake quantizers and what is in them."""
    observers: list[str] = []
    for path, each in model.named_modules():
        if path and isinstance(each, ObserverBase | FakeQuantizeBase):
            observers.append(f"{path}.")
        elif not is_observer_path(path) and not path.startswith(tuple(observers)):
            yield path, each


def parameter_bytes(module: Module, whole: bool = False) -> int:
    """Size of a module's weights and biases, quantized or not, without scales and zero points.

    Parameters
    ----------
    module
        A module.
    whole
        Whether those of its submodules count, too: it is swapped as one.
    """
    has_float_weight = isinstance(getattr(module, "weight", None), TensorBase)
    quantized = (
        []
        if has_float_weight
        else [
            tensor
            for name in ("weight", "bias", "get_weight", "get_bias")
            for tensor in _called(getattr(module, name, None))
            if hasattr(tensor, "dtype")
        ]
    )
    size = sum(_bytes(each) for each in quantized or module.parameters(recurse=False))
    if whole and not quantized:
        size += sum(
            parameter_bytes(child, whole)
            for name, child in module.named_children()
            if not is_observer_path(name) and name != "weight_fake_quant"
        )
    return size


def _called(method: Any) -> list[Any]:
    """Return the results of a method of a quantized layer; [None] for a parameter."""
    found = method() if callable(method) else None
    return list(found.values()) if isinstance(found, dict) else [found]


def _bytes(tensor: Any) -> int:
    packed = "quint4x2" in str(tensor.dtype)
    return int(-(-tensor.numel() // 2) if packed else tensor.numel() * tensor.element_size())


def type_name(kind: type) -> str:
    """``Linear``, or ``nn.quantized.Linear`` where the bare name would not be enough."""
    parts = kind.__module__.split(".")
    if parts[0] != "pyqref" or "nn" not in parts or parts[:3] == ["pyqref", "nn", "modules"]:
        return kind.__name__
    if parts[-1] == "stubs":
        return kind.__name__
    package = parts[parts.index("nn") :]
    package = package[: package.index("modules")] if "modules" in package else package
    return ".".join([*package, kind.__name__])


def describe_qconfig(qconfig: QConfigLike | None) -> str | None:
    """The two observers of a qconfig by name, ``HistogramObserver, MinMaxObserver``."""
    if qconfig is None:
        return None
    recipes = (getattr(qconfig, "activation", None), getattr(qconfig, "weight", None))
    return ", ".join(_recipe_name(each) for each in recipes)


def _recipe_name(recipe: Any) -> str:
    constructor = getattr(getattr(recipe, "p", recipe), "func", recipe)
    name: str = getattr(constructor, "__name__", type(constructor).__name__)
    keywords = getattr(getattr(recipe, "p", None), "keywords", {})
    dtype = keywords.get("dtype")
    return name if dtype is None else f"{name}({str(dtype).rpartition('.')[2]})"
