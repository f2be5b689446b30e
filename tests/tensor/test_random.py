"""The random streams are torch's: numbers recorded from torch 2.13."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref

# After manual_seed(0), each on its own.
RECORDED: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "rand": (
        lambda: pyqref.rand(4),
        [0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688],
    ),
    "rand_double": (
        lambda: pyqref.rand(4, dtype=pyqref.float64),
        [0.9700530018065531, 0.707819864399788, 0.45938294312745087, 0.9207476841219603],
    ),
    "randn_few": (
        lambda: pyqref.randn(4),
        [1.5409960746765137, -0.293428897857666, -2.1787893772125244, 0.5684312582015991],
    ),
    "randn_blocks": (
        lambda: pyqref.randn(20),
        [-1.1258398294448853, -1.152360200881958, -0.2505785822868347, -0.4338788092136383],
    ),
    "randn_double": (
        lambda: pyqref.randn(20, dtype=pyqref.float64),
        [-2.310411800234176, -0.3732508612577643, -1.0608166785462863, 0.9995093547811761],
    ),
    "randint": (
        lambda: pyqref.randint(0, 10, (4,)),
        [4, 9, 3, 0],
    ),
    "randint_wide": (
        lambda: pyqref.randint(-(2**40), 2**40, (4,)),
        [-358231004625, -593374360384, 291447657211, -258354086553],
    ),
    "randperm": (
        lambda: pyqref.randperm(4),
        [0, 1, 3, 2],
    ),
    "uniform": (
        lambda: pyqref.empty(4).uniform_(-0.3, 0.7),
        [0.1962565779685974, 0.4682217836380005, -0.21152257919311523, -0.16796952486038208],
    ),
    "normal": (
        lambda: pyqref.empty(20).normal_(0.1, 0.7),
        [-0.6880878806114197, -0.7066521048545837, -0.07540500164031982, -0.20371516048908234],
    ),
    "bernoulli": (
        lambda: pyqref.bernoulli(pyqref.full((4,), 0.3)),
        [0.0, 0.0, 1.0, 1.0],
    ),
    "bernoulli_number": (
        lambda: pyqref.empty(4).bernoulli_(0.3),
        [0.0, 0.0, 0.0, 0.0],
    ),
    "multinomial": (
        lambda: pyqref.multinomial(pyqref.ones(10), 4),
        [6, 9, 7, 2],
    ),
    "exponential": (
        lambda: pyqref.empty(4).exponential_(),
        [3.508326292037964, 1.2303847074508667, 0.615044116973877, 2.535118579864502],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_stream(name: str) -> None:
    """Equal to the last bit."""
    call, expected = RECORDED[name]
    pyqref.manual_seed(0)
    assert expected == np.asarray(call()).reshape(-1)[:4].tolist()


def test_every_second_normal_number_is_kept() -> None:
    """Fewer than 16 normal numbers are made in pairs; the pair may span two calls."""
    pyqref.manual_seed(1)
    whole = pyqref.randn(6)
    pyqref.manual_seed(1)
    parts = pyqref.cat([pyqref.randn(3), pyqref.randn(3)])
    assert whole.tolist() == parts.tolist()


def test_generators_are_independent() -> None:
    """A generator of its own leaves the default stream alone; its state can be restored."""
    own = pyqref.Generator().manual_seed(0)
    pyqref.manual_seed(0)
    expected = pyqref.rand(3)
    pyqref.manual_seed(5)
    state = own.get_state()
    first = pyqref.rand(3, generator=own)
    assert expected.tolist() == first.tolist()
    own.set_state(state)
    assert first.tolist() == pyqref.rand(3, generator=own).tolist()
    assert 5 == pyqref.initial_seed()


def test_seed_gives_another_stream() -> None:
    """seed() draws a seed from the operating system and returns it."""
    chosen = pyqref.seed()
    first = pyqref.rand(4)
    pyqref.manual_seed(chosen)
    assert first.tolist() == pyqref.rand(4).tolist()


def test_numbers_are_filled_in_memory_order() -> None:
    """A channels-last tensor gets the stream along its memory."""
    pyqref.manual_seed(0)
    x = pyqref.empty(1, 2, 1, 2).contiguous(memory_format=pyqref.channels_last).uniform_()
    pyqref.manual_seed(0)
    assert pyqref.rand(4).tolist() == x.permute(0, 2, 3, 1).reshape(-1).tolist()


def test_moments() -> None:
    """Mean and variance within six standard errors (n = 20,000)."""
    pyqref.manual_seed(3)
    n = 20_000
    uniform, normal = pyqref.rand(n), pyqref.randn(n)
    assert abs(uniform.mean().item() - 0.5) < 6 * (1 / 12 / n) ** 0.5
    assert abs(normal.mean().item()) < 6 / n**0.5
    assert abs(normal.var().item() - 1) < 6 * (2 / n) ** 0.5


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: pyqref.randint(3, 3, (2,)), "'from' to be less than 'to'"),
    (lambda: pyqref.rand(-1), "negative dimension"),
    (lambda: pyqref.rand(2, dtype=pyqref.int32), "must be a floating point dtype"),
    (lambda: pyqref.zeros(2).normal_(0, -1), "std >= 0.0"),
    (lambda: pyqref.zeros(2).uniform_(2, 1), "from=2 > to=1"),
    (lambda: pyqref.zeros(2).bernoulli_(1.5), r"in \[0, 1\]"),
    (lambda: pyqref.bernoulli(pyqref.tensor([2.0])), "p_in <= 1"),
    (lambda: pyqref.multinomial(pyqref.tensor([-1.0, 1.0]), 1), "element < 0"),
    (lambda: pyqref.multinomial(pyqref.ones(2), 3), "without replacement"),
    (lambda: pyqref.zeros(2, dtype=pyqref.int64).uniform_(), "floating point dtype"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_bad_arguments(number: int) -> None:
    """The error says what is needed."""
    call, text = WRONG[number]
    with pytest.raises(RuntimeError, match=text):
        call()
