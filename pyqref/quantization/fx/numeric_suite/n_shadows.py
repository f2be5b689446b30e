"""Each operation of a float model quantized in several ways, in one run.

::

    x -> conv -> logger 0 -> fc -> logger 0
     |            |
     prepared or converted copies of conv, each with a logger that compares it with conv
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from pyqref.fx import Graph, GraphModule, Interpreter, Node
from pyqref.nn import Module
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx
from pyqref.tape import no_grad

from ...._typing import Tensor
from ....fx.tracer import Tracer
from ..matching import Match, find_matches
from ..node_qconfigs import find_qconfigs
from ..tracer import QuantizationTracer
from .copying import copy_operation
from .loggers import OutputComparisonLogger, OutputLogger
from .multi_mapping import QConfigMultiMapping
from .naming import path_of, type_text
from .subgraphs import activations

__all__ = ["convert_n_shadows_model", "prepare_n_shadows_model"]

#: How the copies are called.
WRAPPER = "shadow_wrapper"


def prepare_n_shadows_model(
    model: Module,
    example_inputs: Sequence[Tensor],
    qconfig_multi_mapping: QConfigMultiMapping,
    backend_config: BackendConfig,
    custom_prepare_fn: Callable[..., Any] | None = None,
    custom_prepare_kwargs: dict[str, Any] | None = None,
    custom_tracer: Tracer | None = None,
) -> GraphModule:
    """Put prepared copies of each operation beside it, one for each of its qconfigs.

    Parameters
    ----------
    model
        A float model in eval mode; it is copied.
    example_inputs
        A tuple of inputs.
    qconfig_multi_mapping
        The qconfigs to try.
    backend_config
        Which operations there are.
    custom_prepare_fn, custom_prepare_kwargs
        Called instead of ``prepare_fx`` with a copy, ``example_inputs`` and ``qconfig_mapping``;
        and further arguments for it.
    custom_tracer
        Records the model, instead of the usual tracer.

    Returns
    -------
    GraphModule
        The float model, with loggers that are switched off. Run it to calibrate, call
        :func:`convert_n_shadows_model` and :func:`loggers_set_enabled`, and run it again.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import default_qconfig
    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> batch = (pyqref.rand(4, 3),)
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(3, 2)).eval()
    >>> qconfigs = ns.QConfigMultiMapping().set_global([default_qconfig])
    >>> many = ns.prepare_n_shadows_model(model, batch, qconfigs, get_native_backend_config())
    >>> _ = many(*batch)
    >>> many = ns.convert_n_shadows_model(many)
    >>> ns.loggers_set_enabled(many, True)
    >>> _ = many(*batch)
    >>> list(ns.extract_results_n_shadows_model(many)["model"]["node_output"])
    ['subgraph_0_0', 'subgraph_0_1']
    """
    tracer = custom_tracer or QuantizationTracer([], [])
    own = copy.deepcopy(model)
    made = GraphModule(own, tracer.trace(own))
    made.meta["scopes"] = dict(tracer.node_name_to_scope)
    patterns = backend_config._pattern_complex_format_to_config.items()
    found_at = find_matches(made, patterns)
    matches = [
        found_at[node]
        for node in made.graph.nodes
        if node in found_at and found_at[node].last is node and activations(made, node)
    ]
    mappings = qconfig_multi_mapping.qconfig_mappings_list
    found = [find_qconfigs(made, each, made.meta["scopes"])[0] for each in mappings]
    values = _values(made, example_inputs)
    prepare = custom_prepare_fn or _usual_prepare(backend_config)
    options = custom_prepare_kwargs or {}
    for number, match in enumerate(matches):
        qconfigs = [each[match.root.name] for each in found]
        copies = [
            (way, qconfig, *_copy(made, match))
            for way, qconfig in enumerate(qconfigs, 1)
            if qconfig is not None
        ]
        place = _log(made, match, match.last, (match.last,), number, 0, None)
        for way, qconfig, wrapper, inputs in copies:
            prepared = prepare(
                wrapper,
                example_inputs=tuple(values[each] for each in inputs),
                qconfig_mapping=QConfigMapping().set_global(qconfig),
                **options,
            )
            path = f"{WRAPPER}_{number}_{way}"
            setattr(made, path, prepared)
            with made.graph.inserting_after(place):
                place = made.graph.create_node("call_module", path, tuple(inputs), name=path)
            place = _log(made, match, place, (place, match.last), number, way, qconfig)
    made.graph.lint()
    made.recompile()
    return made


def _usual_prepare(backend_config: BackendConfig) -> Callable[..., GraphModule]:
    def prepare(module: GraphModule, *, example_inputs: Any, qconfig_mapping: Any) -> GraphModule:
        return prepare_fx(module, qconfig_mapping, example_inputs, backend_config=backend_config)

    return prepare


class _Recorder(Interpreter):
    """Runs a model and keeps the value of each node."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[Node, Any] = {}

    def run_node(self, n: Node) -> Tensor:
        self.values[n] = super().run_node(n)
        return self.values[n]


def _values(model: GraphModule, example_inputs: Any) -> dict[Node, Any]:
    recorder = _Recorder(model)
    with no_grad():
        recorder.run(*example_inputs)
    return recorder.values


def _copy(model: GraphModule, match: Match) -> tuple[GraphModule, list[Node]]:
    """The nodes of a match as a model of their own, and the values that are its inputs."""
    inputs = [each for _, _, each in activations(model, match.root)]
    for node in match.all_nodes():
        if node is not match.root:
            others = (each for _, _, each in activations(model, node))
            inputs += [each for each in others if each not in match.all_nodes()]
    inputs = list(dict.fromkeys(inputs))
    wrapper = GraphModule(Module(), Graph())
    values = {each: wrapper.graph.placeholder(f"{each.name}_0") for each in inputs}
    wrapper.graph.output(copy_operation(model, match.last, wrapper, values, "mod"))
    wrapper.recompile()
    return copy.deepcopy(wrapper).train(model.training), inputs


def _log(
    model: GraphModule,
    match: Match,
    after: Node,
    inputs: tuple[Node, ...],
    number: int,
    way: int,
    qconfig: Any,
) -> Node:
    """Put a logger behind the operation, or behind one of its copies."""
    logger = (OutputLogger if way == 0 else OutputComparisonLogger)(
        ref_node_name=match.root.name,
        prev_node_name=match.last.name,
        model_name=f"subgraph_{number}_{way}",
        ref_name="model",
        prev_node_target_type=type_text(model, match.last),
        ref_node_target_type=type_text(model, match.root),
        results_type="node_output",
        index_within_arg=0,
        index_of_arg=0,
        fqn=path_of(model, match.root),
        qconfig_str="" if qconfig is None else str(qconfig),
    )
    logger.enabled = False
    path = f"shadow_{number}_{way}"
    setattr(model, path, logger)
    with model.graph.inserting_after(after):
        return model.graph.create_node("call_module", path, inputs, name=path)


def convert_n_shadows_model(
    model: GraphModule,
    custom_convert_fn: Callable[..., Any] | None = None,
    custom_convert_kwargs: dict[str, Any] | None = None,
) -> GraphModule:
    """Convert all copies in a model of :func:`prepare_n_shadows_model`, in place.

    Parameters
    ----------
    model
        The model; it has run.
    custom_convert_fn, custom_convert_kwargs
        Called instead of ``convert_fx`` with each copy; and further arguments for it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization.fx import numeric_suite as ns
    >>> from pyqref.quantization.backend_config import get_native_backend_config
    >>> mapping = ns.QConfigMultiMapping().set_global([pyqref.quantization.default_qconfig])
    >>> model, batch = pyqref.nn.Sequential(pyqref.nn.ReLU()).eval(), (pyqref.ones(2),)
    >>> many = ns.prepare_n_shadows_model(model, batch, mapping, get_native_backend_config())
    >>> _ = many(*batch)
    >>> ns.convert_n_shadows_model(many)(*batch)
    tensor([1., 1.])
    """
    convert = custom_convert_fn or convert_fx
    for name, each in list(model.named_children()):
        if name.startswith(f"{WRAPPER}_"):
            setattr(model, name, convert(each, **(custom_convert_kwargs or {})))
    return model
