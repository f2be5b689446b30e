"""The searches, on numbers alone: what each choice of each part harms, and what all of them cost.

A choice is a tuple with the number of an option for each part; option 0 is the most expensive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from pyqref.numerics.bit_widths import price_of_saving, summed_damage

__all__ = [
    "Choice",
    "Cost",
    "all_choices",
    "best_by_sum",
    "cheapest",
    "irreducible",
    "next_step",
]

Choice = tuple[int, ...]
#: The cost of a choice, which no cheaper option of a part increases.
Cost = Callable[[Choice], Fraction]
#: For each part and option the damage alone, and the noise, which decides between equal ones.
Damages = Sequence[Sequence[tuple[Fraction, Fraction]]]


def cheapest(damages: Damages) -> Choice:
    """The last option of each part.

    Examples
    --------
    >>> cheapest([[(0, 0), (1, 1)], [(0, 0)]])
    (1, 0)
    """
    return tuple(len(options) - 1 for options in damages)


def all_choices(damages: Damages) -> Iterator[Choice]:
    """Every choice, the most expensive first."""
    return product(*(range(len(options)) for options in damages))


def next_step(damages: Damages, cost: Cost, choice: Choice) -> Choice | None:
    """The choice after the step with the lowest price; None if nothing can be saved.

    A step gives one part any cheaper option. The price is that of ``eq-price-of-saving``; between
    equal ones that in noise decides, then the order of parts and options.

    Examples
    --------
    The second part loses less for the same saving:

    >>> damages = [[(Fraction(0), 0), (Fraction(3), 3)], [(Fraction(0), 0), (Fraction(1), 1)]]
    >>> next_step(damages, lambda choice: Fraction(2 - sum(choice)), (0, 0))
    (0, 1)
    """
    before = cost(choice)
    found = []
    for part, options in enumerate(damages):
        for option in range(choice[part] + 1, len(options)):
            changed = (*choice[:part], option, *choice[part + 1 :])
            after = cost(changed)
            if after >= before:
                continue
            prices = tuple(
                price_of_saving(now, then, before, after)
                for now, then in zip(options[choice[part]], options[option], strict=True)
            )
            found.append((prices, part, option, changed))
    return min(found)[-1] if found else None


def irreducible(names: Sequence[str], suffices: Callable[[Sequence[str]], bool]) -> tuple[str, ...]:
    """Leave names out, the last first, until no single one can be missed.

    To leave one out may make it possible to leave out another that was needed before, so names are
    asked about again until a whole round changes nothing. One name always remains.

    Parameters
    ----------
    names
        A set that suffices.
    suffices
        Says of a set if it is enough.

    Examples
    --------
    While ``b`` is there, ``c`` is needed, which is asked about first:

    >>> irreducible("abc", lambda names: set(names) in ({"a", "b", "c"}, {"a", "c"}, {"a"}))
    ('a',)
    """
    kept = tuple(names)
    changed = True
    while changed:
        changed = False
        for name in reversed(kept):
            fewer = tuple(each for each in kept if each != name)
            if fewer and suffices(fewer):
                kept, changed = fewer, True
    return kept


def best_by_sum(
    damages: Damages, cost: Cost, limit: Fraction, start: Choice, most: int = 20_000
) -> Choice:
    """The choice within a budget whose summed damage is smallest, by branch and bound.

    Parts are given options one after the other. A branch is left where the damages so far and the
    smallest ones of the other parts (``eq-summed-damage``) are no less than the best so far, or
    where the cheapest options of the others cost too much.

    Parameters
    ----------
    damages
        For each part and option.
    cost
        Of a whole choice.
    limit
        The largest cost.
    start
        A choice within it, to begin with.
    most
        Branches to try; then the best so far is returned.

    Examples
    --------
    >>> damages = [[(Fraction(0), 0), (Fraction(3), 3)], [(Fraction(0), 0), (Fraction(1), 1)]]
    >>> best_by_sum(damages, lambda choice: Fraction(2 - sum(choice)), Fraction(1), (1, 1))
    (0, 1)
    """
    last = cheapest(damages)
    least = [tuple(map(min, zip(*options, strict=True))) for options in damages]

    def total(choice: Choice) -> tuple[Fraction, Fraction]:
        """Damage and noise; parts without an option yet have their smallest."""
        known = [damages[part][option] for part, option in enumerate(choice)]
        known += least[len(choice) :]
        return summed_damage([each[0] for each in known]), summed_damage([e[1] for e in known])

    best = total(start), start
    tried = 0
    waiting: list[Choice] = [()]
    while waiting and tried < most:
        choice = waiting.pop()
        tried += 1
        bound = total(choice)
        if bound > best[0] or cost((*choice, *last[len(choice) :])) > limit:
            continue
        if len(choice) == len(damages):
            best = min(best, (bound, choice))
            continue
        options = range(len(damages[len(choice)]))
        waiting += [(*choice, option) for option in reversed(options)]
    return best[1]
