"""A derivation as text that fits a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from ..steps import Step, short

__all__ = ["as_text", "title"]

WIDTH = 80


def title(derivation: Any) -> str:
    """What the derivation is of."""
    index = ", ".join(map(str, derivation.index))
    return f"{derivation.layer}[{index}] = {short(derivation.stored)}"


def as_text(derivation: Any) -> str:
    """All steps, each with its formula, its numbers, its value and what was decided."""
    return "\n".join(_lines(derivation))


def _lines(derivation: Any) -> Iterator[str]:
    yield from _wrapped(title(derivation), "", "    ")
    yield from _wrapped(f"{derivation.operation}, engine {derivation.engine}", "", "    ")
    yield from _inputs(derivation)
    section = ""
    for number, step in enumerate(derivation.steps):
        if step.section != section:
            section = step.section
            yield from _wrapped(f"-- {section}", "", "   ")
        yield from _step(step, number == derivation.result)
    for name, others in derivation.others.items():
        yield from _wrapped(f"{name}: {short(others[-1].value)}", "", "    ")
        for each in others:
            yield from _wrapped(
                f"{each.name}: {each.formula} = {short(each.value)}", "  ", "      "
            )
            if each.decision:
                yield from _wrapped(each.decision, "  > ", "    ")
    for note in derivation.notes:
        yield from _wrapped(note, "note: ", "      ")


def _inputs(derivation: Any) -> Iterator[str]:
    count = len(derivation.inputs)
    chosen = derivation.largest_inputs(3)
    for each in chosen:
        index = ", ".join(map(str, each.index))
        line = f"{each.symbol} = {short(each.value)}, from {each.layer}[{index}]"
        yield from _wrapped(line, "  ", "      ")
    if count > len(chosen):
        yield f"  ... and {count - len(chosen)} more inputs"


def _step(step: Step, stored: bool) -> Iterator[str]:
    head = f"{step.name}{' (stored)' if stored else ''}"
    label = step.label
    room = WIDTH - len(head) - 2
    if len(label) <= room:
        yield f"{head}{label.rjust(WIDTH - len(head))}".rstrip() if label else head
    else:
        yield from (head, label.rjust(WIDTH))
    numbers = step.numbers
    yield from _wrapped(f"{step.symbol} = {step.formula}", "  ", "      ")
    pad = " " * len(step.symbol)
    if numbers != step.formula:
        yield from _wrapped(f"{pad} = {numbers}", "  ", "      ")
    yield from _wrapped(f"{pad} = {_value(step)}", "  ", "      ")
    if step.decision:
        yield from _wrapped(step.decision, "  > ", "    ")


def _value(step: Step) -> str:
    if not step.kind.startswith("float"):
        return short(step.value)
    return f"{short(step.value)}  ({step.hexadecimal})"


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        drop_whitespace=True,
        replace_whitespace=False,
    )
