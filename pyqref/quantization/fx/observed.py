"""What a prepared model remembers, and how its observers are told from other modules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase
from pyqref.quantization.observer.base import ObserverBase
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .custom_config import PrepareCustomConfig

__all__ = [
    "Preparation",
    "forget",
    "is_observer",
    "is_observer_node",
    "preparation_of",
    "remember",
]

_KEY = "quantization"


@dataclass
class Preparation:
    """What ``convert_fx`` must know of what ``prepare_fx`` did.

    Attributes
    ----------
    qconfigs
        The qconfig of each node, by name.
    scopes
        Path and class of the module in whose ``forward`` each node was made.
    observed
        Names of the nodes that are quantized.
    """

    qconfig_mapping: QConfigMapping
    backend_config: BackendConfig
    custom: PrepareCustomConfig
    is_qat: bool
    qconfigs: dict[str, Any]
    scopes: dict[str, tuple[str, Any]]
    observed: set[str] = field(default_factory=set)
    is_standalone: bool = False


def remember(model: GraphModule, preparation: Preparation) -> None:
    """Keep it in the model."""
    model.meta[_KEY] = preparation


def forget(model: GraphModule) -> None:
    """Keep only that the model was converted."""
    model.meta[_KEY] = None


def preparation_of(asks: str, model: Any) -> Preparation:
    """What is kept in a prepared model.

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
            f"{asks}: this model is converted already, and converting changes the model; to "
            "convert it in two ways, convert a copy.deepcopy of the prepared model each time"
        )
    return found


def is_observer(module: Any) -> bool:
    """Whether a module observes or fakes quantization."""
    return isinstance(module, ObserverBase | FakeQuantizeBase)


def is_observer_node(node: Any, modules: dict[str, Any]) -> bool:
    """Whether a node calls an observer."""
    return (
        isinstance(node, Node)
        and node.op == "call_module"
        and is_observer(modules.get(node.target))
    )
