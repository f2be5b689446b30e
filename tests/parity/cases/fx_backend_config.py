"""Configurations of back ends, entry by entry."""

from __future__ import annotations

import importlib
from typing import Any

from parity.harness import parity_case

# Other names of ``cat``, and a function that pyqref does not have.
ELSEWHERE = ("concat", "concatenate", "permute_copy")
PLACES = ("intrinsic", "qat", "quantized", "reference", "dynamic", "_operator", "functional")


def load(torch: Any) -> Any:
    """``torch.ao.quantization.backend_config``; torch needs quantize_fx loaded before it."""
    if torch.__name__ == "torch":
        importlib.import_module("torch.ao.quantization.quantize_fx")
    return importlib.import_module(f"{torch.__name__}.ao.quantization.backend_config")


def named(value: Any) -> str:
    """A class, function, method name, type or nested pattern, as text without namespace."""
    if isinstance(value, tuple | list):
        return f"({', '.join(named(each) for each in value)})"
    if isinstance(value, dict):
        return str({key: named(each) for key, each in value.items()})
    if isinstance(value, str):
        return repr(value)
    if isinstance(value, type):
        places = [each for each in value.__module__.split(".") if each in PLACES]
        return ".".join([*places, value.__name__])
    if getattr(value, "__module__", "") == "_operator":
        return f"operator.{value.__name__}"
    return str(getattr(value, "__name__", value))


def typed(constrained: Any) -> str:
    """A type with its constraints."""
    kind = str(constrained.dtype).split(".")[-1]
    bounds = {k: v for k, v in vars(constrained).items() if k != "dtype" and v is not None}
    return f"{kind} {bounds}" if bounds else kind


def dtypes(entry: dict[str, Any]) -> str:
    """One DTypeConfig."""
    found = {}
    for key, value in entry.items():
        found[key] = typed(value) if hasattr(value, "dtype") else str(value).split(".")[-1]
    return str(found)


def described(config: Any) -> str:
    """All entries of a back end's dictionary, in order."""
    lines = [config.name]
    for entry in config.to_dict()["configs"]:
        pattern = entry.get("pattern", entry.get("pattern_complex_format"))
        if named(pattern) in ELSEWHERE:
            continue
        lines.append(f"{named(pattern)}: {entry['observation_type'].name}")
        for key in ("root_module", "qat_module", "fused_module"):
            lines.append(f"  {key}: {named(entry.get(key))}")
        key = "reference_quantized_module_for_root"
        lines.append(f"  {key}: {named(entry.get(key))}")
        present = sorted(key for key in entry if key.endswith(("getter", "method")))
        lines.append(f"  {present} {entry.get('input_type_to_index')}")
        by_count = entry.get("num_tensor_args_to_observation_type", {})
        lines.append(f"  { ({count: kind.name for count, kind in by_count.items()}) }")
        lines += [f"  {dtypes(each)}" for each in entry["dtype_configs"]]
    return "\n".join(lines)


def back_end(name: str) -> Any:
    def case(torch: Any) -> dict[str, Any]:
        config = getattr(load(torch), f"get_{name}_backend_config")()
        again = load(torch).BackendConfig.from_dict(config.to_dict())
        return {
            "entries": described(config),
            "again": described(again) == described(config),
            "equal": again.to_dict() == config.to_dict(),
        }

    case.__name__ = f"{name}_backend_config"
    case.__module__ = __name__
    case.__doc__ = f"The configuration of {name}."
    return case


for _name in ("native", "fbgemm", "qnnpack", "onednn", "executorch", "tensorrt"):
    parity_case()(back_end(_name))


@parity_case()
def dictionaries(torch: Any) -> dict[str, Any]:
    """``to_dict`` and ``from_dict`` of all four classes."""
    bc = load(torch)
    nn = torch.nn
    plain = bc.DTypeConfig(torch.quint8, weight_dtype=torch.qint8, is_dynamic=False)
    bound = bc.DTypeConfig(
        input_dtype=bc.DTypeWithConstraints(torch.quint8, 0, 255, scale_min_lower_bound=0.5)
    )
    config = bc.BackendConfig("mine").set_backend_pattern_configs(
        [
            bc.BackendPatternConfig((nn.Conv2d, nn.ReLU)).add_dtype_config(plain),
            bc.BackendPatternConfig(nn.Linear)
            .set_dtype_configs([plain, bound])
            .set_observation_type(bc.ObservationType.INPUT_OUTPUT_NOT_OBSERVED)
            .set_root_module(nn.Linear),
            bc.BackendPatternConfig("view"),
            bc.BackendPatternConfig((nn.Conv2d, nn.ReLU)).set_fused_module(nn.ReLU),
        ]
    )
    again = bc.BackendConfig.from_dict(config.to_dict())
    return {
        "plain": dtypes(plain.to_dict()),
        "bound": dtypes(bound.to_dict()),
        "empty": str(bc.DTypeConfig().to_dict()),
        "same": bc.DTypeConfig.from_dict(bound.to_dict()) == bound,
        "config": described(config),
        "again": described(again),
        "equal": again.to_dict() == config.to_dict(),
        "repr": str(bc.DTypeWithConstraints()).replace(torch.__name__, "torch"),
        "type repr": str(plain).replace(f"{torch.__name__}.", "torch."),
        "nothing": str(bc.BackendConfig().to_dict()) + str(bc.BackendConfig()),
    }
