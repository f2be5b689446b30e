"""Record what the real systems give: ``python tests/arithmetic/record.py PYTHON SYSTEM ...``.

``PYTHON`` is an interpreter that has the systems, each a name of ``systems.SYSTEMS``. Only what is
named is recorded anew. ``recorded.npz`` was made on an x86-64 processor with AVX2 and without VNNI,
by torch 2.13 (``ONEDNN_MAX_CPU_ISA=AVX2 FBGEMM_ENABLE_INSTRUCTIONS=AVX2``), ONNX Runtime 1.32
(with onnx 1.23) and LiteRT 2.3.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from cases import RECORDED, make_cases, stored
from running import results_of


def main(python: str, *systems: str) -> None:
    """Write the cases, and the results of the systems."""
    cases = make_cases()
    arrays = stored(cases)
    if RECORDED.exists():
        with np.load(RECORDED) as before:
            arrays |= {name: before[name] for name in before.files if ":" in name}
    with tempfile.TemporaryDirectory() as folder:
        for system in systems:
            results = results_of(system, cases, Path(folder), python)
            arrays = {n: a for n, a in arrays.items() if not n.startswith(f"{system}:")}
            arrays |= {f"{system}:{number}": y for number, y in results.items()}
    np.savez_compressed(RECORDED, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
