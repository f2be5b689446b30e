"""Limits of the machine: the least time that a layer of bytes can take."""

from __future__ import annotations

__all__ = ["roofline"]


def roofline(m: int, k: int, n: int, peak: float, bandwidth: float) -> float:
    r"""Least time of a linear layer of bytes, in seconds.

    Equation ``eq-roofline``:

    .. math:: t \;\ge\; \max\left(\frac{2\,m K N}{P},\; \frac{m K + K N + m N}{B}\right)

    Parameters
    ----------
    m, k, n
        Rows, depth and outputs of the layer, none below 0.
    peak
        Operations that the processor does in a second, P; a multiply-add counts two.
    bandwidth
        Bytes that memory delivers in a second, B.

    Raises
    ------
    ValueError
        If a size is below 0, or a speed is not above 0.

    Examples
    --------
    One row waits for its weights, 512 rows for the processor:

    >>> print(f"{roofline(1, 1024, 1024, 1e12, 1e10):.6f}")
    0.000105
    >>> print(f"{roofline(512, 1024, 1024, 1e12, 1e10):.6f}")
    0.001074
    """
    for name, size in (("m", m), ("k", k), ("n", n)):
        if size < 0:
            raise ValueError(f"{name} must be 0 or more, got {size!r}")
    for name, speed in (("peak", peak), ("bandwidth", bandwidth)):
        if not speed > 0:
            raise ValueError(f"{name} must be above 0, got {speed!r}")
    operations = 2 * m * k * n
    moved = m * k + k * n + m * n
    return max(operations / peak, moved / bandwidth)
