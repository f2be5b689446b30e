"""The calls: each follows from a seed and a number alone, and is Python text."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import values
from .catalogue import Target
from .values import EDGES, GRIDS, KINDS, LAYOUTS, TILES, Recipe

#: A tensor of a call has at most so many elements: the reference kernel is slow.
MOST = (600, 600, 600, 600, 8000)
_FILLS = ("normal", "normal", "normal", "hard", "indices", "zeros")
_FLOATING = ("float32", "float32", "float32", "float64", "float16")
_TENSOR = re.compile(r"pyqref\.tensor\(|codes\(|T\(")
_WORDS = ("'none'", "'mean'", "'sum'", "'floor'", "'trunc'", "'constant'", "'reflect'", "'zeros'")
_WORDS += ("'replicate'", "'circular'", "'nearest'", "'bilinear'", "'linear'", "'tanh'", "'max'")
#: Sizes that these answer after long and honest work; larger ones they must refuse.
_LARGE = frozenset({"127", "128", "255", "256", "300", "2.0**24", "100", "63", "64", "65"})
_LARGE_WORK = re.compile(r"3d|nn\..*\.[A-Z]\w+$|pool|upsample|interpolate|randperm|_indices|chunk")


@dataclass
class Case:
    """A call: arguments by position and by name, as text."""

    target: Target
    args: list[str]
    kwargs: dict[str, str]
    number: int = 0

    @property
    def line(self) -> str:
        """The call in one line."""
        head, args = self.target.text, list(self.args)
        if self.target.style == "method":
            head, args = f"({args[0]}){head}", args[1:]
        if self.target.style == "state":
            args = ["{" + ", ".join(f"{key!r}: {e}" for key, e in self.kwargs.items()) + "}"]
        else:
            args += [f"{key}={each}" for key, each in self.kwargs.items()]
        return f"{head}({', '.join(args)})"


def _facts(text: str) -> tuple[Any, ...] | None:
    """Shape and kind of the tensor that a text makes, or None."""
    return text.parts[:2] if type(text) is Recipe else _facts_of_text(text)


@lru_cache(50_000)
def _facts_of_text(text: str) -> tuple[Any, ...] | None:
    if not _TENSOR.match(text):
        return None
    if text.startswith("T("):
        parsed = ast.parse(text, mode="eval").body
        assert isinstance(parsed, ast.Call)
        found = [ast.literal_eval(each) for each in parsed.args[:2]]
        return found[0], [*found, "float32"][1]
    tensor = eval(text, vars(values))
    kind = str(tensor.dtype).removeprefix("pyqref.")
    if tensor.is_quantized and tensor.qscheme().is_per_channel:
        kind = "channels"
    return tuple(tensor.shape), kind


def _tensors(text: str) -> list[str]:
    """The tensors that a text names: itself, or the items of a list."""
    return [text] if type(text) is Recipe else _tensors_of_text(text)


@lru_cache(50_000)
def _tensors_of_text(text: str) -> list[str]:
    if _TENSOR.match(text):
        return [text]
    if text[:1] not in "[(" or not _TENSOR.search(text):
        return []
    tree = ast.parse(text, mode="eval").body
    items = tree.elts if isinstance(tree, ast.List | ast.Tuple) else []
    parts = [ast.get_source_segment(text, each) or "" for each in items]
    return [each for each in parts if _TENSOR.match(each)]


def case(seed: int, number: int, targets: Sequence[Target]) -> Case:
    """The call of a number."""
    rng = random.Random(f"{seed}:{number}")
    target = rng.choice(targets)
    args, kwargs = rng.choice(target.calls)
    made = Case(target, list(args), dict(kwargs), number)
    if rng.random() < 0.6:
        _resize(rng, made)
    if target.extra and rng.random() < 0.4:
        _one_more(rng, made)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 3))):
        _mutate(rng, made)
    return made


def _resize(rng: random.Random, made: Case) -> None:
    """Other sizes, kinds, layouts and grids, alike for all tensors: most calls stay valid."""
    places: list[Any] = [*range(len(made.args)), *made.kwargs]
    found = [each for place in places for each in _tensors(_at(made, place))]
    shapes = [_facts(each)[0] for each in found]  # type: ignore[index]
    sizes = sorted({size for shape in shapes for size in shape})
    new = {size: rng.choice((size, size, *TILES)) for size in sizes}
    most = rng.choice(MOST)
    while new and max((_count(shape, new) for shape in shapes), default=0) > most:
        new[max(new, key=lambda size: new[size])] = rng.choice((1, 2, 3))
    floating = rng.choice(("float32", "float32", "float32", "float64", *KINDS[-4:], *KINDS[-4:]))
    fill, mixed = rng.choice(_FILLS), rng.random() < 0.2
    for place in places:
        text = _at(made, place)
        for each in _tensors(text):
            shape, kind = _facts(each)  # type: ignore[misc]
            shape = tuple(new[size] for size in shape)
            if kind in ("float32", "float64"):
                kind = rng.choice(KINDS[-4:]) if mixed else floating
            elif kind in ("int64", "int32"):
                fill = "indices"
            kind = kind if kind in KINDS else "quint8"
            new_text = _recipe(rng, shape, kind, fill)
            text = new_text if each == text else text.replace(each, new_text, 1)
        _put(made, place, text)


def _count(shape: Sequence[int], new: dict[int, int]) -> int:
    count = 1
    for size in shape:
        count *= new[size]
    return count


def _recipe(rng: random.Random, shape: tuple[int, ...], kind: str, fill: str) -> str:
    grid = (rng.choice(GRIDS),) if kind in KINDS[-4:] else ()
    return Recipe.of(shape, kind, fill, rng.randrange(1000), rng.choice(LAYOUTS), *grid)


def _at(made: Case, place: Any) -> str:
    return made.args[place] if isinstance(place, int) else made.kwargs[place]


def _put(made: Case, place: Any, text: str) -> None:
    if isinstance(place, int):
        made.args[place] = text
    else:
        made.kwargs[place] = text


def _one_more(rng: random.Random, made: Case) -> None:
    """A parameter that the valid call leaves at its default."""
    free = [each for each in made.target.extra if each not in made.kwargs]
    free = free[max(len(made.args) - 1, 0) :]
    if free:
        name = rng.choice(free)
        made.kwargs[name] = _other(rng, made.target.extra[name])


def _mutate(rng: random.Random, made: Case) -> None:
    """Another value for one argument."""
    start = 1 if made.target.style == "method" else 0
    places: list[Any] = [*range(start, len(made.args)), *made.kwargs]
    if start and (not places or rng.random() < 0.3):
        facts = _facts(made.args[0])
        if facts is not None:
            made.args[0] = _other_tensor(rng, *facts)
        return
    if places:
        place = rng.choice(places)
        text = _other(rng, _at(made, place))
        honest = text in _LARGE and _LARGE_WORK.search(made.target.name)
        _put(made, place, "17" if honest and place != "num_layers" else text)


def _other(rng: random.Random, text: str) -> str:
    """Text of a value that is like this one, or a hostile one."""
    if rng.random() < 0.35:
        return rng.choice(EDGES)
    facts = _facts(text)
    if facts is not None:
        return _other_tensor(rng, *facts)
    parts = _tensors(text)
    if parts:
        each = rng.choice(parts)
        return text.replace(each, _other(rng, each), 1)
    if text in ("True", "False"):
        return "False" if text == "True" else "True"
    if text[:1] == "'":
        return rng.choice(_WORDS)
    if text.startswith("pyqref."):
        return "pyqref." + rng.choice((*KINDS[:-1], "quint4x2", "complex64", "strided"))
    if re.fullmatch(r"[\[(].*[\])]", text):
        return re.sub(r"-?\b\d+\b", lambda m: _number(rng) if rng.random() < 0.5 else m[0], text)
    return _number(rng) if rng.random() < 0.7 else rng.choice(EDGES)


def _number(rng: random.Random) -> str:
    return str(rng.choice((*TILES, -1, -2, -3, -17, 6, 10, 100)))


def _other_tensor(rng: random.Random, shape: tuple[int, ...], kind: str) -> str:
    """Draw a tensor of the same shape and kind, or of others."""
    choice = rng.random()
    if choice > 0.8:
        shape = tuple(rng.choice(TILES[:12]) for _ in range(rng.randrange(5)))
    elif choice > 0.6 and shape:
        changed = list(shape)
        changed[rng.randrange(len(shape))] = rng.choice(TILES)
        shape = tuple(changed)
    while _count(shape, {size: size for size in shape}) > MOST[-1]:
        shape = tuple(min(size, 5) for size in shape)
    if kind not in KINDS or rng.random() < 0.4:
        kind = rng.choice(KINDS)
    return _recipe(rng, shape, kind, rng.choice(_FILLS))
