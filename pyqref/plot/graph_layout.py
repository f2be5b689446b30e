"""Places of the boxes of a graph: from Graphviz where it is installed, else in layers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyqref.fx.drawing import graphviz_text
from pyqref.fx.picture import Picture
from pyqref.fx.styles import paper

__all__ = ["Layout", "Place", "layout"]

Point = tuple[float, float]


@dataclass(frozen=True)
class Place:
    """Centre and size of a box, in points; y grows upward."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """A laid-out picture.

    Attributes
    ----------
    places
        Of the boxes, by name.
    curves
        For each arrow, in the order of the picture, the points of cubic Bezier curves one after
        the other: 4, 7, 10, ... of them.
    labels
        For each arrow the middle of its text; None if it has none.
    size
        Width and height of the whole.
    """

    places: Mapping[str, Place]
    curves: tuple[tuple[Point, ...], ...]
    labels: tuple[Point | None, ...]
    size: Point


def layout(shown: Picture, sizes: Mapping[str, Point], label_sizes: list[Point]) -> Layout:
    """Lay out a picture.

    Parameters
    ----------
    shown
        The picture.
    sizes
        Width and height that the text of each box needs.
    label_sizes
        The same for the text at each arrow.
    """
    program = shutil.which("dot")
    return _layers(shown, sizes, label_sizes) if program is None else _graphviz(program, shown)


def _graphviz(program: str, shown: Picture) -> Layout:
    text = graphviz_text(shown, paper("light"), legend=False)
    made = subprocess.run(
        [program, "-Tjson0"], input=text.encode(), capture_output=True, check=True
    )
    found = json.loads(made.stdout)
    places = {}
    for each in found["objects"]:
        x, y = _numbers(each["pos"])
        places[each["name"]] = Place(x, y, 72 * float(each["width"]), 72 * float(each["height"]))
    names = {each["_gvid"]: each["name"] for each in found["objects"]}
    by_ends = {(names[each["tail"]], names[each["head"]]): each for each in found.get("edges", [])}
    edges = [by_ends[arrow.source, arrow.target] for arrow in shown.arrows]
    _, _, width, height = _numbers(found["bb"])
    return Layout(
        places,
        tuple(_spline(each["pos"]) for each in edges),
        tuple(_numbers(each["lp"]) if "lp" in each else None for each in edges),  # type: ignore[misc]
        (width, height),
    )


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _spline(text: str) -> tuple[Point, ...]:
    """The points of ``e,x,y x,y x,y ...``, the end point last."""
    end, *points = text.split(" ")
    found: list[Any] = [_numbers(each) for each in points]
    last = _numbers(end.removeprefix("e,"))
    # A short straight piece under the arrow's head.
    start = found[-1]
    thirds = [tuple(a + (b - a) * k / 3 for a, b in zip(start, last, strict=True)) for k in (1, 2)]
    return (*found, *thirds, last)


GAP = (24.0, 44.0)
"""Between boxes side by side, and between layers."""


def _layers(shown: Picture, sizes: Mapping[str, Point], label_sizes: list[Point]) -> Layout:
    """Each box one layer below the lowest of those before it, and as near to them as it can."""
    sources: dict[str, list[str]] = {box.name: [] for box in shown.boxes}
    for arrow in shown.arrows:
        sources[arrow.target].append(arrow.source)
    depth: dict[str, int] = {}
    for box in shown.boxes:  # a graph's nodes come after what they use
        depth[box.name] = 1 + max((depth[each] for each in sources[box.name]), default=-1)
    rows: list[list[str]] = [[] for _ in range(1 + max(depth.values(), default=0))]
    for name, level in depth.items():
        rows[level].append(name)

    places: dict[str, Place] = {}
    y = 0.0
    for names in rows:
        above = {
            name: sum(places[each].x for each in sources[name]) / max(1, len(sources[name]))
            for name in names
        }
        height = max(sizes[name][1] for name in names)
        right = float("-inf")
        row: dict[str, Place] = {}
        for name in sorted(names, key=lambda each: above[each]):
            width = sizes[name][0]
            x = max(above[name], right + GAP[0] + width / 2)
            right = x + width / 2
            row[name] = Place(x, y - height / 2, width, sizes[name][1])
        shift = sum(above[name] - row[name].x for name in names) / len(names)
        for name, place in row.items():
            places[name] = Place(place.x + shift, place.y, place.width, place.height)
        y -= height + GAP[1]
    # What passes by a layer goes around its boxes.
    edges = [max(places[name].x + places[name].width / 2 for name in names) for names in rows]
    around = []
    for arrow in shown.arrows:
        between = edges[depth[arrow.source] + 1 : depth[arrow.target]]
        around.append(max(between) + GAP[0] if between else None)
    return _framed(shown, places, label_sizes, around)


def _crossed(curve: Sequence[Point]) -> list[float]:
    """Return the horizontal positions of a cubic at a few points."""
    parts = [(0.25 * k, 1 - 0.25 * k) for k in range(5)]
    factors = [(u**3, 3 * t * u**2, 3 * t**2 * u, t**3) for t, u in parts]
    return [sum(f * p[0] for f, p in zip(each, curve, strict=True)) for each in factors]


def _framed(
    shown: Picture,
    places: dict[str, Place],
    label_sizes: list[Point],
    around: list[float | None],
) -> Layout:
    """Arrows, straight or by way of an ``x``, and everything moved so that it begins at 0."""
    curves, labels = [], []
    for arrow, (width, _), side in zip(shown.arrows, label_sizes, around, strict=True):
        a, b = places[arrow.source], places[arrow.target]
        off = 0.0 if side is None else 0.35  # of a width, away from the straight arrows
        start = (a.x + off * a.width, a.y - a.height / 2)
        end = (b.x + off * b.width, b.y + b.height / 2)
        x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        # Half-way a cubic is at a quarter of its ends and three quarters of its inner points.
        bend = (0.0 if side is None else max(0.0, side - x)) * 4 / 3
        inner = [(s + (e - s) / 3, s + 2 * (e - s) / 3) for s, e in zip(start, end, strict=True)]
        first, second = ((inner[0][k] + bend, inner[1][k]) for k in (0, 1))
        curves.append((start, first, second, end))
        middle = (x + 0.75 * bend + width / 2 + 6, y)
        labels.append(middle if arrow.lines else None)
    spans = [(each.x - each.width / 2, each.x + each.width / 2) for each in places.values()]
    spans += [
        (at[0] - width / 2, at[0] + width / 2)
        for at, (width, _) in zip(labels, label_sizes, strict=True)
        if at is not None
    ]
    spans += [(x, x) for curve in curves for x in _crossed(curve)]
    left, right = min(low for low, _ in spans), max(high for _, high in spans)
    bottom = min(each.y - each.height / 2 for each in places.values())

    def moved(point: Point) -> Point:
        return point[0] - left, point[1] - bottom

    return Layout(
        {n: Place(*moved((p.x, p.y)), p.width, p.height) for n, p in places.items()},
        tuple(tuple(map(moved, curve)) for curve in curves),
        tuple(None if at is None else moved(at) for at in labels),
        (right - left, -bottom),
    )
