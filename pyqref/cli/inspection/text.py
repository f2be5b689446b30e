"""Contents as text for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .contents import Contents, Row

__all__ = ["as_json", "as_text", "bytes_text", "grid_text", "states_text", "tensor_table"]

KINDS = {
    "float": "float",
    "prepared": "prepared for calibration (observers)",
    "trained": "prepared for quantization-aware training (fake quantizers)",
    "reference": "reference (quantized numbers, float arithmetic)",
    "quantized": "quantized",
    "dynamic": "quantized in its weights (dynamic, or weights alone)",
}
"""Words for what :func:`state_kind` gives."""

_OTHERS = 40


def bytes_text(size: int) -> str:
    """A number of bytes.

    Examples
    --------
    >>> bytes_text(999), bytes_text(123456)
    ('999 B', '123 KB')
    """
    number, unit = float(size), "B"
    for larger in ("KB", "MB", "GB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    digits = 0 if unit == "B" or number >= 100 else 1
    return f"{number:.{digits}f} {unit}"


def grid_text(row: Row) -> tuple[str, str]:
    """Scale and zero point; of many channels from the smallest to the largest."""
    return _span(row.scales), _span(row.zero_points)


def _span(numbers: list[float]) -> str:
    if not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    text = f"{low:.4g}" if low == high else f"{low:.4g} .. {high:.4g}"
    return text if len(numbers) == 1 else f"{text} (x{len(numbers)})"


def range_text(row: Row) -> str:
    """Return the range of the numbers as text, with the count of those that are not finite."""
    text = "" if row.low is None else f"{row.low:.4g} .. {row.high:.4g}"
    if row.low is not None and row.low == row.high:
        text = f"{row.low:.4g}"
    return f"{text} ({row.not_finite} not finite)".strip() if row.not_finite else text


def tensor_table(found: Contents) -> list[tuple[str, ...]]:
    """A header and one line of cells a tensor; columns without entries are left out."""
    lines = [("name", "shape", "dtype", "scale", "zero point", "range", "size", "as int8")]
    lines += [
        (
            row.name,
            " x ".join(map(str, row.shape)) or "()",
            row.dtype,
            *grid_text(row),
            range_text(row),
            bytes_text(row.size) if row.size or 0 in row.shape else "shared",
            bytes_text(row.int8_size) if row.int8_size != row.size else "",
        )
        for row in found.rows
    ]
    used = [any(line[column] for line in lines[1:]) for column in range(len(lines[0]))]
    return [tuple(cell for cell, use in zip(line, used, strict=True) if use) for line in lines]


def states_text(found: Contents) -> list[str]:
    """Describe which kinds of models the state dicts in a file come from."""
    return [
        f"the state dict of a model{f' at [{path!r}]' if path else ''}: {KINDS[kind]}"
        for path, kind in found.states.items()
    ] or ["no state dict of a model"]


def as_text(path: str, container: str, found: Contents, fit: str | None) -> str:
    """The tables, one line a tensor."""
    lines = [path, f"  written by  {container}"]
    lines += [f"  holds       {each}" for each in states_text(found)]
    lines.append(
        f"  tensors     {len(found.rows)}, {found.elements:,} elements, {bytes_text(found.size)}"
    )
    if found.int8_size < found.size:
        share = found.size / max(found.int8_size, 1)
        lines.append(f"  as int8     {bytes_text(found.int8_size)}, {share:.1f} times smaller")
    lines += [f"  note        {each}" for each in found.notes]
    if fit is not None:
        lines.append(f"  {fit}")
    header, *rows = tensor_table(found)
    if rows:
        lines += ["", *_table([header, *rows])]
    if found.others:
        shown = found.others[:_OTHERS]
        lines += ["", *_table([("other values", "type", "value"), *shown])]
        if len(found.others) > _OTHERS:
            lines.append(f"and {len(found.others) - _OTHERS} more")
    if found.module_types:
        types = [
            ("module", "type"),
            *((p or "(the model)", t) for p, t in found.module_types.items()),
        ]
        lines += ["", *_table(types)]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def as_json(path: str, container: str, found: Contents, problems: str | None) -> dict[str, Any]:
    """Return the output for programs; ``fits`` is None without ``--model``."""
    tensors = [asdict(row) | {"shape": list(row.shape)} for row in found.rows]
    return {
        "file": path,
        "written_by": container,
        "states": found.states,
        "size": found.size,
        "int8_size": found.int8_size,
        "elements": found.elements,
        "tensors": tensors,
        "others": [
            {"name": name, "type": kind, "value": text} for name, kind, text in found.others
        ],
        "module_types": found.module_types,
        "fits": None if problems is None else not problems,
        "problems": problems or "",
        "notes": found.notes,
    }
