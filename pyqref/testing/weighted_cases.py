"""Cases of linear layers and convolutions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .operation import Arguments, Recipe

__all__ = ["GEOMETRIES", "Geometry", "weighted_recipes"]


class Geometry(NamedTuple):
    """Shapes of a layer.

    Attributes
    ----------
    x, weight
        Shapes of input and weight.
    stride, padding, dilation, output_padding
        A number for each spatial axis; None where the layer has no such thing.
    groups
        Of channels.
    """

    x: tuple[int, ...]
    weight: tuple[int, ...]
    stride: tuple[int, ...] | None = None
    padding: tuple[int, ...] | None = None
    dilation: tuple[int, ...] | None = None
    groups: int = 1
    output_padding: tuple[int, ...] | None = None

    @property
    def outputs(self) -> int:
        """Output channels."""
        if self.output_padding is None:
            return self.weight[0]
        return self.weight[1] * self.groups

    @property
    def depth(self) -> int:
        """Products in a sum, at most."""
        if self.output_padding is None:
            return int(np.prod(self.weight[1:]))
        return self.weight[0] // self.groups * int(np.prod(self.weight[2:]))

    def places(self) -> Arguments:
        """The arguments that say where windows lie."""
        found = {name: getattr(self, name) for name in ("stride", "padding", "dilation")}
        found = {**found, "output_padding": self.output_padding}
        found = {name: value for name, value in found.items() if value is not None}
        return {**found, "groups": self.groups} if found else {}

    def one(self) -> Geometry:
        """One of everything."""
        if self.stride is None:
            return Geometry((1, 1), (1, 1))
        ones, zeros = (1,) * len(self.stride), (0,) * len(self.stride)
        extra = None if self.output_padding is None else zeros
        return Geometry((1, 1, *ones), (1, 1, *ones), ones, zeros, ones, 1, extra)


#: By operation. Sizes are odd, no two axes alike, and padding, stride and dilation differ.
GEOMETRIES: dict[str, Geometry] = {
    "linear": Geometry((9, 7), (5, 7)),
    "conv1d": Geometry((3, 3, 11), (5, 3, 3), (2,), (1,), (1,)),
    "conv2d": Geometry((1, 3, 7, 9), (5, 3, 3, 2), (2, 1), (1, 1), (1, 2)),
    "conv3d": Geometry((1, 2, 5, 3, 3), (3, 2, 2, 3, 1), (1, 2, 1), (1, 1, 0), (2, 1, 1)),
    "depthwise_conv2d": Geometry((1, 7, 6, 5), (7, 1, 3, 3), (1, 1), (1, 1), (1, 1), 7),
    "grouped_conv2d": Geometry((1, 6, 5, 7), (9, 2, 3, 2), (1, 2), (1, 0), (1, 1), 3),
    "conv_transpose1d": Geometry((3, 3, 5), (3, 5, 3), (2,), (1,), (1,), 1, (1,)),
    "conv_transpose2d": Geometry((1, 4, 3, 5), (4, 3, 3, 2), (2, 1), (1, 0), (1, 2), 2, (1, 0)),
    "conv_transpose3d": Geometry(
        (1, 2, 3, 2, 3), (2, 3, 2, 2, 1), (1, 2, 1), (0, 1, 0), (1, 1, 1), 1, (0, 1, 0)
    ),
}
#: Longer sums than float32 holds exactly.
LONG = Geometry((3, 701), (5, 701))


def weighted_recipes(name: str) -> Iterator[Recipe]:
    """The cases of one operation, with activations in [0, 255]."""
    geometry = GEOMETRIES[name]
    padded = ("padding",) if any(geometry.padding or ()) else ()
    rng = np.random.default_rng(0)
    n = geometry.outputs
    full, small = _layer(rng, geometry), _layer(rng, geometry, 3)
    fine = {"x_scale": 0.021, "weight_scale": 0.013}
    # Of the sums: their typical size, in units of the accumulator.
    spread = 74.0 * 74.0 * np.sqrt(geometry.depth)
    coarse = {**fine, "output_scale": fine["x_scale"] * fine["weight_scale"] * spread / 60}
    bias = (rng.standard_normal(n) * 0.021 * 0.013 * spread / 2).astype(np.float32)
    yield Recipe("ordinary", ("bias", *padded), {**full, **coarse, "bias": bias})
    # M = 1/2: every odd sum is a tie.
    halves = {"x_scale": 0.5, "weight_scale": 0.25, "output_scale": 0.25}
    hits = ("tie", "negative tie", "tie, odd zero point", "negative accumulator", *padded)
    yield Recipe("ties", hits, {**small, **halves, "output_zero_point": 101})
    yield Recipe("ties, even zero point", hits[:2], {**small, **halves, "output_zero_point": 100})
    # M is a little less than 1/2, and 1/2 in float32; then a little more, in float32 as well.
    less = {"x_scale": 1 + 2.0**-13, "weight_scale": 0.5 - 2.0**-14, "output_scale": 1.0}
    hits = ("tie by rounding", "tie, odd zero point")
    yield Recipe("ties by rounding", hits, {**small, **less})
    # M is 1/2 by division, and not by the reciprocal.
    scales = {"x_scale": 0.014, "weight_scale": 0.5, "output_scale": 0.014}
    yield Recipe("a reciprocal", ("reciprocal",), {**small, **scales})
    more = {**halves, "x_scale": 0.5 + 2.0**-19}
    yield Recipe("beside ties", ("beside a tie",), {**small, **more})
    whole = np.float32(rng.integers(-9, 10, n) * 0.125)
    each: Any = np.where(np.arange(n) % 2, 0.25, 0.125)
    channels: Arguments = {**small, **halves, "weight_scale": each, "output_zero_point": 99}
    yield Recipe("ties in channels", ("tie", "per channel"), channels)
    yield Recipe("ties with a bias", ("tie", "bias"), {**channels, **halves, "bias": whole})
    far = {**coarse, "output_scale": coarse["output_scale"] / 8}
    yield Recipe("clamps", ("clamp below", "clamp above"), {**full, **far})
    for end, zero_point, other in (("lower", 0, 255), ("upper", 255, 0)):
        points = {"x_zero_point": zero_point, "output_zero_point": zero_point}
        hit = f"zero point at the {end} end"
        yield Recipe(f"zero points at the {end} end", (hit,), {**full, **coarse, **points})
        points = {"x_zero_point": zero_point, "output_zero_point": other}
        yield Recipe(f"input zero point {zero_point}", (hit,), {**full, **coarse, **points})
    # M is about 0.7, so that parts of a unit of the accumulator show.
    parts = np.resize([0.25, 0.5, 0.75], n)
    between = (np.arange(n) * 2 - n + parts) * 0.021 * 0.013
    hits = ("bias", "bias between units")
    near = {**fine, "output_scale": 0.0004}
    yield Recipe("a bias between units", hits, {**small, **near, "bias": np.float32(between)})
    many = rng.uniform(0.002, 0.013, n).astype(np.float32).astype(np.float64)
    hits = ("bias", "per channel")
    channels = {**full, **coarse, "weight_scale": many, "bias": bias}
    yield Recipe("a scale for each channel", hits, channels)
    relu = {"relu": True, "output_zero_point": 37}
    hits = ("relu", "clamp below")
    yield Recipe("a fused ReLU", hits, {**full, **coarse, **relu, "bias": bias})
    ends = {"x": _ends(rng, geometry.x, 0, 255), "weight": _ends(rng, geometry.weight, -128, 127)}
    hits = ("beyond 16 bits", "pairs beyond 16 bits", "negative accumulator")
    loud = {"output_scale": 0.021 * 0.013 * 24000.0 * np.sqrt(geometry.depth) / 60}
    yield Recipe("the largest products", hits, {**full, **fine, **ends, **loud})
    yield Recipe(
        "a zero point of the weight",
        ("weight zero point",),
        {**full, **coarse, "weight_zero_point": -7},
    )
    if name == "linear":
        yield _long_sum(rng)
    one = _layer(rng, geometry.one())
    yield Recipe("one of everything", ("odd shape",), {**one, **halves})
    odd = _layer(rng, geometry)
    hits = ("odd shape",) if all(size % 4 for size in geometry.x) else ()
    yield Recipe("odd sizes", hits, {**odd, **coarse})


def _layer(rng: np.random.Generator, geometry: Geometry, size: int | None = None) -> Arguments:
    """Integers over their whole ranges, or as far as ``size`` from the zero points."""
    x_zero_point = 119
    if size is None:
        x = rng.integers(0, 256, geometry.x).astype(np.uint8)
        weight = rng.integers(-128, 128, geometry.weight).astype(np.int8)
    else:
        x = (x_zero_point + rng.integers(-size, size + 1, geometry.x)).astype(np.uint8)
        weight = rng.integers(-size, size + 1, geometry.weight).astype(np.int8)
    return {
        "x": x,
        "x_zero_point": x_zero_point,
        "weight": weight,
        "weight_zero_point": 0,
        "bias": None,
        "output_zero_point": 121,
        "quant_min": 0,
        "quant_max": 255,
        "relu": False,
        **geometry.places(),
    }


def _ends(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> Any:
    """Nothing but the ends of the range, in runs of two along the second axis."""
    half = (shape[0], -(-shape[1] // 2), *shape[2:])
    ends = np.where(rng.random(half) < 0.5, low, high)
    found = np.repeat(ends, 2, axis=1)[:, : shape[1]]
    return found.astype(np.uint8 if low == 0 else np.int8)


def _long_sum(rng: np.random.Generator) -> Recipe:
    """Sums that float32 rounds, at a multiplier that shows it."""
    geometry = LONG
    arguments = _layer(rng, geometry)
    arguments["x"] = rng.integers(250, 256, geometry.x).astype(np.uint8)
    arguments["weight"] = rng.integers(120, 128, geometry.weight).astype(np.int8)
    arguments["weight"][::2] *= -1
    scales = {"x_scale": 0.021, "weight_scale": 0.013, "output_scale": 0.021 * 0.013 * 2e5}
    points = {"x_zero_point": 0, "output_zero_point": 121}
    hits = ("beyond 24 bits", "negative accumulator")
    return Recipe("a long sum", hits, {**arguments, **scales, **points})
