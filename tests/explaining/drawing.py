"""Random elements of all operations; ``PYTHONPATH=tests python -m explaining.drawing 10000``."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter

import numpy as np

import pyqref
from pyqref.explaining import recording
from pyqref.explaining.draft import EXPLAINERS

from .cases import CASES

ENGINES = ("fbgemm", "qnnpack", "onednn", "x86")


def sweep(seed: int, engine: str, convention: str, name: str) -> Counter[str]:
    """Derive a random element of every operation of a case, and check it."""
    pyqref.backends.quantized.engine = engine
    pyqref.backends.quantized.conventions = convention
    rng = np.random.default_rng([seed, *map(ord, name)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with recording() as ran:
            CASES[name](rng)
    seen: Counter[str] = Counter()
    for record in ran._recorder.records:
        shape = record.outputs[0].shape
        if record.operation in EXPLAINERS and 0 not in shape:
            index = tuple(int(rng.integers(size)) for size in shape)
            found = ran.explain(record.layer, index)
            assert found.check()
            assert found.stored == record.outputs[0].number(index) or found.stored != found.stored
            seen[record.operation] += 1
    return seen


def main(count: int) -> None:
    """Draw at least so many elements, and say how many of each operation."""
    seen: Counter[str] = Counter()
    for seed in itertools.count():
        for engine, convention in itertools.product(ENGINES, ("documented", "torch")):
            for name in CASES:
                seen += sweep(seed, engine, convention, name)
        if sum(seen.values()) >= count:
            break
    print(f"{sum(seen.values())} elements of {len(seen)} operations equal what was stored")


if __name__ == "__main__":
    main(int(sys.argv[1]))
