"""Records in a prepared model, and how to tell its observers from other modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyqref._typing import Module
from pyqref.fx import GraphModule, Node
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .custom_config import PrepareCustomConfig

__all__ = [
    "Preparation",
    "forget",
    "is_calibrated",
    "is_observer",
    "is_observer_node",
    "preparation_of",
    "remember",
    "require_float",
]

_KEY = "quantization"


@dataclass
class Preparation:
    """Record of ``prepare_fx`` that ``convert_fx`` needs.

    Attributes
    ----------
    qconfigs
        The qconfig of each node, by name.
    scopes
        Path and class of the module in whose ``forward`` each node was made.
    observed
        Names of the nodes that are quantized.
    addressed
        Names of the nodes whose qconfig was given to just them, not to everything around.
    equalized
        The equalization qconfigs of the nodes whose input and weight are equalized.
    """

    qconfig_mapping: QConfigMapping
    backend_config: BackendConfig
    custom: PrepareCustomConfig
    is_qat: bool
    qconfigs: dict[str, Any]
    scopes: dict[str, tuple[str, Any]]
    observed: set[str] = field(default_factory=set)
    is_standalone: bool = False
    addressed: set[str] = field(default_factory=set)
    equalized: dict[str, Any] = field(default_factory=dict)


def remember(model: GraphModule, preparation: Preparation) -> None:
    """Keep it in the model."""
    model.meta[_KEY] = preparation


def forget(model: GraphModule) -> None:
    """Keep only that the model was converted."""
    model.meta[_KEY] = None


def preparation_of(asks: str, model: Module) -> Preparation:
    """Return the record in a prepared model.

    Raises
    ------
    TypeError
        The model was not made by ``prepare_fx``, or is converted already.
    """
    if not isinstance(model, GraphModule) or _KEY not in model.meta:
        raise TypeError(
            f"{asks} takes a model that prepare_fx or prepare_qat_fx returned, got "
            f"{type(model).__name__}; call prepare_fx first"
        )
    found: Preparation | None = model.meta[_KEY]
    if found is None:
        raise TypeError(
            f"{asks}: this model is converted already; to convert in another way, convert the "
            "model that prepare_fx returned once more, which stays as it was"
        )
    return found


def require_float(asks: str, model: Module) -> None:
    """Refuse a model that graph mode prepared or converted before, or that holds a prepared one.

    Raises
    ------
    TypeError
        It is no float model any more.
    """
    for path, each in model.named_modules():
        if not isinstance(each, GraphModule) or _KEY not in each.meta:
            continue
        which = f"the module {path!r}" if path else "this model"
        if each.meta[_KEY] is not None:
            raise TypeError(
                f"{asks}: {which} is already prepared; run it on calibration data, or train "
                f"it, and pass it to convert_fx, or call {asks} on the float model"
            )
        if not path:
            raise TypeError(f"{asks}: {which} is converted already; call {asks} on the float model")


def is_calibrated(model: GraphModule) -> bool:
    """Return True if a model was prepared for calibration, and not for training."""
    found: Preparation | None = model.meta.get(_KEY)
    return found is not None and not found.is_qat


def is_observer(module: object) -> bool:
    """Return True if a module is an observer or a fake quantizer."""
    return isinstance(module, ObserverBase | FakeQuantizeBase)


def is_observer_node(node: object, modules: dict[str, Any]) -> bool:
    """Return True if a node calls an observer."""
    return (
        isinstance(node, Node)
        and node.op == "call_module"
        and is_observer(modules.get(node.target))
    )
