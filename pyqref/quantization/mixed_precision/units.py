"""Parts of a model that can be quantized by themselves, each with the entry that asks for it.

A *unit* is what a back end quantizes as one: a convolution with its batch norm and its ReLU, an
addition, an embedding. Its QConfig is the user's, or the usual one of its kind where that cannot
be: dynamic for recurrent layers, of weights only for embeddings. Operations without a quantized
form have a *reference* form: they compute on float numbers between grids.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any

from pyqref.autograd import no_grad
from pyqref.backends import quantized as settings
from pyqref.fx import GraphModule, Interpreter, Node, check_specialized
from pyqref.nn import MultiheadAttention
from pyqref.nn.modules import Module
from pyqref.quantization.backend_config import ObservationType, get_native_backend_config
from pyqref.quantization.fx.custom_config import PrepareCustomConfig
from pyqref.quantization.fx.dtype_support import Types, has_weight, kind_of, unsupported_reason
from pyqref.quantization.fx.fusing import fuse
from pyqref.quantization.fx.matching import Match, find_matches
from pyqref.quantization.fx.node_qconfigs import find_qconfigs
from pyqref.quantization.fx.prepare import trace
from pyqref.quantization.observer.fixed_qparams import FixedQParamsObserver
from pyqref.quantization.observer.reuse_input import ReuseInputObserver
from pyqref.quantization.qconfig.base import QConfig
from pyqref.quantization.qconfig.defaults import (
    default_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
    get_default_qconfig,
)
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.qconfig_mapping.defaults import usual_mapping
from pyqref.tensor import Tensor

from .costs import macs_of, weights_of
from .unit import Unit

__all__ = ["base_mapping", "find_units"]

#: Operations that pick a part of a value, and compute nothing.
_PICKS = (operator.getitem, getattr, check_specialized)


def base_mapping(qconfig: object) -> QConfigMapping:
    """The mapping of 8 bits: a user's, the usual one around a QConfig, or the usual one."""
    engine = settings.engine
    if qconfig is None:
        qconfig = get_default_qconfig(engine)
    if isinstance(qconfig, QConfigMapping):
        return qconfig
    if not isinstance(qconfig, QConfig):
        raise TypeError(
            f"qconfig must be a QConfig or a QConfigMapping, got a {type(qconfig).__name__}"
        )
    return usual_mapping(engine, qconfig)


def find_units(
    asks: str, model: Module, mapping: QConfigMapping, inputs: tuple[Any, ...]
) -> tuple[dict[str, Unit], dict[str, str]]:
    """Return the units of a model by name, in the order in which they run, and what stays float.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        A float model in evaluation mode.
    mapping
        Of 8 bits.
    inputs
        Of one call.

    Returns
    -------
    dict, dict
        The second one has the reasons by name. Reference forms are units as well.
    """
    traced, scopes = trace(asks, model, PrepareCustomConfig())
    back_end = get_native_backend_config()
    fuse(traced, False, back_end)
    qconfigs, _ = find_qconfigs(traced, mapping, scopes)
    calls = Counter(each.target for each in traced.graph.nodes if each.op == "call_module")

    def accept(match: Match) -> bool:
        return match.config.fuser_method is None or calls[match.root.target] == 1

    found = find_matches(traced, back_end._pattern_complex_format_to_config.items(), accept)
    run = _Recorder(traced)
    with no_grad():
        run.run(*inputs)
    return _Survey(traced, scopes, mapping, qconfigs, found, run.values).units()


class _Recorder(Interpreter):
    """Keeps the shape of each value; None where it is no float tensor."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.values: dict[str, Any] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        several = value[0] if isinstance(value, tuple) and value else value
        is_float = isinstance(several, Tensor) and several.is_floating_point()
        self.values[n.name] = tuple(several.shape) if is_float else None
        if isinstance(value, tuple):
            self.values[n.name] = ("several", self.values[n.name])
        return value


class _Survey:
    def __init__(
        self,
        traced: GraphModule,
        scopes: dict[str, tuple[str, Any]],
        mapping: QConfigMapping,
        qconfigs: dict[str, Any],
        found: dict[Node, Match],
        shapes: dict[str, Any],
    ) -> None:
        self.mapping, self.qconfigs = mapping, qconfigs
        self.scopes, self.found, self.shapes = scopes, found, shapes
        self.nodes = list(traced.graph.nodes)
        self.modules = dict(traced.named_modules(remove_duplicate=False))
        self.count: Counter[tuple[str, Any]] = Counter()
        self.entries: dict[tuple[str, Any], str] = {}
        self.owner: dict[Node, str] = {}
        self.left: dict[str, str] = {}

    def units(self) -> tuple[dict[str, Unit], dict[str, str]]:
        made: dict[str, Unit] = {}
        for node in self.nodes:
            if node.op in ("placeholder", "get_attr", "output"):
                continue
            entry = self._entry(node)
            match = self.found.get(node)
            if match is not None and node is not match.root:
                continue
            if node.target in _PICKS or self._is_size(node, match):
                continue
            if (unit := self._unit(node, match, entry)) is None:
                continue
            unit = self._joined(made, unit)
            made[unit.name] = unit
            for each in [node] if match is None else match.all_nodes():
                self.owner[each] = unit.name
        return made, self.left

    def _joined(self, made: dict[str, Unit], unit: Unit) -> Unit:
        """The unit, together with an earlier call that has the same entry."""
        name = self.entries.setdefault(unit.entry, unit.name)
        if name not in made:
            return unit
        before = made[name]
        return Unit(**{**vars(before), "macs": before.macs + unit.macs})

    def _entry(self, node: Node) -> tuple[str, Any]:
        """Level and key of the mapping that mean this node, and calls of the same module."""
        if node.op == "call_module":
            return "module_name", node.target
        if node.op == "call_method":
            return "object_type", node.target
        path = self.scopes.get(node.name, ("", None))[0]
        self.count[path, node.target] += 1
        return "module_name_object_type_order", (
            path,
            node.target,
            self.count[path, node.target] - 1,
        )

    def _is_size(self, node: Node, match: Match | None) -> bool:
        """Return True if a node gives no float numbers."""
        not_observed = ObservationType.INPUT_OUTPUT_NOT_OBSERVED
        if match is not None and match.config.observation_type is not_observed:
            return True
        last = node if match is None else match.last
        return self.shapes.get(last.name) in (None, ("several", None))

    def _unit(self, node: Node, match: Match | None, entry: tuple[str, Any]) -> Unit | None:
        module = self.modules.get(node.target) if node.op == "call_module" else None
        target: Any = node.target if module is None else type(module)
        what = target if isinstance(target, str) else target.__name__
        name = node.target if module is not None else node.name
        qconfig = self.qconfigs[node.name]
        if qconfig is not None and isinstance(qconfig.activation(), ReuseInputObserver):
            qconfig = self.mapping.global_qconfig
        if qconfig is None:
            self.left[name] = "its qconfig is None"
            return None
        inputs = tuple(self._source(each) for each in self._tensors(node))
        if match is None:
            kind = self._reference_kind(node, module)
            if kind != "custom":
                self.left[name] = "the back end has no quantized form of it"
            return Unit(name, what, entry, qconfig, kind, target, inputs=inputs)
        known = (qconfig, default_dynamic_qconfig, float_qparams_weight_only_qconfig)
        fitting = [each for each in known if unsupported_reason(match, each) is None]
        if not fitting:
            self.left[name] = str(unsupported_reason(match, qconfig))
            return None
        several = len(self._tensors(node)) > 1 or what in ("cat", "concat", "stack")
        shared = match.config.observation_type
        follows = shared is ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT and not several
        shapes = [self.shapes[each.name] for each in node.all_input_nodes]
        weights = weights_of(module, node, self.shapes) if has_weight(match) else 0
        macs = macs_of(what, module, shapes, self.shapes[node.name])
        types = Types(fitting[0])
        fixed = isinstance(types.activation_observer, FixedQParamsObserver)
        return Unit(
            name,
            what,
            entry,
            fitting[0],
            kind_of(types),
            target,
            follows=follows,
            fixed=fixed,
            weights=weights,
            macs=macs,
            inputs=inputs,
        )

    def _reference_kind(self, node: Node, module: Module | None) -> str:
        if isinstance(module, MultiheadAttention):
            return "custom"
        return "weights" if "several" in (self.shapes[node.name] or ()) else "reference"

    def _tensors(self, node: Node) -> list[Node]:
        """The arguments of a node that are float tensors, without attributes."""
        known = [each for each in node.all_input_nodes if each.op != "get_attr"]
        return [each for each in known if self.shapes.get(each.name) is not None]

    def _source(self, node: Node) -> str | None:
        """The unit that computed a value."""
        while node not in self.owner and node.target in _PICKS:
            node = node.all_input_nodes[0]
        return self.owner.get(node)
