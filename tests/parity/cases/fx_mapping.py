"""``QConfigMapping``, the usual mappings, and the three custom configs."""

from __future__ import annotations

import importlib
from typing import Any

from parity.cases.fx_backend_config import load, named
from parity.harness import parity_case


def recipe(value: Any) -> str:
    """An observer's recipe as text."""
    if not hasattr(value, "p"):
        return getattr(value, "__name__", str(value))
    inner = {
        key: recipe(each) if callable(each) else str(each).split(".")[-1]
        for key, each in value.p.keywords.items()
        if (key, each) != ("reduce_range", False)
    }
    return f"{value.p.func.__name__}({inner})"


def qconfig(value: Any) -> str:
    return "None" if value is None else f"{recipe(value.activation)} | {recipe(value.weight)}"


def listed(mapping: Any) -> str:
    """All entries of a mapping in order."""
    lines = [qconfig(mapping.global_qconfig)]
    for key, value in mapping.to_dict().items():
        if key:
            lines.append(key)
            lines += [f"  {named(each[:-1])}: {qconfig(each[-1])}" for each in value]
    return "\n".join(lines)


@parity_case()
def default_mappings(torch: Any) -> dict[str, Any]:
    """List the default mappings of each back end, for static quantization and for training."""
    q = torch.ao.quantization
    found = {}
    for backend in ("x86", "fbgemm", "qnnpack", "onednn"):
        found[backend] = listed(q.get_default_qconfig_mapping(backend))
        found[f"{backend} qat"] = listed(q.get_default_qat_qconfig_mapping(backend))
    module = importlib.import_module(f"{torch.__name__}.ao.quantization.qconfig_mapping")
    found["symmetric"] = listed(module._get_symmetric_qnnpack_qconfig_mapping())
    found["symmetric qat"] = listed(module._get_symmetric_qnnpack_qat_qconfig_mapping())
    return found


@parity_case()
def setters(torch: Any) -> dict[str, Any]:
    """Chaining, order, overriding, dictionary form and text."""
    q, nn = torch.ao.quantization, torch.nn
    one, two = q.get_default_qconfig("x86"), q.get_default_qconfig("qnnpack")
    mapping = (
        q.QConfigMapping()
        .set_global(one)
        .set_object_type(nn.Linear, one)
        .set_object_type(nn.functional.linear, two)
        .set_object_type("view", None)
        .set_module_name_regex("foo.*bar.*conv[0-9]+", one)
        .set_module_name_regex("foo.*", two)
        .set_module_name_regex("foo.*bar.*conv[0-9]+", None)
        .set_module_name("module1", one)
        .set_module_name("module2", two)
        .set_module_name("module1", two)
        .set_object_type(nn.Linear, two)
        .set_module_name_object_type_order("foo.bar", nn.functional.linear, 0, one)
        .set_module_name_object_type_order("foo.bar", nn.functional.linear, 0, None)
    )
    again = q.QConfigMapping.from_dict(mapping.to_dict())
    small = q.QConfigMapping().set_global(one).set_module_name("a", None)
    return {
        "entries": listed(mapping),
        "again": listed(again),
        "equal": again.to_dict() == mapping.to_dict(),
        "empty": str(q.QConfigMapping()),
        "text": str(small).replace(str(one), "one"),
    }


@parity_case()
def custom_configs(torch: Any) -> dict[str, Any]:
    """``to_dict`` and ``from_dict``."""
    load(torch)
    custom = importlib.import_module(f"{torch.__name__}.ao.quantization.fx.custom_config")
    q, nn = torch.ao.quantization, torch.nn
    prepare = (
        custom.PrepareCustomConfig()
        .set_standalone_module_name("m", q.QConfigMapping(), (1,), None, None)
        .set_standalone_module_class(nn.ReLU, None, (), custom.PrepareCustomConfig(), None)
        .set_float_to_observed_mapping(nn.Linear, nn.ReLU)
        .set_non_traceable_module_names(["x"])
        .set_non_traceable_module_classes([nn.ReLU])
        .set_input_quantized_indexes([0])
        .set_output_quantized_indexes([1])
        .set_preserved_attributes(["z"])
    )
    convert = (
        custom.ConvertCustomConfig()
        .set_observed_to_quantized_mapping(nn.Linear, nn.ReLU)
        .set_preserved_attributes(["z"])
    )
    fuse = custom.FuseCustomConfig().set_preserved_attributes(["y"])
    found = {}
    for each in (prepare, convert, fuse):
        kind = type(each)
        entries = {key: named(value) for key, value in each.to_dict().items()}
        found[kind.__name__] = str(entries)
        found[f"{kind.__name__} again"] = kind.from_dict(each.to_dict()).to_dict() == each.to_dict()
        found[f"{kind.__name__} empty"] = f"{kind()} {kind().to_dict()}"
    return found
