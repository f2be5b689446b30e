"""Line search along a direction: the strong Wolfe conditions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..tape import Array

__all__ = ["cubic_minimum", "strong_wolfe"]

C1, C2 = 1e-4, 0.9
#: Losses that are asked for at most.
MOST = 25
#: A step, its loss, gradient and slope.
Point = tuple[float, float, Array, float]


def cubic_minimum(
    first: Point, second: Point, low: float | None = None, high: float | None = None
) -> float:
    """Return the minimum of the cubic polynomial through two values and slopes, within bounds.

    Equation ``eq-cubic-minimum``, with steps `x`, losses `f` and slopes `g`, ``x1 < x2``::

        d = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
        e = sqrt(d * d - g1 * g2)
        x = x2 - (x2 - x1) * (g2 + e - d) / (g2 - g1 + 2 * e)

    Without a minimum it is the middle of the bounds.
    """
    (x1, f1, _, g1), (x2, f2, _, g2) = first, second
    if low is None or high is None:
        low, high = min(x1, x2), max(x1, x2)
    if x1 > x2:
        x1, f1, g1, x2, f2, g2 = x2, f2, g2, x1, f1, g1
    if x1 == x2:
        return (low + high) / 2
    d = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d * d - g1 * g2
    if square < 0:
        return (low + high) / 2
    e = square**0.5
    divisor = g2 - g1 + 2 * e
    if divisor == 0:
        return (low + high) / 2
    return min(max(x2 - (x2 - x1) * ((g2 + e - d) / divisor), low), high)


def strong_wolfe(
    along: Callable[[float], tuple[float, Array]],
    step: float,
    direction: Array,
    loss: float,
    grad: Array,
    slope: float,
    smallest: float,
) -> tuple[float, Array, float, int]:
    """A step with the strong Wolfe conditions, or the best that was found.

    With ``f(t)`` the loss after a step `t` and ``f'(t)`` its slope, a step is good when (equation
    ``eq-strong-wolfe``)::

        f(t) <= f(0) + c1 * t * f'(0)        it falls as far as a fraction of the slope says
        abs(f'(t)) <= c2 * abs(f'(0))        and is almost flat

    Parameters
    ----------
    along
        The loss and the gradient after a step.
    step
        The first one to try.
    direction
        The vector that is stepped along.
    loss, grad, slope
        Those at step 0; the slope is negative.
    smallest
        A bracket whose change of the parameters is smaller ends the search.

    Returns
    -------
    tuple
        Loss, gradient, step, and how often ``along`` was called.
    """
    longest = np.abs(direction).max().item()

    def point(step: float) -> Point:
        found, gradient = along(step)
        return step, found, gradient.copy(), np.dot(gradient, direction).item()

    def flat(at: Point) -> bool:
        return abs(at[3]) <= -C2 * slope

    start: Point = (0.0, loss, grad.copy(), slope)
    before, now = start, point(step)
    calls, rounds = 1, 0
    bracket: list[Point] = []
    # 1. Go on until a minimum lies between the last two steps.
    while rounds < MOST:
        if now[1] > loss + C1 * now[0] * slope or (rounds > 1 and now[1] >= before[1]):
            bracket = [before, now]
            break
        if flat(now):
            return now[1], now[2], now[0], calls
        if now[3] >= 0:
            bracket = [before, now]
            break
        least = now[0] + 0.01 * (now[0] - before[0])
        following = cubic_minimum(before, now, least, now[0] * 10)
        before, now = now, point(following)
        calls += 1
        rounds += 1
    if not bracket:
        bracket = [start, now]
    # 2. Make the bracket smaller.
    stuck = False
    low, high = (0, 1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    while rounds < MOST:
        ends = sorted((bracket[0][0], bracket[1][0]))
        if (ends[1] - ends[0]) * longest < smallest:
            break
        trial = cubic_minimum(bracket[0], bracket[1])
        margin = 0.1 * (ends[1] - ends[0])
        if min(ends[1] - trial, trial - ends[0]) < margin:
            if stuck or trial >= ends[1] or trial <= ends[0]:
                near_high = abs(trial - ends[1]) < abs(trial - ends[0])
                trial = ends[1] - margin if near_high else ends[0] + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        found = point(trial)
        calls += 1
        rounds += 1
        if found[1] > loss + C1 * trial * slope or found[1] >= bracket[low][1]:
            bracket[high] = found
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            good = flat(found)
            if not good and found[3] * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = found
            if good:
                break
    best = bracket[low]
    return best[1], best[2], best[0], calls
