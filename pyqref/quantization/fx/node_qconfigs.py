"""Pass: find each node's qconfig.

The five levels of the :class:`~pyqref.quantization.QConfigMapping` are asked from the
weakest to the strongest; each that has an entry replaces what was found before::

    sub.conv   global -> nn.Conv2d -> first matching expression -> "sub.conv", else "sub"
               -> the n-th Conv2d in "sub"
    F.relu     global -> F.relu -> class of the module around it -> its path ...
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from pyqref._typing import Module, QConfigLike
from pyqref.fx import GraphModule, Node
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.diagnostics import NoMatchWarning, warn
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .aliases import of_one_name
from .observed import is_observer
from .paths import split_path

__all__ = ["find_qconfigs", "warn_of_unused_entries"]

Scopes = dict[str, tuple[str, Any]]


class Lookup:
    """The mapping, and which of its entries were used.

    Attributes
    ----------
    used
        Level and key of the entries.
    addressed
        Names of the nodes to which an entry gave a qconfig by their type, path or order, and
        not by that of a module around them; no entries of the usual mappings.
    """

    def __init__(self, mapping: QConfigMapping) -> None:
        self.mapping = mapping
        # An entry for the name itself comes before one for an alias.
        types = mapping.object_type_qconfigs
        self._by_type = {of_one_name(each): each for each in types} | {each: each for each in types}
        orders = mapping.module_name_object_type_order_qconfigs
        self._by_order = {(path, of_one_name(kind), n): (path, kind, n) for path, kind, n in orders}
        self._by_order |= {each: each for each in orders}
        self.used: set[tuple[str, Any]] = set()
        self.addressed: set[str] = set()

    def by_type(self, kind: type[Any], otherwise: QConfigLike | None) -> QConfigLike | None:
        given = self._by_type.get(kind)
        if given is None:
            return otherwise
        self.used.add(("object_type", given))
        return self.mapping.object_type_qconfigs[given]

    def by_path(self, path: str, otherwise: QConfigLike | None) -> QConfigLike | None:
        """Choose by regular expression, then by name of the module itself or the nearest above."""
        for expression, qconfig in self.mapping.module_name_regex_qconfigs.items():
            if re.match(expression, path):
                self.used.add(("module_name_regex", expression))
                otherwise = qconfig
                break
        names = self.mapping.module_name_qconfigs
        while path and path not in names:
            path = split_path(path)[0]
        if path and path in names:  # the model itself, "", is addressed by set_global
            self.used.add(("module_name", path))
            return names[path]
        return otherwise

    def by_order(
        self, path: str, kind: type[Any], index: int, otherwise: QConfigLike | None
    ) -> QConfigLike | None:
        given = self._by_order.get((path, kind, index))
        if given is None:
            return otherwise
        self.used.add(("module_name_object_type_order", given))
        return self.mapping.module_name_object_type_order_qconfigs[given]

    def note(
        self, node: Node, qconfig: QConfigLike | None, kind: type[Any], order: tuple[str, Any, int]
    ) -> None:
        """Record whether the entry that gave a node its qconfig was meant for just this node."""
        mapping = self.mapping
        own = [self.by_order(*order, None)]
        if node.op == "call_module":
            own.append(mapping.module_name_qconfigs.get(node.target))
        if mapping._usual.get(kind) is None:
            own.append(self.by_type(kind, None))
        if any(each is not None and each is qconfig for each in own):
            self.addressed.add(node.name)


def find_qconfigs(
    model: GraphModule, mapping: QConfigMapping, scopes: Scopes
) -> tuple[dict[str, Any], Lookup]:
    """The qconfig of each node by name; called modules are given theirs as ``.qconfig``.

    Parameters
    ----------
    model
        The fused model.
    mapping
        Who is quantized how.
    scopes
        In whose ``forward`` each node was made.

    Returns
    -------
    dict, Lookup
        The qconfigs, and which entries of the mapping were used for what.
    """
    lookup = Lookup(mapping)
    modules = dict(model.named_modules(remove_duplicate=False))
    count: Counter[tuple[str, Any]] = Counter()
    found: dict[str, Any] = {}
    for node in model.graph.nodes:
        if node.op == "call_module" and is_observer(modules[node.target]):
            continue
        found[node.name] = _qconfig(node, lookup, modules, scopes, count)
        if node.op == "call_module":
            modules[node.target].qconfig = found[node.name]
    return found, lookup


def _qconfig(
    node: Node, lookup: Lookup, modules: dict[str, Any], scopes: Scopes, count: Counter[Any]
) -> Any:
    everything = lookup.mapping.global_qconfig
    if node.op in ("placeholder", "output"):
        return None
    if node.op == "get_attr":
        parent = split_path(node.target)[0]
        return lookup.by_path(parent, lookup.by_type(type(modules[parent]), everything))
    if node.op == "call_module":
        module, parent = modules[node.target], split_path(node.target)[0]
        kind = _type(module, lookup)
        index = _next(count, parent, kind)
        qconfig = lookup.by_path(node.target, lookup.by_type(kind, everything))
        qconfig = lookup.by_order(parent, kind, index, qconfig)
        lookup.note(node, qconfig, kind, (parent, kind, index))
        return qconfig
    path, around = scopes.get(node.name, ("", type(modules[""])))
    qconfig = lookup.by_type(node.target, everything)
    qconfig = lookup.by_path(path, lookup.by_type(around, qconfig))
    index = -1 if node.op == "call_method" else _next(count, path, node.target)
    qconfig = lookup.by_order(path, node.target, index, qconfig)
    lookup.note(node, qconfig, node.target, (path, node.target, index))
    return qconfig


def _next(count: Counter[Any], path: str, kind: Any) -> int:
    count[path, kind] += 1
    return count[path, kind] - 1


def _type(module: Any, lookup: Lookup) -> Any:
    """The class to look for: of a fused module that of its first layer, if it has no own."""
    if isinstance(module, _FusedModule) and len(module) > 0:
        named = lookup.mapping.object_type_qconfigs
        if type(module) not in named:
            return type(module[0])
    return type(module)


def warn_of_unused_entries(
    asks: str, model: Module, mapping: QConfigMapping, used: set[tuple[str, Any]]
) -> None:
    """Warn of each entry of the user's own that fits nothing in the model.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The user's model, whose modules may be fused away in the graph.
    mapping
        The mapping; entries of the usual ones are no news.
    used
        The entries that were used, or that were told of before.
    """
    types = {type(each) for _, each in model.named_modules()}
    paths = [path for path, _ in model.named_modules()]
    for level, entries in mapping._entries().items():
        for key, qconfig in entries.items():
            usual = mapping._usual.get(key) if level == "object_type" else None
            fused_away = (level == "object_type" and key in types) or (
                level == "module_name" and key in paths and key != ""
            )
            fused_away |= level == "module_name_regex" and any(re.match(key, p) for p in paths)
            if (level, key) in used or fused_away or (usual is not None and usual is qconfig):
                continue
            text = getattr(key, "__qualname__", repr(key))
            remedy = (
                "use set_global for the whole model" if key == "" else "correct it or leave it out"
            )
            warn(
                f"{asks}: the entry {text} of {level} in the QConfigMapping matches nothing in "
                f"the model; {remedy}",
                NoMatchWarning,
            )
