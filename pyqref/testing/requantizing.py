"""Accumulators that become integers of the output."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics.requantize import Requantization, requantize
from .operation import Arguments, Recipe
from .rounded import Changes, Parts, Rounded, ends_of

__all__ = ["Requantize"]


class Requantize(Rounded):
    """``eq-requantize`` of accumulators that have their bias."""

    name = "requantize"
    arithmetic = "eq-requantize"
    names = ("accumulator", "multiplier", "output_zero_point", "lower", "upper")

    def expected(self, arguments: Arguments, engine: str) -> np.ndarray:
        lower, upper = arguments["lower"], arguments["upper"]
        storage = np.dtype(np.int8 if lower < 0 or arguments["quant_min"] < 0 else np.uint8)
        multiplier = np.atleast_1d(np.float32(arguments["multiplier"]))
        zero_point = arguments["output_zero_point"]
        ends = np.float32(1), zero_point, lower, upper, storage
        requant = Requantization(multiplier, "none", None, *ends)
        return requantize(arguments["accumulator"], requant)

    def parts(self, arguments: Arguments, engine: str) -> Parts:
        return Parts(arguments["accumulator"].astype(np.float32), arguments["multiplier"])

    def changes(self, engine: str) -> Changes:
        yield (
            "takes the multiplier of the first channel for all",
            "Each output channel, the last axis, has a multiplier of its own.",
            lambda a: {"multiplier": np.ravel(a["multiplier"])[0]},
        )

    def derivation(self, arguments: Arguments, engine: str, index: tuple[int, ...]) -> str:
        stages = self.stages(arguments, engine)
        assert stages.scaled is not None
        assert stages.whole is not None
        scaled, whole = stages.scaled[index], stages.whole[index]
        accumulator = arguments["accumulator"][index]
        multiplier = np.broadcast_to(arguments["multiplier"], arguments["accumulator"].shape)[index]
        lower, upper, zero_point = (arguments[n] for n in ("lower", "upper", "output_zero_point"))
        return (
            f"scaled: fl32({accumulator}) * {multiplier!r} = {scaled}\n"
            f"rounded, zero point added: rne({scaled}) + {zero_point} = {whole:.0f}\n"
            f"clamped: min(max({whole:.0f}, {lower}), {upper}) = "
            f"{min(max(int(whole), lower), upper)}"
        )

    def recipes(self, engine: str, signed: bool) -> Iterator[Recipe]:
        rng = np.random.default_rng(0)
        low, high = ends_of(signed).values()
        ends = {**ends_of(signed), "lower": low, "upper": high}
        middle = low + 119
        sums = rng.integers(-(2**20), 2**20, (7, 5)).astype(np.int32)
        many = {"accumulator": sums, "multiplier": np.float32(1.7e-4), **ends}
        hits: tuple[str, ...] = ("odd shape",)
        yield Recipe("ordinary", hits, {**many, "output_zero_point": middle})
        ties = {"accumulator": np.arange(-99, 100, dtype=np.int32), "multiplier": np.float32(0.5)}
        hits = ("tie", "negative tie", "tie, odd zero point")
        yield Recipe("ties", hits, {**ties, **ends, "output_zero_point": middle})
        even = {**ties, **ends, "output_zero_point": middle + 1}
        yield Recipe("ties, even zero point", hits[:2], even)
        channels = np.array([0.001, 0.5, 1.7e-4, 3e-5, 0.1], np.float32)
        given = {**many, "multiplier": channels, "output_zero_point": middle}
        yield Recipe("a multiplier for each channel", ("clamp below", "clamp above"), given)
        for end, zero_point in (("lower", low), ("upper", high)):
            hit = f"zero point at the {end} end"
            yield Recipe(hit, (hit,), {**many, "output_zero_point": zero_point})
        ends_of_32 = [-(2**31), 2**31 - 1, 2**24 + 1, -(2**24) - 1, 0, 1, -1]
        largest = np.array(ends_of_32, np.int32)
        given = {**many, "accumulator": largest, "output_zero_point": middle}
        yield Recipe("the largest sums", ("clamp below", "clamp above"), given)
        relu = {**many, "output_zero_point": middle, "lower": middle}
        yield Recipe("a fused ReLU", ("clamp below",), relu)
