"""Write measured errors beside the layers of a model, where a notebook shows them."""

from __future__ import annotations

from collections.abc import Mapping

from .. import nn

__all__ = ["annotate"]


def annotate(model: nn.Module, ratios: Mapping[str, float]) -> nn.Module:
    """Remember measured signal to noise ratios, to be shown when a notebook shows the model.

    Parameters
    ----------
    model
        The model that was measured; it computes as before.
    ratios
        For each path of a module its ratio in dB, as :func:`layer_sqnr` gives it.

    Returns
    -------
    Module
        ``model``.

    Raises
    ------
    AttributeError
        If the model has no module of a path.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = annotate(nn.Sequential(nn.Linear(2, 2)), {"0": 31.5})
    >>> "31.5 dB" in model._repr_html_()
    True
    """
    for path, ratio in ratios.items():
        model.get_submodule(path).__dict__["_measured_sqnr"] = float(ratio)
    return model
