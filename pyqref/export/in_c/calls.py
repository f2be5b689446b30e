"""Each step of a plan as a call in C, and the constants that it needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..plan import Plan, Step, Value
from ..problems import Problem, Unsupported
from .constants import Fields, Rules, fits_32_bits
from .literals import KEYWORDS, array_text, identifier, number, typed

__all__ = ["Calls"]

#: One more than the elements that an index counts.
_LARGEST = 2**31


class Calls:
    """Writes constants and calls, step by step.

    Parameters
    ----------
    plan
        With all buffers in their places.
    integer
        Whether every number is an integer.
    reserved
        Names that constants cannot have.

    Attributes
    ----------
    constants, lines : list of str
        What stands before the function, and in it.
    used : list of str
        The names of the functions that are called.
    size : int
        Bytes of the constants.
    problems : list of Problem
        Steps that cannot be written.
    """

    def __init__(self, plan: Plan, integer: bool, reserved: set[str]) -> None:
        self.plan, self.rules = plan, Rules(plan, integer)
        self.taken = set(KEYWORDS) | reserved
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.used: list[str] = []
        self.problems: list[Problem] = []
        self.size = 0
        self._prefix = ""

    def write(self, step: Step) -> None:
        """Write the call of a step."""
        constants, size = len(self.constants), self.size
        self._prefix = identifier(step.path, set())
        try:
            if max(each.buffer.size for each in (step.out, *step.inputs)) >= _LARGEST:
                raise Unsupported("one of its tensors has 2 GiB or more")
            calls = _CALLS[step.kind](self, step)
        except Unsupported as error:
            del self.constants[constants:]
            self.size = size
            self.problems.append(Problem(step.path, step.title, str(error)))
            return
        if len(self.constants) > constants:
            self.constants.insert(constants, f"/* {comment(step.path)} */")
        labels = self.rules.labels(step)
        shapes = " and ".join(str(each.shape) for each in step.inputs)
        self.lines.append(f"    /* {comment(step.path)}: {comment(step.title)}")
        self.lines.append(f"     * {shapes} to {step.out.shape}")
        if labels:
            self.lines.append(f"     * {', '.join(labels)}")
        self.lines[-1] += " */"
        self.lines += calls
        self.used.append(step.kind)

    # what calls are made of

    def array(self, name: str, array: Any) -> str:
        """Add an array; return its name, or 0 for None."""
        if array is None:
            return "0"
        made = np.ascontiguousarray(array)
        title = identifier(f"{self._prefix}_{name}", self.taken)
        text = array_text(made)
        self.constants.append(f"static const {typed(made)} {title}[{made.size}] = {{\n{text}\n}};")
        self.size += made.nbytes
        return title

    def structure(self, kind: str, fields: Fields) -> str:
        """Add a structure, and the arrays in it; return its address."""
        parts = []
        for field, value in fields.items():
            if isinstance(value, np.ndarray):
                parts.append(f".{field} = {self.array(field, value)}")
            elif isinstance(value, tuple | list):
                parts.append(f".{field} = {{{', '.join(map(number, value))}}}")
            else:
                parts.append(f".{field} = {'0' if value is None else number(value)}")
        title = identifier(f"{self._prefix}_{kind.removesuffix('_rule')}", self.taken)
        self.constants.append(f"static const {kind} {title} = {{{joined(parts)}}};")
        return f"&{title}"


def comment(text: str) -> str:
    """Text that cannot end a comment.

    Examples
    --------
    >>> comment("a*/b")
    'a* /b'
    """
    return text.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/").replace("??", "? ?")


def joined(parts: list[str]) -> str:
    """Parts of a list in lines of at most 100 characters.

    Examples
    --------
    >>> joined([".a = 1", ".b = 2"])
    '.a = 1, .b = 2'
    """
    text = ", ".join(parts)
    if len(text) <= 50:
        return text
    lines = [""]
    for each in parts:
        if lines[-1] and len(lines[-1]) + len(each) > 92:
            lines.append("")
        lines[-1] += f"{each}, "
    body = "\n".join(f"    {line.rstrip()}" for line in lines)
    return f"\n{body.removesuffix(',')}\n"


def room(value: Value) -> str:
    """Where a value is, as C writes it."""
    buffer = value.buffer
    if buffer.place == "memory":
        return f"memory + {buffer.offset}"
    return buffer.place if buffer.offset == 0 else f"{buffer.place}_{buffer.offset}"


def _call(name: str, *arguments: Any) -> list[str]:
    """A call, in lines of at most 100 characters."""
    texts = [each if isinstance(each, str) else str(int(each)) for each in arguments]
    lines, start = [f"    {name}("], " " * (len(name) + 5)
    for n, each in enumerate(texts):
        part = f"{each}, " if n < len(texts) - 1 else f"{each});"
        if len(lines[-1]) + len(part.rstrip()) > 100:
            lines.append(start)
        lines[-1] += part
    return [line.rstrip() for line in lines]


def _pair(values: Any, fill: int) -> tuple[int, int]:
    """Numbers of height and width; a line has the height one."""
    found = tuple(int(each) for each in values)
    return (fill, *found) if len(found) == 1 else found  # type: ignore[return-value]


#: What pairs are along an axis that there is not.
_GEOMETRY = {"kernel": 1, "stride": 1, "padding": 0, "dilation": 1}


def _windows(
    write: Calls, images: int, channels: int, outputs: int, ins: Any, outs: Any, **how: Any
) -> str:
    height, width = _pair(ins, 1)
    out_height, out_width = _pair(outs, 1)
    fields: Fields = {"images": images, "channels": channels, "height": height, "width": width}
    fields |= {"outputs": outputs, "out_height": out_height, "out_width": out_width}
    fields["groups"] = how.get("groups", 1)
    for name, fill in _GEOMETRY.items():
        fields[name] = _pair(how.get(name, (fill, fill)), fill)
    return write.structure("windows", fields)


def _pool(write: Calls, step: Step) -> str:
    """How the windows of a pool lie on its input."""
    data, x = step.data, step.inputs[0].shape
    ins, outs = data["ins"], data["outs"]
    planes = math.prod(x) // math.prod(ins)
    how = {name: data[name] for name in _GEOMETRY if name in data}
    if step.kind.endswith("_3d"):
        fields: Fields = {"count": planes, "size": ins, "out": outs}
        fields |= {name: how.get(name, (fill,) * 3) for name, fill in _GEOMETRY.items()}
        return write.structure("boxes", fields)
    images = x[0] if len(x) == len(ins) + 2 else 1
    return _windows(write, images, planes // images, planes // images, ins, outs, **how)


def _weight(write: Calls, step: Step, rows: np.ndarray) -> tuple[str, str, str]:
    """The zero point of the input, the weight, and its zero points."""
    packed, grid = step.data["packed"], step.inputs[0].grid
    if grid is None:
        raise Unsupported("its input is not quantized")
    outputs = len(rows)
    if len(packed.weight_zero_points) not in (1, outputs):
        raise Unsupported(
            "its weight has one scale for each channel of a group, not for each output"
        )
    zeros = np.broadcast_to(np.asarray(packed.weight_zero_points, np.int64), (outputs,))
    fields = write.rules.scaling(step)
    fits_32_bits(rows.reshape(outputs, -1) - zeros[:, None], grid.zero_point, fields["bias"])
    weight = write.array("weight", np.asarray(packed._integers(), np.int8))
    zero = write.array("weight_zero", zeros.astype(np.int8) if zeros.any() else None)
    return weight, zero, write.structure("scaling", fields)


def _linear(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    weight, zero, scaling = _weight(write, step, step.data["packed"]._integers())
    sizes = math.prod(x.shape[:-1]), x.shape[-1], y.shape[-1]
    assert x.grid is not None
    return _call("linear", room(x), room(y), *sizes, x.grid.zero_point, weight, zero, scaling)


def _convolution(write: Calls, step: Step) -> list[str]:
    x, y, packed = step.inputs[0], step.out, step.data["packed"]
    rows = np.asarray(packed._integers())
    if packed.transposed:  # (channels, outputs / groups, ...) to one row for each output
        grouped = rows.reshape(packed.groups, -1, *rows.shape[1:])
        rows = np.moveaxis(grouped, 1, 2).reshape(y.shape[1], -1)
    weight, zero, scaling = _weight(write, step, rows)
    of = _windows(
        write,
        *(x.shape[0], x.shape[1], y.shape[1], x.shape[2:], y.shape[2:]),
        groups=packed.groups,
        kernel=packed.shape[2:],
        stride=packed.stride,
        padding=step.data["padding"],
        dilation=packed.dilation,
    )
    assert x.grid is not None
    return _call(step.kind, room(x), room(y), of, x.grid.zero_point, weight, zero, scaling)


def _max_pool(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    return _call(step.kind, room(x), room(y), _pool(write, step))


def _average_pool(write: Calls, step: Step) -> list[str]:
    x, y, data = step.inputs[0], step.out, step.data
    of, rule = _pool(write, step), write.structure("mean_rule", write.rules.mean_rule(step))
    arguments = of, data["whole_padding"], data["divisor"], rule
    return _call(step.kind, room(x), room(y), *arguments)


def _adaptive_average(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    of, rule = _pool(write, step), write.structure("mean_rule", write.rules.mean_rule(step))
    return _call(step.kind, room(x), room(y), of, rule)


def _steps_of(shape: tuple[int, ...], out: tuple[int, ...]) -> list[int]:
    """How far a tensor goes along each of four axes of a result that it broadcasts to."""
    full = (1,) * (len(out) - len(shape)) + tuple(shape)
    found = [0 if full[n] == 1 else math.prod(full[n + 1 :]) for n in range(len(full))]
    return [0] * (4 - len(found)) + found


def _of_two(write: Calls, step: Step) -> list[str]:
    (a, b), y = step.inputs, step.out
    out, shapes = y.shape, (a.shape, b.shape)
    if all(each == out for each in shapes):
        out, shapes = (math.prod(out),), ((math.prod(out),),) * 2
    if len(out) > 4:
        raise Unsupported("its arguments broadcast over more than four axes")
    fields: Fields = {"size": [1] * (4 - len(out)) + list(out)}
    fields |= {"a_step": _steps_of(shapes[0], out), "b_step": _steps_of(shapes[1], out)}
    of = write.structure("broadcast", fields)
    if step.kind == "add":
        rule = write.structure("sum_rule", write.rules.sum_rule(step))
    else:
        rule = write.structure("product_rule", write.rules.product_rule(step))
    return _call(step.kind, room(a), room(b), room(y), of, rule)


def _join(write: Calls, step: Step) -> list[str]:
    y, axis, lines, at = step.out, step.data["axis"], list[str](), 0
    distance = math.prod(y.shape[axis:])
    for n, (x, table) in enumerate(zip(step.inputs, step.data["tables"], strict=True)):
        length = math.prod(x.shape[axis:])
        if length == 0:
            continue
        to = f"{room(y)} + {at}" if at else room(y)
        name = write.array(f"table_{n}", table)
        sizes = math.prod(x.shape[:axis]), length, distance
        lines += _call("join", room(x), to, *sizes, name)
        at += length
    return lines


def _relu(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    assert y.grid is not None
    return _call("relu", room(x), room(y), y.buffer.size, y.grid.zero_point)


def _table(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    step.kind = "look_up"
    return _call(
        "look_up", room(x), room(y), y.buffer.size, write.array("table", step.data["table"])
    )


def _softmax(write: Calls, step: Step) -> list[str]:
    x, y, dim = step.inputs[0], step.out, step.data["dim"]
    sizes = math.prod(x.shape[:dim]), x.shape[dim], math.prod(x.shape[dim + 1 :])
    rule = write.structure("softmax_rule", write.rules.softmax_rule(step))
    return _call("softmax", room(x), room(y), *sizes, rule)


def _move(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    axes = [np.zeros(1, np.int32)] * (4 - len(step.data["axes"])) + step.data["axes"]
    lengths = [len(each) for each in axes]
    names = [write.array(f"at_{n}", each.astype(np.int32)) for n, each in enumerate(axes)]
    size = identifier(f"{write._prefix}_size", write.taken)
    at = identifier(f"{write._prefix}_at", write.taken)
    write.constants.append(f"static const int {size}[4] = {{{', '.join(map(str, lengths))}}};")
    write.constants.append(f"static const int32_t *const {at}[4] = {{{', '.join(names)}}};")
    return _call("move", room(x), room(y), size, at)


def _copy(write: Calls, step: Step) -> list[str]:
    x, y = step.inputs[0], step.out
    return _call("copy", room(x), room(y), y.buffer.size)


_CALLS: dict[str, Callable[[Calls, Step], list[str]]] = {
    "linear": _linear,
    "convolution": _convolution,
    "transposed": _convolution,
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "adaptive_average": _adaptive_average,
    "max_pool_3d": _max_pool,
    "average_pool_3d": _average_pool,
    "adaptive_average_3d": _adaptive_average,
    "add": _of_two,
    "mul": _of_two,
    "join": _join,
    "relu": _relu,
    "table": _table,
    "softmax": _softmax,
    "move": _move,
    "copy": _copy,
}
