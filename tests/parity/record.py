"""Record torch 2.13's answers to the parity cases.

    python tests/parity/record.py [topic ...]

Needs torch 2.13 (the extra ``parity``). Without topics, every one is recorded.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.harness import CASES, HERE, load_cases, write_recording


def main() -> None:
    """Run the cases of the topics named on the command line under torch."""
    import torch

    load_cases()
    for topic in sys.argv[1:] or sorted(CASES):
        answers = {}
        for case in CASES[topic].values():
            for path, array in case.run(torch).items():
                answers[f"{case.name}|{path}"] = array
        target = HERE / "recorded" / f"{topic}.xz"
        write_recording(target, answers)
        print(f"{topic}: {len(CASES[topic])} cases, {target.stat().st_size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
