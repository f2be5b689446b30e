"""Observers that saw no data, told of in one warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from pyqref._typing import Module
from pyqref.fx import GraphModule
from pyqref.quantization.diagnostics import UncalibratedWarning, warn
from pyqref.quantization.fake_quantize.fake_quantize import FakeQuantize
from pyqref.quantization.observer.uniform import UniformQuantizationObserverBase

from .observed import is_observer_node
from .places import listed, place

__all__ = ["saw_nothing", "warn_once_of_uncalibrated"]


@contextmanager
def warn_once_of_uncalibrated(asks: str, model: GraphModule) -> Iterator[None]:
    """Warn of all observers that saw no data, and let each be silent inside.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The prepared model.
    """
    silent = sorted(set(_never_ran(model)))
    if silent:
        warn(
            f"{asks}: no values were observed for {listed(silent)}, so scale 1 and zero point "
            "0 are used there; run the prepared model on calibration data first",
            UncalibratedWarning,
        )
    with warnings.catch_warnings():
        if silent:
            warnings.simplefilter("ignore", UncalibratedWarning)
        yield


def _never_ran(model: GraphModule) -> Iterator[str]:
    modules = dict(model.named_modules(remove_duplicate=False))
    for node in model.graph.nodes:
        if not is_observer_node(node, modules):
            continue
        if saw_nothing(modules[node.target]):
            yield place(node.args[0], modules)


def saw_nothing(observer: Module) -> bool:
    """Return True if an observer, or that of a fake quantizer, has not seen data yet."""
    if isinstance(observer, FakeQuantize):
        observer = observer.activation_post_process
    if not isinstance(observer, UniformQuantizationObserverBase):
        return False
    low = getattr(observer, "min_val", None)
    return low is not None and (low.numel() == 0 or not low.isfinite().all().item())
