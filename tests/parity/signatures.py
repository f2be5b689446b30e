"""The parameters of torch 2.13's classes and functions of eager quantization.

    python tests/parity/signatures.py

writes ``recorded/signatures.json`` anew; it needs torch 2.13.
"""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded" / "signatures.json"

#: Packages below ``torch`` (and ``pyqref``) whose public names are compared.
PACKAGES = (
    "ao.quantization",
    "ao.quantization.utils",
    "ao.nn.intrinsic",
    "ao.nn.intrinsic.qat",
    "ao.nn.intrinsic.quantized",
    "ao.nn.intrinsic.quantized.dynamic",
    "ao.nn.qat",
    "ao.nn.qat.dynamic",
    "ao.nn.quantizable",
    "ao.nn.quantized",
    "ao.nn.quantized.dynamic",
    "ao.nn.quantized.functional",
    "ao.nn.quantized.reference",
)
METHODS = (
    "calculate_qparams",
    "from_float",
    "from_observed",
    "from_reference",
    "get_tensor_value",
    "get_weight",
    "reset_min_max_vals",
    "set_weight_bias",
    "with_args",
    "with_callable_args",
)

_MARKS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**", "KEYWORD_ONLY": "=", "POSITIONAL_ONLY": "/"}


def parameters(function: Any) -> str | None:
    """The parameters by name, ``"mod, =qconfig, **kwargs"``; None where Python cannot tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return ", ".join(_MARKS.get(each.kind.name, "") + each.name for each in found)


def table(root: str) -> dict[str, str]:
    """The parameters of every class, function and listed method below ``root``."""
    found: dict[str, str] = {}
    for package in PACKAGES:
        module = importlib.import_module(f"{root}.{package}")
        for name in sorted(set(getattr(module, "__all__", None) or vars(module))):
            value = getattr(module, name, None)
            if name.startswith("_") or not (inspect.isclass(value) or inspect.isfunction(value)):
                continue
            if not (getattr(value, "__module__", "") or "").startswith(root):
                continue
            own = parameters(value)
            if own is not None:
                found[f"{package}.{name}"] = own
            for method in METHODS if inspect.isclass(value) else ():
                its = parameters(getattr(value, method, None))
                if its is not None:
                    found[f"{package}.{name}.{method}"] = its
    return found


def main() -> None:
    """Record torch's table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = table("torch")
    lines = [f"{json.dumps(key)}: {json.dumps(found[key])}" for key in sorted(found)]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(found)} signatures, {RECORDED.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
