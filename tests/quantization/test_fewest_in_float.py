"""Accuracy control against brute force over every set of layers, and what it promises without."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import measure, nn
from pyqref.quantization import default_per_channel_qconfig as QCONFIG
from pyqref.quantization.mixed_precision import quantize_with_accuracy_control
from pyqref.quantization.mixed_precision.choosing import irreducible
from pyqref.quantization.qconfig_mapping.defaults import usual_mapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

LAYERS = ("0", "1", "2", "3", "4")


def deep():
    """Five linear layers, and inputs for them."""
    pyqref.manual_seed(0)
    model = nn.Sequential(*(nn.Linear(6, 6) for _ in LAYERS)).eval()
    return model, pyqref.rand((32, 6), generator=pyqref.manual_seed(1)) - 0.5


def drop_without(model, x, put_back):
    """Noise over signal with some layers in float, by a mapping written by hand."""
    mapping = usual_mapping("x86", QCONFIG)
    for name in put_back:
        mapping.set_module_name(name, None)
    prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    return 10 ** (-measure.sqnr(model(x), convert_fx(prepared)(x)) / 10)


@pytest.fixture(scope="module")
def drops():
    """The drop of each set of layers that is put back."""
    model, x = deep()
    every = [each for size in range(len(LAYERS)) for each in combinations(LAYERS, size)]
    found = {frozenset(each): drop_without(model, x, each) for each in every}
    return {**found, frozenset(LAYERS): 0.0}


def bounds(drops):
    """Numbers halfway between neighbouring drops."""
    values = sorted(drops.values())
    return [(low + high) / 2 for low, high in zip(values[::4], values[1::4], strict=False)]


@pytest.mark.parametrize("exhaustive", [64, 0])
def test_what_is_put_back_against_every_set(drops, exhaustive, tmp_path):
    """``fewest`` is true only of the smallest number; without, no single layer is put back in vain.

    For each bound, the drop is that which brute force finds for the same set.
    """
    model, x = deep()
    options = {"qconfig": QCONFIG, "exhaustive": exhaustive, "checkpoint": tmp_path / "kept"}
    for bound in bounds(drops):
        found = quantize_with_accuracy_control(model, x, "sqnr", bound, progress=False, **options)
        kept = frozenset(found.put_back)
        assert drops[kept] == pytest.approx(float(found.drop), rel=1e-9)
        assert found.drop <= Fraction(bound)
        smallest = min(len(each) for each, drop in drops.items() if drop <= bound)
        assert len(kept) == smallest if found.fewest else len(kept) >= smallest
        assert found.fewest or not exhaustive
        assert all(drops[kept - {each}] > bound for each in kept)


@settings(max_examples=50, deadline=None)
@given(st.sets(st.frozensets(st.sampled_from("abcde"), min_size=1)))
def test_no_single_name_of_a_reduced_set_can_be_missed(enough):
    """Over any sets that suffice, growing or not, what is left suffices and can lose no name."""
    enough = {*enough, frozenset("abcde")}
    kept = frozenset(irreducible("abcde", lambda names: frozenset(names) in enough))
    assert kept in enough
    assert not any(kept - {name} in enough for name in kept)
