"""One small image with what was read in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["image"]


def image(pixels: object, caption: str = "", *, ax: Axes | None = None) -> Axes:
    """Draw an image of one channel, from the colour of the paper (0) to that of the ink (1).

    Parameters
    ----------
    pixels
        `(H, W)`, values in [0, 1].
    caption
        Text above.
    ax
        Where to draw, its axes are hidden; a new figure if None.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> image([[0.0, 1.0], [1.0, 0.0]], "a cross").get_title()
    'a cross'
    """
    ax = given_or_new(ax)
    from matplotlib import rcParams
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("ink", [ax.get_facecolor(), rcParams["text.color"]])
    ax.imshow(np.asarray(pixels), cmap=shades, vmin=0, vmax=1, interpolation="nearest")
    ax.set_title(caption, fontsize="small", loc="center")
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(True)
    return ax
