"""``coverage``: what became of every module of a model, or why it was left alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.fx import GraphModule
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.modules import Identity
from pyqref.quantization.quantization_mappings import (
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_static_quant_module_mappings,
)

from .coverage_table import Coverage, CoverageRow
from .custom_modules import FLOAT_TO_OBSERVED, OBSERVED_TO_QUANTIZED
from .observe import NAME
from .origins import Origin, describe_qconfig, named_layers, origins, parameter_bytes, type_name
from .paths import require_mapping, require_module
from .propagate import planned_qconfigs
from .reasons import reason

__all__ = ["coverage"]

#: What is said of a module and, with it, of all in it.
_WHOLE = ("planned", "observed", "quantized")
#: Where graph mode keeps, in ``node.meta``, why a node stays float.
_REASON = "_quantization_reason"


def coverage(model: Module, mapping: Mapping[Any, Any] | None = None) -> Coverage:
    """List for every module what it is, its qconfig, and what became of it or will.

    In a graph also the functions and methods that stay float, by the names of their nodes.

    Parameters
    ----------
    model
        A float model with qconfigs, a prepared one, or a converted one.
    mapping
        The table that ``convert`` is going to be called with; the default one if None.

    Returns
    -------
    Coverage
        ``print`` it, or read its ``rows``.

    Raises
    ------
    TypeError
        ``model`` is no module.

    Notes
    -----
    In eager mode it is unknown, before the model runs, whether a quantized layer will be
    given a quantized tensor; ``Coverage.notes`` says so where the model has no ``QuantStub``
    at all. torch has no such function.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.ReLU()).eval()
    >>> model.qconfig = quantization.default_dynamic_qconfig
    >>> for row in coverage(model).rows:
    ...     print(repr(row.path), row.status, row.became or row.reason, sep=" | ")
    '' | container | holds the modules below
    '0' | planned | nn.quantized.dynamic.Linear
    '1' | float | no quantized counterpart for GELU
    '2' | as is | works on quantized tensors as it is
    """
    require_module("coverage", model)
    static = get_default_static_quant_module_mappings() if mapping is None else mapping
    require_mapping("coverage", "mapping", static)
    for value in static.values():
        if not isinstance(value, type):
            raise TypeError(f"coverage: a value of mapping must be a module type, got {value!r}")
    # Layers that prepare takes apart become quantized as a whole.
    whole = {each: OBSERVED_TO_QUANTIZED[to] for each, to in FLOAT_TO_OBSERVED.items()}
    static = {**whole, **OBSERVED_TO_QUANTIZED, **static}
    tables = {"static": static, "dynamic": get_default_dynamic_quant_module_mappings()}
    observed = {*get_default_qat_module_mappings().values(), *OBSERVED_TO_QUANTIZED}
    qconfigs, memory, said = _qconfigs(model), origins(model), _said_by_graphs(model)
    rows: list[CoverageRow] = []
    group = ""
    for path, module in named_layers(model):
        if group and path.startswith(f"{group}."):
            fate: tuple[str, str | None, str | None] = ("part", None, f"part of {group}")
        else:
            fate = _fate(path, module, qconfigs, memory.get(path), tables, observed)
            if path in said and fate[0] not in ("quantized", "part"):
                fate = "float", None, said[path]
            is_fused = isinstance(module, _FusedModule) and fate[0] != "container"
            if path and (fate[0] in _WHOLE or is_fused):
                group = path
        as_one = fate[0] in _WHOLE or (bool(path) and group == path)
        rows.append(_row(path, module, as_one, qconfigs.get(path), memory.get(path), *fate))
    rows.extend(_functions(model, {row.path for row in rows}))
    return Coverage(tuple(rows), tuple(_notes(model, rows, tables)))


def _functions(model: Any, taken: Collection[str]) -> list[CoverageRow]:
    """The functions and methods of a graph that stay float, with the reason that was kept."""
    found = []
    for node in model.graph.nodes if isinstance(model, GraphModule) else ():
        why = node.meta.get(_REASON)
        if why is not None and node.op != "call_module" and node.name not in taken:
            name = node.target if node.op == "call_method" else node.target.__name__
            found.append(CoverageRow(node.name, f"{name}()", None, "float", None, why, 0, 0))
    return found


def _said_by_graphs(model: Any) -> dict[str, str]:
    """Why graph mode left a module float, by path; kept in the nodes that call it."""
    found = {}
    for path, each in model.named_modules():
        for node in each.graph.nodes if isinstance(each, GraphModule) else ():
            if node.op == "call_module" and _REASON in node.meta:
                found[".".join(filter(None, [path, node.target]))] = node.meta[_REASON]
    return found


def _qconfigs(model: Any) -> dict[str, Any]:
    """The qconfigs that ``prepare`` will give; in a prepared model those that it gave."""
    layers = dict(named_layers(model))
    observers = (getattr(each, NAME, None) for each in layers.values())
    if any(each is not None and not isinstance(each, Identity) for each in observers):
        return {path: each.qconfig for path, each in layers.items() if hasattr(each, "qconfig")}
    return planned_qconfigs(model)


def _row(
    path: str,
    module: Any,
    whole: bool,
    qconfig: Any,
    origin: Origin | None,
    status: str,
    became: str | None,
    why: str | None,
) -> CoverageRow:
    size = 0 if status == "part" else parameter_bytes(module, whole)
    text = describe_qconfig(qconfig)
    if origin is None:
        return CoverageRow(path, type_name(type(module)), text, status, became, why, size, size)
    text = text or origin.qconfig
    before = 0 if status == "part" else origin.weight_bytes
    return CoverageRow(path, origin.type, text, status, became, why, before, size)


def _fate(
    path: str,
    module: Any,
    qconfigs: Mapping[str, Any],
    origin: Origin | None,
    tables: Mapping[str, Mapping[Any, Any]],
    observed: Collection[Any],
) -> tuple[str, str | None, str | None]:
    """Status, what it became or will become, and why it was left alone."""
    kind = type(module)
    converted = origin is not None and origin.kind != "training"
    made = any(kind in table.values() for table in tables.values())
    if made or (origin is not None and origin.is_quantized):
        inside = module[0] if isinstance(module, _FusedModule) and len(module) else module
        of = "" if inside is module or converted is False else f" of {type_name(type(inside))}"
        return "quantized", type_name(kind) + of, None
    qconfig = qconfigs.get(path)
    if converted and origin is not None and qconfig is None:
        why = origin.reason
    else:
        which = "dynamic" if _is_dynamic(qconfig) else "static"
        why = reason(module, path, qconfigs, set(tables[which]), which)
        if why is None:
            seen = getattr(module, NAME, None)
            sees = kind in observed or (seen is not None and not isinstance(seen, Identity))
            return "observed" if sees else "planned", type_name(tables[which][kind]), None
    if why is not None and why.startswith("holds"):
        return "container", None, why
    return "as is" if why is not None and why.startswith("works") else "float", None, why


def _is_dynamic(qconfig: Any) -> bool:
    """Return True if a qconfig's activations are quantized at run time."""
    recipe = getattr(qconfig, "activation", None)
    keywords = getattr(getattr(recipe, "p", None), "keywords", {})
    return bool(keywords.get("is_dynamic", False))


def _notes(
    model: Any, rows: list[CoverageRow], tables: Mapping[str, Mapping[Any, Any]]
) -> list[str]:
    """Return the notes that concern the model as a whole."""
    if isinstance(model, GraphModule):
        return []  # a graph quantizes its inputs by itself
    dynamic = {type_name(each) for each in tables["dynamic"].values()}
    types = {row.type for row in rows} | {row.became for row in rows}
    static = [
        row.path
        for row in rows
        if row.became is not None and row.became not in dynamic and row.weight_bytes
    ]
    if static and not types & {"QuantStub", "nn.quantized.Quantize"}:
        note = (
            f"there is no QuantStub: {static[0]} will get the model's float input unless a "
            "quantized tensor is passed; use QuantStub or QuantWrapper"
        )
        return [note]
    return []
