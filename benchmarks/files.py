"""The files of what was measured: JSON with one line for each race."""

from __future__ import annotations

import json
from typing import Any


def text_of(measured: Any) -> str:
    """A run, or a list of runs.

    Examples
    --------
    >>> print(text_of({"threads": 1, "races": [{"kind": "add"}, {"kind": "mul"}]}), end="")
    {
     "threads": 1,
     "races": [
      {"kind": "add"},
      {"kind": "mul"}
     ]
    }
    """
    if isinstance(measured, list):
        return "[\n" + ",\n".join(text_of(each).rstrip() for each in measured) + "\n]\n"
    races = ",\n".join(f"  {json.dumps(each)}" for each in measured["races"])
    rest = json.dumps({key: value for key, value in measured.items() if key != "races"}, indent=1)
    return f'{rest.removesuffix("}").rstrip()},\n "races": [\n{races}\n ]\n}}\n'
