"""Random elements of all operations; ``PYTHONPATH=tests python -m explaining.drawing 10000``."""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from functools import cache
from typing import Any

import numpy as np
from arithmetic.printed import holds

import pyqref
from pyqref import arithmetic
from pyqref.explaining import recording
from pyqref.explaining.draft import EXPLAINERS
from pyqref.explaining.record import Value

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


def others(seed: int, name: str, system: str) -> Counter[str]:
    """Ask the steps of another system for its integer, and compare with a run in it.

    Of each operation of a case, one random element: the last step gives what the operation stores
    inside ``arithmetic.use``, and every formula, as it is printed, gives the value beside it. Where
    there are no steps, the engine's number is stored.
    """
    key = [seed, *map(ord, name)]
    ran = _recorded(seed, name, pyqref.backends.quantized.engine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with arithmetic.use(system), recording() as other:
            CASES[name](np.random.default_rng(key))
    rng, seen = np.random.default_rng(key), Counter[str]()
    elsewhere = {each.layer: each for each in other._recorder.records}
    for record in ran._recorder.records:
        theirs = elsewhere.get(record.layer)
        shape = record.outputs[0].shape
        if record.operation not in EXPLAINERS or 0 in shape or theirs is None:
            continue
        if not same_inputs(record, theirs):
            continue
        index = tuple(int(rng.integers(size)) for size in shape)
        stored = theirs.outputs[0].number(index)
        try:
            found = ran.explain(record.layer, index, [system])
        except LookupError as error:
            if "no rule" in str(error):
                assert record.outputs[0].number(index) == stored
            continue
        steps = found.others[system]
        assert steps[-1].value == stored, (record.operation, index)
        rounds = any(step.kind.startswith("float") for step in found.steps[: found.result + 1])
        own = arithmetic.get(system).engine is None and record.operation != "dequantize"
        if rounds and own:
            assert all(map(holds, steps)), (record.operation, steps)
        seen[record.operation] += 1
    return seen


@cache
def _recorded(seed: int, name: str, engine: str) -> Any:
    """A run of a case, on an engine."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with recording() as ran:
            CASES[name](np.random.default_rng([seed, *map(ord, name)]))
    return ran


def same_inputs(a: Any, b: Any) -> bool:
    """Return True if two records were given the same tensors."""
    pairs = zip(a.arguments.values(), b.arguments.values(), strict=False)
    return a.arguments.keys() == b.arguments.keys() and all(
        isinstance(second, Value) and np.array_equal(first.array, second.array)
        for first, second in pairs
        if isinstance(first, Value)
    )


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
