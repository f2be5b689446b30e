"""A pickle machine that builds descriptions and runs nothing.

A pickle is a program for a machine with a stack. Python's own machine imports what the program
names and calls it. This one knows the same instructions, but a name must be allowed, and a call
only becomes a :class:`~.inert.Call`. Everything that a program can make large is bounded by the
bytes it has, or by the limits below.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from ..._typing import Value
from ..errors import FileError
from .inert import Call, Named, Pairs, Reference

__all__ = ["Machine"]

#: Instructions of one pickle: each makes a value of some 100 bytes at most.
_MAX_INSTRUCTIONS = 4_000_000
_MAX_LINE = 2000
_MAX_INTEGER_BYTES = 128
_MAX_MEMO = 2**31
_MARK = object()


class Machine:
    """Runs the next pickle of a file.

    Parameters
    ----------
    file
        Stands at the first byte of the pickle, afterwards behind its last.
    left
        How many bytes the file still has.
    where
        Names the pickle in errors.
    allow
        Called with each name, as ``"module.name"``, before anything is done with it; raises
        FileError where it is not allowed.
    """

    def __init__(self, file: BinaryIO, left: int, where: str, allow: Callable[[str], None]) -> None:
        self.file, self.left, self.where, self.allow = file, left, where, allow
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        #: The persistent ids that were met.
        self.references: list[Reference] = []

    def run(self) -> object:
        """The value of the pickle, inert."""
        for _ in range(_MAX_INSTRUCTIONS):
            code = self.read(1)
            if code == b".":
                value = self.pop()
                if self.stack:
                    self.refuse("has values left over at its end")
                return value
            instruction = _INSTRUCTIONS.get(code)
            if instruction is None:
                refused = _REFUSED.get(code)
                self.refuse(
                    f"has the instruction {refused}, which is refused"
                    if refused
                    else f"has the byte {code!r} where an instruction must be"
                )
            instruction(self)
        return self.refuse(
            f"has more than {_MAX_INSTRUCTIONS} instructions; save long lists of numbers as tensors"
        )

    def refuse(self, what: str) -> NoReturn:
        """Raise FileError."""
        raise FileError(f"{self.where} {what}")

    def read(self, count: int) -> bytes:
        """The next bytes, all of them."""
        if count > self.left:
            self.refuse(f"is truncated: {count} bytes should follow, found {self.left}")
        data = self.file.read(count)
        if len(data) != count:
            self.refuse("is truncated: the file became shorter while it was read")
        self.left -= count
        return data

    def line(self) -> str:
        """The next line, without its end."""
        data = self.file.readline(min(_MAX_LINE, self.left))
        self.left -= len(data)
        if data[-1:] != b"\n":
            self.refuse(f"has a line that does not end within {_MAX_LINE} bytes")
        return self.text(data[:-1])

    def text(self, data: bytes) -> str:
        """UTF-8 text; single surrogates are pickled as well."""
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            self.refuse(f"has a text that is not UTF-8: {error}")

    def number(self, form: str) -> int:
        """The next number, in a form of ``struct``."""
        return struct.unpack(form, self.read(struct.calcsize(form)))[0]

    def push(self, value: object) -> None:
        """Put a value on the stack."""
        self.stack.append(value)

    def pop(self) -> Any:
        """Take the last value from the stack."""
        if not self.stack or self.stack[-1] is _MARK:
            self.refuse("takes a value that is not there")
        return self.stack.pop()

    def popped(self, kind: type[Value], what: str) -> Value:
        """Take the last value, which must be of a type."""
        value = self.pop()
        if type(value) is not kind:
            self.refuse(f"gives {what} as a {type(value).__name__}")
        return value

    def top(self, *kinds: type) -> Any:
        """The last value, which stays and must be of one of these types."""
        if not self.stack or type(self.stack[-1]) not in kinds:
            self.refuse("changes a value that is not there, or of another kind")
        return self.stack[-1]

    def to_mark(self) -> list[Any]:
        """Take everything after the last mark from the stack, and the mark."""
        for place in range(len(self.stack) - 1, -1, -1):
            if self.stack[place] is _MARK:
                values = self.stack[place + 1 :]
                del self.stack[place:]
                return values
        return self.refuse("takes values up to a mark that is not there")

    def integer(self, count: int) -> int:
        """A long integer of this many bytes."""
        if not 0 <= count <= _MAX_INTEGER_BYTES:
            self.refuse(f"has an integer of {count} bytes, at most {_MAX_INTEGER_BYTES} are read")
        return int.from_bytes(self.read(count), "little", signed=True)

    def parsed(self, kind: Callable[[str], Value], text: str) -> Value:
        """A number that is written in digits."""
        try:
            return kind(text)
        except (ValueError, OverflowError):
            self.refuse(f"has {text[:40]!r} where a number must be")

    def put(self, place: int) -> None:
        """Remember the last value."""
        if not 0 <= place < _MAX_MEMO or not self.stack or self.stack[-1] is _MARK:
            self.refuse("stores a value that does not exist")
        self.memo[place] = self.stack[-1]

    def get(self, place: int) -> None:
        """Push what was remembered."""
        if place not in self.memo:
            self.refuse(f"recalls value {place}, which it never made")
        self.push(self.memo[place])

    def name(self, module: str, name: str) -> None:
        """Push a name, if it is allowed."""
        found = Named(module, name)
        self.allow(found.text)
        self.push(found)

    def call(self) -> None:
        """A name with arguments becomes a description."""
        args, called = self.popped(tuple, "arguments"), self.pop()
        if type(called) is not Named:
            self.refuse(f"calls a {type(called).__name__}")
        if called.text in _MAPPINGS:
            self.push(Pairs(called.text))
            self.stack[-1].pairs.extend(self.items_of(args))
        else:
            self.push(Call(called.text, args))

    def items_of(self, args: tuple[Any, ...]) -> list[tuple[Any, Any]]:
        """Return the items for a dictionary: none, a dictionary's, or pairs as of Python 2."""
        given = args[0] if len(args) == 1 else None if args else []
        if type(given) is Pairs:
            return given.pairs
        if type(given) is not list or not all(
            type(each) in (list, tuple) and len(each) == 2 for each in given
        ):
            self.refuse("makes a dictionary of an object that is not a list of pairs")
        return [(key, value) for key, value in given]

    def build(self) -> None:
        """Keep the state of a description."""
        state = self.pop()
        made = self.top(Call, Pairs)
        if made.state is not None:
            self.refuse("sets the state of a value twice")
        made.state = state

    def set_items(self, values: list[Any]) -> None:
        """Add keys and values to a dictionary."""
        if len(values) % 2:
            self.refuse("has a key without a value")
        self.top(Pairs).pairs.extend(zip(values[::2], values[1::2], strict=True))

    def dictionary(self) -> None:
        """A dictionary of what stands after the mark."""
        values = self.to_mark()
        self.push(Pairs("dict"))
        self.set_items(values)

    def quoted(self) -> str:
        """A Python 2 string in quotes, without escapes."""
        text = self.line()
        if len(text) < 2 or text[0] not in "'\"" or text[-1] != text[0] or "\\" in text:
            self.refuse(f"has the string {text[:40]}, which is not a plain quoted string")
        return text[1:-1]

    def refer(self) -> None:
        """A persistent id, which another pickle refers to in the same way."""
        self.references.append(Reference(self.pop()))
        self.push(self.references[-1])

    def stack_name(self) -> None:
        """A name from two strings on the stack."""
        name, module = self.popped(str, "a name"), self.popped(str, "a module")
        self.name(module, name)

    def small_integer(self) -> None:
        """An integer in digits; ``00`` and ``01`` are False and True."""
        text = self.line()
        booleans = {"00": False, "01": True}
        self.push(booleans[text] if text in booleans else self.parsed(int, text))


_MAPPINGS = ("collections.OrderedDict", "collections.Counter", "builtins.dict")


def _tuple(count: int) -> Callable[[Machine], None]:
    def instruction(m: Machine) -> None:
        values = [m.pop() for _ in range(count)]
        m.push(tuple(reversed(values)))

    return instruction


_INSTRUCTIONS: dict[bytes, Callable[[Machine], Any]] = {
    b"\x80": lambda m: m.read(1),  # PROTO
    b"\x95": lambda m: m.read(8),  # FRAME: how many bytes the next part has
    b"(": lambda m: m.push(_MARK),
    b"0": lambda m: m.pop(),
    b"1": lambda m: m.to_mark(),
    b"N": lambda m: m.push(None),
    b"\x88": lambda m: m.push(True),
    b"\x89": lambda m: m.push(False),
    b"I": Machine.small_integer,
    b"L": lambda m: m.push(m.parsed(int, m.line()[:400].rstrip("L"))),
    b"F": lambda m: m.push(m.parsed(float, m.line())),
    b"J": lambda m: m.push(m.number("<i")),
    b"K": lambda m: m.push(m.number("<B")),
    b"M": lambda m: m.push(m.number("<H")),
    b"G": lambda m: m.push(m.number(">d")),
    b"\x8a": lambda m: m.push(m.integer(m.number("<B"))),
    b"\x8b": lambda m: m.push(m.integer(m.number("<i"))),
    b"S": lambda m: m.push(m.quoted()),
    b"U": lambda m: m.push(m.text(m.read(m.number("<B")))),
    b"T": lambda m: m.push(m.text(m.read(m.number("<I")))),
    b"V": lambda m: m.push(m.line()),
    b"\x8c": lambda m: m.push(m.text(m.read(m.number("<B")))),
    b"X": lambda m: m.push(m.text(m.read(m.number("<I")))),
    b"\x8d": lambda m: m.push(m.text(m.read(m.number("<Q")))),
    b"C": lambda m: m.push(m.read(m.number("<B"))),
    b"B": lambda m: m.push(m.read(m.number("<I"))),
    b"\x8e": lambda m: m.push(m.read(m.number("<Q"))),
    b"\x96": lambda m: m.push(Call("builtins.bytearray", (m.read(m.number("<Q")),))),
    b")": lambda m: m.push(()),
    b"\x85": _tuple(1),
    b"\x86": _tuple(2),
    b"\x87": _tuple(3),
    b"t": lambda m: m.push(tuple(m.to_mark())),
    b"]": lambda m: m.push([]),
    b"l": lambda m: m.push(m.to_mark()),
    b"a": lambda m: _append(m, [m.pop()]),
    b"e": lambda m: _append(m, m.to_mark()),
    b"}": lambda m: m.push(Pairs("dict")),
    b"d": Machine.dictionary,
    b"s": lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    b"u": lambda m: m.set_items(m.to_mark()),
    b"\x8f": lambda m: m.push(Call("builtins.set", ([],))),
    b"\x90": lambda m: _add(m, m.to_mark()),
    b"\x91": lambda m: m.push(Call("builtins.frozenset", (m.to_mark(),))),
    b"c": lambda m: m.name(m.line(), m.line()),
    b"\x93": Machine.stack_name,
    b"R": Machine.call,
    b"\x81": Machine.call,  # NEWOBJ
    b"b": Machine.build,
    b"Q": Machine.refer,
    b"p": lambda m: m.put(m.parsed(int, m.line())),
    b"q": lambda m: m.put(m.number("<B")),
    b"r": lambda m: m.put(m.number("<I")),
    b"\x94": lambda m: m.put(len(m.memo)),
    b"g": lambda m: m.get(m.parsed(int, m.line())),
    b"h": lambda m: m.get(m.number("<B")),
    b"j": lambda m: m.get(m.number("<I")),
}
#: Instructions of Python that no file of torch has.
_REFUSED = {
    b"2": "DUP",
    b"P": "PERSID",
    b"i": "INST",
    b"o": "OBJ",
    b"\x82": "EXT1",
    b"\x83": "EXT2",
    b"\x84": "EXT4",
    b"\x92": "NEWOBJ_EX",
    b"\x97": "NEXT_BUFFER",
    b"\x98": "READONLY_BUFFER",
}


def _append(machine: Machine, values: list[Any]) -> None:
    machine.top(list).extend(values)


def _add(machine: Machine, values: list[Any]) -> None:
    made = machine.top(Call)
    if made.name != "builtins.set" or type(made.args[0]) is not list:
        machine.refuse("adds members to an object that is not a set")
    made.args[0].extend(values)
