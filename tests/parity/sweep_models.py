"""Whole workflows of graph mode: every model of the table on every engine, live.

    python tests/parity/sweep_models.py [part of a name ...]

For each the graphs (prepared, reference, converted), every scale, zero point and weight,
the integers of every quantized value and the outputs of pyqref are compared with those of
the installed torch 2.13.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.cases.fx_patterns import BOUNDS, TIE
from parity.fx_models import MODELS, engines_of, on_engine, trains
from parity.harness import Case, differences


def compared(name: str, engine: str, qat: bool) -> tuple[str, dict[str, Any]]:
    """A model on an engine: what it is called, and how its results compare."""
    import torch

    import pyqref

    label = f"{name} {engine}{' training' if qat else ''}"

    def script(namespace: Any) -> dict[str, Any]:
        return {"": on_engine(namespace, name, engine, qat=qat)}

    bounds = {**({"*reference_output*": TIE} if "bilinear" in name else {}), **BOUNDS}
    case = Case("sweep", label, script, {"*output*": BOUNDS["*/output*"], **bounds})
    theirs = case.run(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return label, differences(case, case.run(pyqref), theirs)


def main() -> int:
    """Run all, print what differs; the exit status tells whether all agree."""
    chosen = sys.argv[1:] or [""]
    count = elements = 0
    equal = failed = 0
    floats, integers = 0.0, 0
    for name in MODELS:
        if not any(part in name for part in chosen):
            continue
        for engine in engines_of(name):
            for qat in (False, True)[: 1 + trains(name)]:
                label, found = compared(name, engine, qat)
                count += 1
                elements += sum(each.elements for each in found.values())
                equal += sum(each.elements - each.different for each in found.values())
                problems = [f"  {path}: {d.problem}" for path, d in found.items() if d.problem]
                failed += bool(problems)
                integers += sum(d.different for path, d in found.items() if "integers" in path)
                floats = max([floats, *(d.largest for d in found.values())])
                if problems:
                    print("\n".join([label, *problems]), flush=True)
    print(
        f"{count} models compared, {count - failed} agree; {equal:,} of {elements:,} elements "
        f"equal bit for bit, {integers} quantized values differ; largest difference {floats:.3g}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
