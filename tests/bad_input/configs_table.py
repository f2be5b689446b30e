"""Wrong values for the setters of qconfig mappings, back end configs and custom configs."""

from __future__ import annotations

from typing import Any

from bad_input.engine import Entry

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import backend_config as b
from pyqref.quantization.fx import custom_config as c


def mappings() -> list[Entry]:
    """The levels of a ``QConfigMapping``."""
    kinds = {
        "qconfig": "any",
        "object_type": "operation",
        "module_name": "name",
        "module_name_regex": "name",
        "index": "int",
    }
    found = []
    for level, valid in {
        "global": {},
        "object_type": {"object_type": nn.Linear},
        "module_name": {"module_name": "a.b"},
        "module_name_regex": {"module_name_regex": "a.*"},
        "module_name_object_type_order": {"module_name": "a", "object_type": len, "index": 0},
    }.items():
        name = "global_qconfig" if level == "global" else "qconfig"
        setter = getattr(q.QConfigMapping(), f"set_{level}")
        given: dict[str, Any] = {**valid, name: q.default_qconfig}
        found.append(_entry(f"QConfigMapping.set_{level}", setter, given, {name: "any", **kinds}))
    return found


def back_ends() -> list[Entry]:
    """Types with constraints, patterns, and back ends."""
    kinds = dict.fromkeys(("input_dtype", "output_dtype", "weight_dtype", "bias_dtype"), "dtype")
    types: dict[str, Any] = dict.fromkeys(kinds, pyqref.quint8)
    bounds = ("quant_min_lower_bound", "quant_max_upper_bound", "scale_min_lower_bound",
              "scale_max_upper_bound", "scale_exact_match")  # fmt: skip
    constraints: dict[str, Any] = {
        "dtype": pyqref.qint8,
        **dict.fromkeys(bounds, 1.0),
        "zero_point_exact_match": 0,
    }
    numbers = {**dict.fromkeys(bounds, "number"), "zero_point_exact_match": "int"}
    found = [
        _entry("DTypeConfig", b.DTypeConfig, {**types, "is_dynamic": True}, kinds, kinds),
        _entry("DTypeWithConstraints", b.DTypeWithConstraints, constraints, numbers, constraints),
        _entry("BackendConfig", b.BackendConfig, {"name": "mine"}, {"name": "name"}),
        _entry("set_name", b.BackendConfig().set_name, {"name": "mine"}, {"name": "name"}),
    ]
    for what, valid, kind in (
        ("pattern", (nn.Linear, nn.ReLU), "operations"),
        ("root_module", nn.Linear, "class"),
        ("qat_module", nn.qat.Linear, "class"),
        ("reference_quantized_module", nn.quantized.reference.Linear, "class"),
        ("fused_module", nn.intrinsic.LinearReLU, "class"),
    ):
        setter = getattr(b.BackendPatternConfig(), f"set_{what}")
        name = f"BackendPatternConfig.set_{what}"
        found.append(_entry(name, setter, {what: valid}, {what: kind}, (what,)))
    pattern = {"pattern": (nn.Linear, nn.ReLU)}
    kinds = {"pattern": "operations"}
    return [*found, _entry("BackendPatternConfig", b.BackendPatternConfig, pattern, kinds)]


def custom_configs() -> list[Entry]:
    """The setters of the three custom configs."""
    prepare = c.PrepareCustomConfig()
    standalone: dict[str, Any] = {
        "qconfig_mapping": q.QConfigMapping(),
        "example_inputs": (pyqref.ones(1),),
        "prepare_custom_config": c.PrepareCustomConfig(),
        "backend_config": b.BackendConfig(),
    }
    kinds = {"module_name": "name", "module_class": "class", "indexes": "indexes",
             "module_names": "names", "module_classes": "classes", "attributes": "names",
             "float_class": "class", "observed_class": "class", "quantized_class": "class",
             "example_inputs": "any", "qconfig_mapping": "config", "backend_config": "config",
             "prepare_custom_config": "config"}  # fmt: skip
    classes = {"float_class": nn.Linear, "observed_class": nn.Linear}
    quantized = {"observed_class": nn.Linear, "quantized_class": nn.Linear}
    calls: list[tuple[Any, dict[str, Any]]] = [
        (prepare.set_standalone_module_name, {"module_name": "a", **standalone}),
        (prepare.set_standalone_module_class, {"module_class": nn.Linear, **standalone}),
        (prepare.set_float_to_observed_mapping, classes),
        (prepare.set_non_traceable_module_names, {"module_names": ["a"]}),
        (prepare.set_non_traceable_module_classes, {"module_classes": [nn.Linear]}),
        (prepare.set_input_quantized_indexes, {"indexes": [0]}),
        (prepare.set_output_quantized_indexes, {"indexes": [0]}),
        (c.ConvertCustomConfig().set_observed_to_quantized_mapping, quantized),
        *(
            (each.set_preserved_attributes, {"attributes": ["a"]})
            for each in (prepare, c.ConvertCustomConfig(), c.FuseCustomConfig())
        ),
    ]
    return [
        _entry(call.__qualname__, call, valid, kinds, [n for n in valid if n in standalone])
        for call, valid in calls
    ]


def _entry(
    name: str, call: Any, valid: dict[str, Any], kinds: dict[str, str], optional: Any = ()
) -> Entry:
    kinds = {each: kinds[each] for each in valid if each in kinds}
    return Entry(name, call, valid, frozenset(optional), kinds)


ENTRIES: list[Entry] = [*mappings(), *back_ends(), *custom_configs()]
