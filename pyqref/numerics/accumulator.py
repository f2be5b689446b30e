"""How wide an integer must be to hold a sum of products."""

from __future__ import annotations

__all__ = ["accumulator_bits", "largest_depth"]


def largest_depth(bits: int, x_size: int, weight_size: int) -> int:
    r"""How many products a signed integer of some bits surely holds.

    Equation ``eq-accumulator-width``:

    .. math:: \Big|\sum_{k=1}^{K} x_k w_k\Big| \le K\,X\,W \le 2^{b-1} - 1
              \quad\text{for}\quad K \le \Big\lfloor \frac{2^{b-1} - 1}{X\,W} \Big\rfloor

    Parameters
    ----------
    bits
        :math:`b`, those of the accumulator.
    x_size, weight_size
        :math:`X` and :math:`W`, the largest :math:`|x_k|` and :math:`|w_k|`.

    Examples
    --------
    >>> largest_depth(32, 255, 128), largest_depth(16, 255, 128), largest_depth(16, 127, 128)
    (65793, 1, 2)
    """
    return (2 ** (bits - 1) - 1) // (x_size * weight_size)


def accumulator_bits(depth: int, x_size: int, weight_size: int) -> int:
    """Bits of the narrowest signed integer that surely holds ``depth`` products.

    The inverse of ``eq-accumulator-width``.

    Examples
    --------
    >>> accumulator_bits(1, 255, 128), accumulator_bits(768, 255, 128)
    (16, 26)
    """
    return (depth * x_size * weight_size).bit_length() + 1
