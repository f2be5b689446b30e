"""Where the boxes of a graph stand: by Graphviz where it is installed, else in layers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
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
    return _framed(shown, places, label_sizes, depth)


BEND = 36.0
"""Radius of the corners of an arrow that passes by other boxes."""

CLEAR = 6.0
"""Between an arrow and its text, and between a row and an arrow that leaves it sideways."""


def _passing(a: Place, b: Place, lane: float, reach: tuple[float, float]) -> tuple[Point, ...]:
    """The way from a box down a lane at its right, and back to a box further below.

    ``reach`` are the right ends of both rows: a box that is not the last of its row is left below
    it, or entered above it, so that the arrow runs between the rows.
    """
    start, end = (a.x + a.width / 2, a.y), (b.x + b.width / 2, b.y)
    leave, enter = start, end
    if start[0] < reach[0]:
        start = (a.x + 0.35 * a.width, a.y - a.height / 2)
        leave = (start[0], start[1] - CLEAR)
    if end[0] < reach[1]:
        end = (b.x + 0.35 * b.width, b.y + b.height / 2)
        enter = (end[0], end[1] + CLEAR)
    bend = min(BEND, (leave[1] - enter[1]) / 2)
    upper, lower = (lane, leave[1] - bend), (lane, enter[1] + bend)
    third = (upper[1] - lower[1]) / 3
    return (
        start,
        (lane - (lane - leave[0]) / 4, leave[1]),
        (lane, leave[1] - bend / 4),
        upper,
        (lane, upper[1] - third),
        (lane, lower[1] + third),
        lower,
        (lane, enter[1] + bend / 4),
        (lane - (lane - enter[0]) / 4, enter[1]),
        end,
    )


def _beside(start: Point, end: Point, size: Point) -> Point:
    """The middle of the text of a straight arrow, on the side to which the arrow leans."""
    width, height = size
    lean = (end[0] - start[0]) / max(start[1] - end[1], 1.0)
    off = width / 2 + CLEAR + abs(lean) * height / 2
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    return (x - off if lean < 0 else x + off), y


def _framed(
    shown: Picture,
    places: dict[str, Place],
    label_sizes: list[Point],
    depth: Mapping[str, int],
) -> Layout:
    """Arrows, straight or down a lane beside boxes and texts, moved so that all begins at 0."""
    curves: dict[int, tuple[Point, ...]] = {}
    labels: dict[int, Point] = {}
    rows: list[list[float]] = [[] for _ in range(1 + max(depth.values(), default=0))]
    for name, place in places.items():
        rows[depth[name]].append(place.x + place.width / 2)
    boxes = [max(row) for row in rows]
    passing = []
    for index, arrow in enumerate(shown.arrows):
        a, b = places[arrow.source], places[arrow.target]
        level = depth[arrow.source]
        if depth[arrow.target] - level > 1:
            passing.append((depth[arrow.target] - level, index))
            continue
        start, end = (a.x, a.y - a.height / 2), (b.x, b.y + b.height / 2)
        thirds = [
            tuple(s + (e - s) * k / 3 for s, e in zip(start, end, strict=True)) for k in (1, 2)
        ]
        curves[index] = (start, *thirds, end)  # type: ignore[arg-type]
        if arrow.lines:
            labels[index] = _beside(start, end, label_sizes[index])
            rows[level].append(labels[index][0] + label_sizes[index][0] / 2)
    # The shortest lie innermost; each keeps the rows that it passes free to the right of it.
    for _, index in sorted(passing):
        arrow, (width, _) = shown.arrows[index], label_sizes[index]
        first, last = depth[arrow.source], depth[arrow.target]
        passed = rows[first : last + 1]
        lane = max(max(row) for row in passed) + GAP[0]
        reach = boxes[first], boxes[last]
        curves[index] = _passing(places[arrow.source], places[arrow.target], lane, reach)
        middle = (curves[index][3][1] + curves[index][6][1]) / 2
        if arrow.lines:
            labels[index] = (lane + width / 2 + CLEAR, middle)
        for row in passed:
            row.append(lane + (width + CLEAR if arrow.lines else 0.0))
    spans = [(each.x - each.width / 2, each.x + each.width / 2) for each in places.values()]
    for index, at in labels.items():
        spans.append((at[0] - label_sizes[index][0] / 2, at[0] + label_sizes[index][0] / 2))
    spans += [(x, x) for curve in curves.values() for x, _ in curve]
    left, right = min(low for low, _ in spans), max(high for _, high in spans)
    bottom = min(each.y - each.height / 2 for each in places.values())

    def moved(point: Point) -> Point:
        return point[0] - left, point[1] - bottom

    count = range(len(shown.arrows))
    return Layout(
        {n: Place(*moved((p.x, p.y)), p.width, p.height) for n, p in places.items()},
        tuple(tuple(map(moved, curves[index])) for index in count),
        tuple(moved(labels[index]) if index in labels else None for index in count),
        (right - left, -bottom),
    )
