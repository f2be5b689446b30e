"""Own ways to choose parameters that a fused fake quantizer does not use, told before training."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyqref.quantization.diagnostics import NoEffectWarning, warn
from pyqref.quantization.fake_quantize.fused import (
    FusedMovingAvgObsFakeQuantize,
    unused_override,
)

__all__ = ["warn_of_unused_overrides"]


def warn_of_unused_overrides(asks: str, qconfigs: Iterable[tuple[str, Any]]) -> None:
    """Warn of observers in qconfigs whose ``calculate_qparams`` training does not use.

    Parameters
    ----------
    asks
        Who asks.
    qconfigs
        Paths of modules, with their qconfigs.
    """
    found: dict[str, list[str]] = {}
    for path, qconfig in qconfigs:
        for part in ("activation", "weight"):
            make: Any = getattr(qconfig, part, None)
            kind = getattr(getattr(make, "p", None), "func", make)
            if isinstance(kind, type) and issubclass(kind, FusedMovingAvgObsFakeQuantize):
                problem = unused_override(make(), tell=True)
                if problem:
                    found.setdefault(f"{part}: {problem}", []).append(path or "the model")
    for problem, paths in found.items():
        warn(f"{asks}: qconfig of {', '.join(dict.fromkeys(paths))}, {problem}", NoEffectWarning)
