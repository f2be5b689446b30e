"""Both derivations of the elements where one layer of two models differs most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..autograd import no_grad
from ..backends import quantized as settings
from .asking import Recording
from .pairs import Element, Line, Pair
from .reasons import Seen
from .steps import short

__all__ = ["pairs_of"]

Context = Callable[[], AbstractContextManager[Any]]


def pairs_of(
    layer: str,
    ours: Seen,
    theirs: Seen | None,
    elements: Sequence[Element],
    contexts: tuple[Context | None, Context | None],
) -> tuple[Pair, ...]:
    """Both derivations of some elements of one layer.

    Parameters
    ----------
    layer
        Its name.
    ours, theirs
        The calls; None for integers that were recorded.
    elements
        Places and numbers.
    contexts
        In which each side runs.
    """
    places = [each.place for each in elements]
    first = _derivations(ours, contexts[0], places)
    second = _derivations(theirs, contexts[1], places)
    made = [Pair(layer, *each) for each in zip(elements, first, second, strict=True)]
    return tuple(each for each in made if each.a or each.b)


def _derivations(
    seen: Seen | None, context: Context | None, places: Sequence[tuple[int, ...]]
) -> list[tuple[Line, ...] | None]:
    """The steps of each element of a layer that is run once more."""
    if seen is None:
        return [None] * len(places)
    ran, name = Recording(), None
    with (context or nullcontext)():
        other = settings.arithmetic
        name = None if other is None else other.name
        with ran._recorder.installed(), no_grad():
            seen.call.run(*seen.args, **seen.kwargs)
    if name is not None and ran._recorder.records:
        # Explained from the same integers, by the steps of that arithmetic.
        ran._recorder.records[-1].settings["arithmetic"] = None
    return [_explained(ran, place, name) for place in places]


def _explained(ran: Any, place: tuple[int, ...], name: str | None) -> tuple[Line, ...] | None:
    try:
        found = ran.explain(None, place)
    except (LookupError, IndexError):
        return None
    if name is not None:
        try:
            others = ran.explain(None, place, [name]).others[name]
        except LookupError:  # it has no rule: there the numbers of the engine stand
            if found.value != found.stored:
                return None
        else:
            return tuple(Line(s.name, short(s.value), s.formula, s.decision) for s in others)
    return tuple(Line(s.name, short(s.value), s.numbers, s.decision) for s in found.steps)
