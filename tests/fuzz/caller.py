"""Call everything that is public with hostile arguments, on every kernel, in child processes.

    python tests/fuzz/caller.py --calls 2000 --seed 0
    python tests/fuzz/caller.py --minutes 60 --seed 7 --only avg_pool2d
    python tests/fuzz/caller.py --seed 7 --call 1234

A call follows from the seed and its number. It is made on the reference kernel and on the kernel in
use, with one thread and with three; results, arguments afterwards and gradients must have the same
bits. A call that asks neither which kernel is in use nor how many threads there are is made once,
because it has nothing to disagree about; one in 16 of these is made three times all the same.
What is found is printed with the line that repeats it, the first time in full, and is counted.
The exit code is 1 where there was a fault of a kind that ``--count`` does not name.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a program: its own folder is no place to look
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from fuzz import children

#: One call in so many is made on every kernel, even if it asked for none.
WHOLE = 16


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=2000, help="how many calls (2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--call", type=int, help="this call only")
    parser.add_argument("--only", default="", help="this function, method or layer only")
    parser.add_argument("--minutes", type=float, help="as many calls as this takes")
    parser.add_argument("--kernel", default="", help="kernel to compare with the reference")
    parser.add_argument("--seconds", type=int, default=5, help="of the processor for a call (5)")
    parser.add_argument("--gigabytes", type=float, default=3.0, help="of addresses (3)")
    parser.add_argument("--patience", type=float, default=children.PATIENCE, help=argparse.SUPPRESS)
    parser.add_argument("--count", default="raw", help="kinds that only count, commas between")
    parser.add_argument("--json", help="write what was found to this file")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def child(given: argparse.Namespace) -> None:
    """Make calls one after another."""
    from fuzz import cases, judge
    from fuzz.catalogue import chosen

    import pyqref

    me = children.Child(given.child, given.progress, given.seconds)
    targets = chosen(given.only)
    kernel = given.kernel or pyqref.kernels.in_use()
    me.limit(int(given.gigabytes * 2**30))
    for number in range(given.first, given.first + given.calls):
        case = cases.case(given.seed, number, targets)
        me.begin(number)
        try:
            whole = given.calls == 1 or number % WHOLE == 0
            answered, found = judge.judged(case, kernel, whole=whole)
        except MemoryError as error:  # while results are compared
            answered, found = False, [judge.Fault("memory", case.target.name, str(error))]
        told = {"call": number, "line": case.line, "found": [vars(each) for each in found]}
        me.end(answered, told if found else {})


def _program(given: argparse.Namespace, first: int) -> list[str]:
    names = ("seed", "only", "kernel", "seconds", "gigabytes")
    passed = [f"--{name}={getattr(given, name)}" for name in names]
    left = given.first + given.calls - first
    return [sys.executable, __file__, *passed, f"--first={first}", f"--calls={left}"]


def _case(given: argparse.Namespace, number: int) -> Any:
    from fuzz import cases
    from fuzz.catalogue import chosen

    return cases.case(given.seed, number, chosen(given.only))


def main(arguments: list[str] | None = None) -> int:
    """Run, print every fault, and say how many there were."""
    given = options(arguments)
    if given.child is not None:
        child(given)
        return 0
    if given.call is not None:
        given.first, given.calls = given.call, 1
    if given.minutes:
        given.calls = 10**9
    parent = children.Parent(
        lambda first: _program(given, first),
        given.first,
        given.calls,
        given.minutes,
        given.patience,
    )
    tally = children.Tally(given.json, parent.progress)
    try:
        for told in parent.watched():
            if "number" in told:  # a child's end
                case = _case(given, told["number"])
                fault = {"kind": told["kind"], "place": case.target.name, "said": told["said"]}
                told = {"call": case.number, "line": case.line, "found": [fault]}
            for fault in told.pop("found", ()):
                if tally.is_new({**told, **fault}):
                    _tell(given, told, fault)
            tally.write(at_once=False)
    except KeyboardInterrupt:
        print("stopped")
    tally.write(at_once=True)
    if given.call is not None:
        print(f"from fuzz.values import *; {_case(given, given.call).line}")
    tally.show("calls")
    return int(any(kind not in given.count.split(",") for kind in tally.kinds()))


def _tell(given: argparse.Namespace, told: dict[str, Any], fault: dict[str, str]) -> None:
    only = f" --only {given.only}" if given.only else ""
    print(f"{fault['kind']} at {fault['place']}: {fault['said']}")
    print(f"    from fuzz.values import *; {told['line']}")
    print(f"    python tests/fuzz/caller.py --seed {given.seed} --call {told['call']}{only}")


if __name__ == "__main__":
    children.end_with_a_summary()
    sys.exit(main())
