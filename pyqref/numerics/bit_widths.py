"""Costs of bits, and the gain of saving some: which layer should have how many."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

__all__ = [
    "bit_operations",
    "mean_weight_bits",
    "price_of_saving",
    "summed_damage",
    "weight_bytes",
]


def mean_weight_bits(counts: Sequence[int], widths: Sequence[int]) -> Fraction:
    r"""Mean number of bits of a weight.

    Equation ``eq-mean-weight-bits``:

    .. math:: \bar b = \frac{\sum_l n_l b_l}{\sum_l n_l}

    Parameters
    ----------
    counts
        Number of weights of each layer; one at least has some.
    widths
        Bits of each layer's weights; 32 for float ones.

    Raises
    ------
    ZeroDivisionError
        No layer has weights.

    Examples
    --------
    >>> mean_weight_bits([100, 300], [8, 4])
    Fraction(5, 1)
    """
    bits = sum(count * width for count, width in zip(counts, widths, strict=True))
    return Fraction(bits, sum(counts))


def weight_bytes(counts: Sequence[int], widths: Sequence[int]) -> int:
    r"""Bytes of the weights, each layer's packed tightly and rounded up to whole bytes.

    Equation ``eq-weight-bytes``:

    .. math:: B = \sum_l \left\lceil \frac{n_l b_l}{8} \right\rceil

    Parameters
    ----------
    counts
        Number of weights of each layer.
    widths
        Bits of each layer's weights; 32 for float ones.

    Notes
    -----
    Biases, scales and zero points are left out: they are the same for every width of integers.

    Examples
    --------
    >>> weight_bytes([9, 300], [3, 4])
    154
    """
    return sum(-(-count * width // 8) for count, width in zip(counts, widths, strict=True))


def bit_operations(
    macs: Sequence[int], weight_bits: Sequence[int], activation_bits: Sequence[int]
) -> int:
    r"""Operations on single bits: a product of a and b bits is a times b of them.

    Equation ``eq-bit-operations``:

    .. math:: O = \sum_l M_l\, b^w_l\, b^a_l

    Parameters
    ----------
    macs
        Multiplications of each layer, each with an addition.
    weight_bits
        Bits of the first factor: the weights, or one input of a product of activations.
    activation_bits
        Bits of the second factor.

    Examples
    --------
    >>> bit_operations([1000, 10], [4, 8], [8, 8])
    32640
    """
    layers = zip(macs, weight_bits, activation_bits, strict=True)
    return sum(count * first * second for count, first, second in layers)


def summed_damage(damages: Sequence[Fraction]) -> Fraction:
    r"""Damage that is expected of all layers together, from that of each alone.

    Equation ``eq-summed-damage``:

    .. math:: D(b_1, \dots, b_n) \approx \sum_l D_l(b_l),
              \qquad D_l(b_l) = \pm \big(m_l(b_l) - m_0\big)

    Parameters
    ----------
    damages
        How much worse the metric becomes if one layer alone has its bits.

    Notes
    -----
    It holds where the damages are small and independent. For noise it is ``eq-noise-sum``.

    Examples
    --------
    >>> summed_damage([Fraction(1, 100), Fraction(1, 50)])
    Fraction(3, 100)
    """
    return sum(damages, Fraction(0))


def price_of_saving(
    damage: Fraction, cheaper_damage: Fraction, cost: Fraction, cheaper_cost: Fraction
) -> Fraction:
    r"""Damage that is expected for each unit of the budget that a narrower layer saves.

    Equation ``eq-price-of-saving``:

    .. math:: p_l(b \to b') = \frac{D_l(b') - D_l(b)}{C(b) - C(b')}

    The greedy search takes the step with the lowest price first.

    Parameters
    ----------
    damage, cheaper_damage
        Of the layer alone, with the width that it has and with a narrower one.
    cost, cheaper_cost
        Of the whole model, before and after the step.

    Raises
    ------
    ZeroDivisionError
        The step saves nothing.

    Examples
    --------
    >>> price_of_saving(Fraction(1), Fraction(4), Fraction(100), Fraction(40))
    Fraction(1, 20)
    """
    return (cheaper_damage - damage) / (cost - cheaper_cost)
