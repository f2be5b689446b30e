"""The file and its header, as text."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...version import __version__
from ..plan import Plan, Value
from ..problems import Problem
from .calls import Calls, comment
from .integer_rounding import INTEGER
from .layers import LAYERS
from .literals import number
from .piece import needed
from .real_rounding import HEAD, real_pieces
from .volumes import VOLUMES

__all__ = ["Written", "written"]


class Written(NamedTuple):
    """A plan in C.

    Attributes
    ----------
    source, header : str
        The two files.
    constants : int
        Bytes of the weights, tables and other constants.
    problems : list of Problem
        Steps that could not be written.
    """

    source: str
    header: str
    constants: int
    problems: list[Problem]


def written(plan: Plan, name: str, title: str, integer: bool) -> Written:
    """Write a plan as C.

    Parameters
    ----------
    plan
        With all buffers in their places.
    name
        What the names in the header begin with.
    title
        The class of the model.
    integer
        Whether every number is an integer.
    """
    found = LAYERS | VOLUMES | (INTEGER if integer else real_pieces(plan.engine))
    calls = Calls(plan, integer, set(found) | {"memory", name, f"{name}_run"})
    for step in plan.steps:
        calls.write(step)
    arithmetic = (
        "the integer arithmetic of TFLite (31-bit multipliers and shifts)"
        if integer
        else f"the arithmetic of {plan.engine} (multipliers in float)"
    )
    head = f"""\
/* {comment(title)}, written by pyqref {__version__}.
 *
 * {len(plan.steps)} steps on 8-bit integers in {arithmetic}.
 * The names of equations are those of the documentation, "Theory".
 *
 * Constants: {calls.size} bytes. Memory between the steps: {plan.peak} bytes,
 * {_how_small(plan)}.
 * It is static: do not run the function in two threads at once.
 */
"""
    parts = [head, f'#include "{name}.h"\n']
    if not integer:
        parts.append(HEAD.lstrip("\n"))
    parts += [f"{text}\n" for text in needed(found, calls.used)]
    parts += [f"{text}\n" for text in calls.constants]
    if plan.peak:
        parts.append(f"static uint8_t memory[{plan.peak}];\n")
    ends = [_room("in", n) for n in range(len(plan.inputs))]
    ends += [_room("out", n) for n in range(len(plan.outputs))]
    missing = " || ".join(f"!{each}" for each in ends)
    body = "\n".join(calls.lines)
    parts.append(
        f"{_signature(plan, name)}\n{{\n    if ({missing})\n        return 1;\n{body}\n"
        "    return 0;\n}\n"
    )
    return Written("\n".join(parts), _header(plan, name, title), calls.size, calls.problems)


def _how_small(plan: Plan) -> str:
    if plan.peak == plan.least:
        return "the least that this order of steps needs"
    return f"where this order of steps needs {plan.least}"


def _room(place: str, n: int) -> str:
    return place if n == 0 else f"{place}_{n}"


def _signature(plan: Plan, name: str) -> str:
    given = [f"const uint8_t *{_room('in', n)}" for n in range(len(plan.inputs))]
    given += [f"uint8_t *{_room('out', n)}" for n in range(len(plan.outputs))]
    return f"int {name}_run({', '.join(given)})"


def _header(plan: Plan, name: str, title: str) -> str:
    guard = f"{name.upper()}_H"
    lines = [_described("in", n, value) for n, value in enumerate(plan.inputs)]
    lines += [_described("out", n, value) for n, value in enumerate(plan.outputs)]
    ends = "\n".join(lines)
    sizes = "".join(
        f"#define {name.upper()}_{_room(place, n).upper()}_SIZE {value.buffer.size}\n"
        for place, values in (("in", plan.inputs), ("out", plan.outputs))
        for n, value in enumerate(values)
    )
    return f"""\
/* {comment(title)}, written by pyqref {__version__}. */
#ifndef {guard}
#define {guard}

#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

{sizes}
/* Run the model: 0 if it did, 1 if a pointer is 0.
 *
 * Tensors are contiguous, their last axis runs fastest. An integer q stands for the number
 * scale * (q - zero_point). A number x becomes the integer nearest to x / scale, ties to even, plus
 * the zero point, clamped to 0 and 255.
 *
{ends}
 */
{_signature(plan, name)};

#ifdef __cplusplus
}}
#endif

#endif
"""


def _described(place: str, n: int, value: Value) -> str:
    grid = value.grid
    assert grid is not None
    shape = str(value.shape)
    scale = number(np.float32(grid.scale)).removesuffix("f")
    return f" * {_room(place, n)}: {shape}, scale {scale}, zero point {grid.zero_point}"
