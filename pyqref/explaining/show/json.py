"""A derivation as JSON, and its steps back from it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..._typing import Derivation
from ..steps import Operand, Step
from .links import link

__all__ = ["SCHEMA", "as_dict", "as_json", "steps_of"]

#: Version of the schema; it grows when a reader of the last one would be wrong.
SCHEMA = 1

_REALS = {"float32": np.float32, "float64": np.float64}


def as_dict(derivation: Derivation) -> dict[str, Any]:
    """The derivation as plain dicts, lists, texts and numbers; real numbers in hexadecimal."""
    return {
        "schema": SCHEMA,
        "layer": derivation.layer,
        "operation": derivation.operation,
        "engine": derivation.engine,
        "index": list(derivation.index),
        "stored": _number(derivation.stored),
        "result": derivation.result,
        "steps": [_step(each) for each in derivation.steps],
        "inputs": [
            {
                "symbol": each.symbol,
                "layer": each.layer,
                "index": list(each.index),
                "value": _number(each.value),
            }
            for each in derivation.inputs
        ],
        "notes": list(derivation.notes),
        "tables": [
            {
                "title": each.title,
                "header": list(each.header),
                "rows": [[_number(number) for number in row] for row in each.rows],
            }
            for each in derivation.tables
        ],
        "others": {
            name: [
                {
                    "name": each.name,
                    "label": each.label,
                    "link": link(each.label),
                    "formula": each.formula,
                    "value": _number(each.value),
                    "decision": each.decision,
                }
                for each in steps
            ]
            for name, steps in derivation.others.items()
        },
    }


def as_json(derivation: Derivation, indent: int | None) -> str:
    """Return the derivation as JSON text."""
    return json.dumps(as_dict(derivation), indent=indent, allow_nan=False)


def _step(step: Step) -> dict[str, Any]:
    fraction = step.fraction
    return {
        "name": step.name,
        "symbol": step.symbol,
        "rule": step.rule,
        "label": step.label,
        "link": link(step.label),
        "formula": step.formula,
        "numbers": step.numbers,
        "operands": [
            {"symbol": each.symbol, "step": each.step, "value": _number(each.value)}
            for each in step.operands
        ],
        "value": _number(step.value),
        "fraction": None if fraction is None else str(fraction),
        "decision": step.decision,
        "section": step.section,
    }


def _number(value: Any) -> dict[str, Any]:
    """A number with its type."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            return {"type": str(value.dtype), "row": [float(each).hex() for each in value.flat]}
        return {"type": "integer", "row": value.ravel().tolist()}
    if isinstance(value, str):
        return {"type": "name", "value": value}
    if isinstance(value, int):
        return {"type": "integer", "value": value}
    kind = "float32" if isinstance(value, np.float32) else "float64"
    number = float(value)
    decimal = number if np.isfinite(number) else None  # JSON has no infinity
    return {"type": kind, "value": number.hex(), "decimal": decimal}


def _read(number: dict[str, Any]) -> Any:
    kind = number["type"]
    if "row" in number:
        if kind == "integer":
            return np.array(number["row"], np.int64)
        return np.array([float.fromhex(each) for each in number["row"]], kind)
    if kind in _REALS:
        return _REALS[kind](float.fromhex(number["value"]))
    return number["value"]


def steps_of(text: str) -> tuple[Step, ...]:
    """The steps of a derivation that was written as JSON, to compute them again.

    Raises
    ------
    ValueError
        The text has another schema.
    """
    found = json.loads(text)
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        got = found.get("schema") if isinstance(found, dict) else type(found).__name__
        raise ValueError(f"steps_of: the schema must be {SCHEMA}, got {got}")
    return tuple(
        Step(
            each["name"],
            each["symbol"],
            each["rule"],
            tuple(
                Operand(one["symbol"], _read(one["value"]), one["step"]) for one in each["operands"]
            ),
            _read(each["value"]),
            each["label"],
            each["decision"],
            each.get("section", ""),
        )
        for each in found["steps"]
    )
