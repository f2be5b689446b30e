"""Write ``measured.json``: each name, where it comes from, what proves it, how near it is.

    python tests/parity/table.py [--live]

Every case runs once while the functions and the classes that it reaches are noted, and
its results are compared with torch's: the recorded ones, or with ``--live`` those of the
installed torch. A name's row adds up the cases that reach it. A name that no case reaches
shows the first test that mentions it. The page ``docs/parity.rst`` makes a table of the file.
"""

from __future__ import annotations

import ast
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.harness import HERE
from parity.names import names
from parity.running import outcomes, resolve

TESTS = HERE.parent
TARGET = HERE / "measured.json"


@dataclass
class Evidence:
    """Evidence about a name from the cases that reach it."""

    cases: list[str] = field(default_factory=list)
    elements: int = 0
    largest: float = 0.0


def mentions(path: Path) -> dict[str, set[str]]:
    """For each function of a test file, the names that its text mentions."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            words = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
            words |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    words |= set(each.value.replace(".", " ").split())
            found[node.name] = words
    return found


def collect(live: bool) -> list[tuple[str, str, bool, str, Evidence]]:
    """Name, origin, whether it exists, the test that proves it, the evidence."""
    cases = sorted(outcomes(live, reaching=True), key=lambda each: (each.topic, each.name))
    for each in cases:
        for problem in each.problems:
            print(f"{each.topic}.{each.name}: {problem}", flush=True)
    words = {
        f"{path.stem}.{name}": found
        for path in sorted((HERE / "cases").glob("[a-z]*.py"))
        for name, found in mentions(path).items()
    }
    tests: dict[str, str] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, found in mentions(path).items():
            if name.startswith("test_"):
                for word in found:
                    tests.setdefault(word, f"{path.relative_to(TESTS).as_posix()}::{name}")
    rows = []
    for name, origin in names():
        last = name.rpartition(".")[2]
        reaches = any(name in case.reaches for case in cases)
        joined = Evidence()
        for case in cases:
            label = f"{case.topic}.{case.name}"
            if name in case.reaches or (not reaches and last in words.get(label, ())):
                joined.cases.append(label)
                joined.elements += case.elements
                joined.largest = max(joined.largest, case.largest)
        proof = joined.cases[0] if joined.cases else tests.get(last, "")
        rows.append((name, origin, resolve(name) is not None, proof, joined))
    return rows


def render(rows: list[tuple[str, str, bool, str, Evidence]], live: bool) -> str:
    """The file, one line for each name."""
    against = "live torch 2.13" if live else "the recorded answers of torch 2.13"
    lines = []
    for name, origin, exists, proof, evidence in rows:
        compared = bool(evidence.cases)
        found = {
            "name": name,
            "origin": origin,
            "exists": exists,
            "proof": proof,
            "cases": len(evidence.cases),
            "elements": evidence.elements if compared else None,
            "largest": float(f"{evidence.largest:.2g}") if compared else None,
        }
        lines.append(json.dumps(found, ensure_ascii=False))
    body = ",\n".join(lines)
    return f'{{\n"against": "{against}",\n"rows": [\n{body}\n]\n}}\n'


def main() -> None:
    """Write the file and say what is missing."""
    live = "--live" in sys.argv[1:]
    rows = collect(live)
    TARGET.write_text(render(rows, live), encoding="utf-8")
    missing = [name for name, _, exists, _, _ in rows if not exists]
    unproved = [name for name, _, _, proof, _ in rows if not proof]
    print(f"{len(rows)} names, missing: {missing or 'none'}, unproved: {unproved or 'none'}")
    compared = [each for *_, each in rows if each.cases]
    print(f"{len(compared)} names reached by parity cases")


if __name__ == "__main__":
    main()
