"""Costs of bits and the price of saving some, against sums written out."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from pyqref.numerics.bit_widths import (
    bit_operations,
    mean_weight_bits,
    price_of_saving,
    summed_damage,
    weight_bytes,
)

RNG = random.Random(0)
COUNTS = [RNG.randrange(1, 10**9) for _ in range(20)]
WIDTHS = [RNG.choice([2, 3, 4, 8, 32]) for _ in COUNTS]


def test_eq_mean_weight_bits__total_over_count() -> None:
    """The mean times the number of weights is the number of bits, exactly."""
    total = 0
    for count, width in zip(COUNTS, WIDTHS, strict=True):
        total += count * width
    assert total == mean_weight_bits(COUNTS, WIDTHS) * sum(COUNTS)
    with pytest.raises(ZeroDivisionError):
        mean_weight_bits([0], [8])


def test_eq_weight_bytes__each_layer_is_rounded_up() -> None:
    """Around whole bytes: 0, 1, 7, 8, 9 bits and twenty random layers."""
    for count, expected in ((0, 0), (1, 1), (7, 1), (8, 1), (9, 2)):
        assert expected == weight_bytes([count], [1])
    layers = zip(COUNTS, WIDTHS, strict=True)
    expected = sum(math.ceil(Fraction(count * width, 8)) for count, width in layers)
    assert expected == weight_bytes(COUNTS, WIDTHS)


def test_eq_bit_operations__products_of_single_bits() -> None:
    """A product of a and b bits is counted by multiplying each bit with each."""
    macs = [count % 7 for count in COUNTS]
    single = 0
    for count, width, other in zip(macs, WIDTHS, reversed(WIDTHS), strict=True):
        single += sum(1 for _ in range(count) for _ in range(width) for _ in range(other))
    assert single == bit_operations(macs, WIDTHS, list(reversed(WIDTHS)))


def test_eq_summed_damage__exact() -> None:
    """Fractions that no float holds add up without rounding; nothing adds up to 0."""
    assert 1 == summed_damage([Fraction(1, 3), Fraction(1, 3), Fraction(1, 3)])
    assert 0 == summed_damage([])


def test_eq_price_of_saving__cost_times_price_is_damage() -> None:
    """The price times what was saved is the damage; a damage that falls has a negative price."""
    price = price_of_saving(Fraction(1, 7), Fraction(3, 7), Fraction(11), Fraction(4))
    assert Fraction(2, 7) == price * 7
    assert price_of_saving(Fraction(2), Fraction(1), Fraction(2), Fraction(1)) < 0
    with pytest.raises(ZeroDivisionError):
        price_of_saving(Fraction(0), Fraction(1), Fraction(2), Fraction(2))
