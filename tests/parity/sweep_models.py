"""Whole workflows of graph mode: every model of the table on every engine, live.

    python tests/parity/sweep_models.py [--processes N] [part of a name ...]

For each the graphs (prepared, reference, converted), every scale, zero point and weight,
the integers of every quantized value and the outputs of pyqref are compared with those of
the installed torch 2.13, for inference and, where the pattern trains, for training; there under
torch's conventions, as fake quantization adds the zero point before rounding in the documentation.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.cases.fx_patterns import BOUNDS, TIE
from parity.fx_models import MODELS, engines_of, on_engine, trains
from parity.harness import Case, differences
from rich.progress import track


class Work(NamedTuple):
    """A model of the table, an engine, and whether it is trained."""

    name: str
    engine: str
    qat: bool


class Compared(NamedTuple):
    """How the results of one workflow compare."""

    work: Work
    problems: list[str]
    counts: Counter[str]
    largest: float


def workflows(chosen: list[str]) -> list[Work]:
    """All that is compared of the models whose names have one of these parts."""
    return [
        Work(name, engine, qat)
        for name in MODELS
        if any(part in name for part in chosen)
        for engine in engines_of(name)
        for qat in (False, True)[: 1 + trains(name)]
    ]


def compared(work: Work) -> Compared:
    """Run a workflow with both libraries."""
    import torch

    import pyqref

    def script(namespace: Any) -> dict[str, Any]:
        return {"": on_engine(namespace, work.name, work.engine, qat=work.qat)}

    torch.set_num_threads(1)
    ties = {"*reference_output*": TIE} if "bilinear" in work.name or work.qat else {}
    bounds = {**ties, "*output*": BOUNDS["*/output*"], **BOUNDS}
    case = Case("sweep", work.name, script, bounds, "torch" if work.qat else "documented")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = differences(case, case.run(pyqref), case.run(torch))
        except Exception as error:  # of either library: reported with the model that it is about
            return Compared(work, [f"{type(error).__name__}: {error}"], Counter(), 0.0)
    counts = Counter(
        elements=sum(each.elements for each in found.values()),
        different=sum(each.different for each in found.values() if each.elements),
        integers=sum(d.different for path, d in found.items() if "integers" in path),
    )
    problems = [f"{path}: {d.problem}" for path, d in found.items() if d.problem]
    return Compared(work, problems, counts, max((d.largest for d in found.values()), default=0.0))


def main() -> int:
    """Run all, print what differs; the exit status tells whether all agree."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("part", nargs="*", default=[""], help="part of a model's name")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    todo = workflows(options.part)
    per_kind: Counter[tuple[str, bool]] = Counter()
    total: Counter[str] = Counter()
    failed, largest = 0, 0.0
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        for each in track(pool.imap_unordered(compared, todo), "Comparing", len(todo)):
            per_kind[each.work.engine, each.work.qat] += not each.problems
            failed += bool(each.problems)
            total.update(each.counts)
            largest = max(largest, each.largest)
            if each.problems:
                label = f"{each.work.name} {each.work.engine}{' training' if each.work.qat else ''}"
                print("\n  ".join([label, *each.problems]), flush=True)
    for (engine, qat), count in sorted(per_kind.items()):
        print(f"{engine:8} {'training' if qat else 'inference':9} {count:4} agree")
    print(
        f"{len(todo)} workflows of {len({each.name for each in todo})} models compared, "
        f"{len(todo) - failed} agree; {total['elements'] - total['different']:,} of "
        f"{total['elements']:,} elements equal bit for bit, {total['integers']} quantized values "
        f"differ; largest difference {largest:.3g}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
