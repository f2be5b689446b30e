"""Read files of every format after they were changed at random, in child processes.

    python tests/fuzz/files.py --files 2000 --seed 0
    python tests/fuzz/files.py --format safetensors --files 1000000 --seed 7
    python tests/fuzz/files.py --format pyqref --seed 7 --file 1234 --write bad.file

A file follows from its format, the seed and its number. It must be refused with a ``FileError`` or
be read rightly: what was read is sound, is the same when it is saved and read again, and, if it is
a dictionary, is taken by a model or leaves the model as it was. Nothing in the file may run, and
reading may take neither long nor much memory. The exit code is 1 where there was a fault.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if __name__ == "__main__":  # as a program: its own folder is no place to look
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from fuzz import children

#: Bytes of addresses that reading a file of some kilobytes may take.
MEMORY = 256 * 2**20


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=2000, help="how many of each format (2000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first file")
    parser.add_argument("--file", type=int, help="this file only")
    parser.add_argument("--format", default="", help="this format only")
    parser.add_argument("--write", help="write the file of --file to this path, do not read it")
    parser.add_argument("--minutes", type=float, help="as many files as this takes")
    parser.add_argument("--seconds", type=int, default=2, help="of the processor for a file (2)")
    parser.add_argument("--json", help="write what was found to this file")
    parser.add_argument("--patience", type=float, default=children.PATIENCE, help=argparse.SUPPRESS)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--progress", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def child(given: argparse.Namespace) -> None:
    """Read files one after another."""
    from fuzz import formats, mutations, reading

    me = children.Child(given.child, given.progress, given.seconds)
    format_of = formats.FORMATS[given.format]
    reader = reading.Reader(format_of)
    me.limit(reading.addresses() + MEMORY)
    for number in range(given.first, given.first + given.files):
        data = mutations.mutated(format_of, given.seed, number)
        me.begin(number)
        answered, found = reader.judged(data)
        told = {"file": number, "found": [vars(each) for each in found]}
        me.end(answered, told if found else {})


def _program(given: argparse.Namespace, first: int) -> list[str]:
    left = given.first + given.files - first
    passed = [f"--seed={given.seed}", f"--format={given.format}", f"--seconds={given.seconds}"]
    return [sys.executable, __file__, *passed, f"--first={first}", f"--files={left}"]


def main(arguments: list[str] | None = None) -> int:
    """Run, print every fault, and say how many there were."""
    given = options(arguments)
    if given.child is not None:
        child(given)
        return 0
    from fuzz import formats, mutations

    if given.file is not None:
        given.first, given.files = given.file, 1
    if given.write:
        data = mutations.mutated(formats.FORMATS[given.format], given.seed, given.first)
        Path(given.write).write_bytes(data)
        return 0
    if given.minutes:
        given.files = 10**9
    names = [given.format] if given.format else list(formats.FORMATS)
    return max([_of_one(argparse.Namespace(**{**vars(given), "format": name})) for name in names])


def _of_one(given: argparse.Namespace) -> int:
    parent = children.Parent(
        lambda first: _program(given, first),
        given.first,
        given.files,
        given.minutes,
        given.patience,
    )
    path = given.json.replace("{}", given.format) if given.json else None
    tally = children.Tally(path, parent.progress)
    try:
        for told in parent.watched():
            if "number" in told:  # a child's end
                fault = {"kind": told["kind"], "place": "load", "said": told["said"]}
                told = {"file": told["number"], "found": [fault]}
            for fault in told.pop("found", ()):
                if tally.is_new({**told, **fault}):
                    print(f"{fault['kind']} at {fault['place']}: {fault['said']}")
                    passed = f"--format {given.format} --seed {given.seed} --file {told['file']}"
                    print(f"    python tests/fuzz/files.py {passed}")
            tally.write(at_once=False)
    except KeyboardInterrupt:
        print("stopped")
    tally.write(at_once=True)
    tally.show(f"files of {given.format}")
    return int(bool(tally.kinds()))


if __name__ == "__main__":
    children.end_with_a_summary()
    sys.exit(main())
