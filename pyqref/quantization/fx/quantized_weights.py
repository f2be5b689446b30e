"""The weights of a graph before and after: of functions, of reference layers, of PReLU."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from pyqref._typing import AnyModule
from pyqref.fx import GraphModule, Node
from pyqref.nn import modules as nn
from pyqref.nn import quantized as nnq
from pyqref.quantization.constant_channels import QuantizedWeight

from .evaluation import depends_on_input, value_of

__all__ = ["function_weight", "reference_weights", "slopes_before", "slopes_of"]


def function_weight(
    model: GraphModule, source: Node, quantized: Node, observer: AnyModule
) -> Iterator[QuantizedWeight]:
    """The weight of a function, if no input of the model goes into it.

    Parameters
    ----------
    model
        The model.
    source, quantized
        The nodes that give the float weight and the quantized one.
    observer
        What found its grid.
    """
    scheme = getattr(observer, "qscheme", None)
    if scheme is None or depends_on_input(source):
        return
    axis = int(observer.ch_axis) if scheme.is_per_channel else None
    name = source.target if source.op == "get_attr" else source.name
    yield QuantizedWeight(
        str(name), value_of(model, source)._array, axis, partial(value_of, model, quantized)
    )


def reference_weights(reference: AnyModule, path: str, kind: str) -> Iterator[QuantizedWeight]:
    """The weights of a reference layer.

    Parameters
    ----------
    reference
        The layer.
    path, kind
        Where it stands, and the type of the layer or group that stood there.
    """
    for name in reference._weights():
        scheme = getattr(reference, f"{name}_qscheme")
        if scheme is not None:
            axis = int(getattr(reference, f"{name}_axis")) if scheme.is_per_channel else None
            values = getattr(reference, name)._array
            quantize = partial(reference._quantized, name)
            yield QuantizedWeight(f"{path}.{name} ({kind})", values, axis, quantize)


def slopes_before(model: GraphModule) -> dict[str, Any]:
    """The float PReLU layers by path: they have no reference form."""
    return {path: each for path, each in model.named_modules() if type(each) is nn.PReLU}


def slopes_of(model: GraphModule, before: dict[str, Any]) -> Iterator[QuantizedWeight]:
    """The slopes of those that were lowered.

    Parameters
    ----------
    model
        The lowered model.
    before
        From :func:`slopes_before`.
    """
    now = dict(model.named_modules())
    for path, old in before.items():
        new = now.get(path)
        if isinstance(new, nnq.PReLU):
            place, values = f"{path}.weight (PReLU)", old.weight._array
            yield QuantizedWeight(place, values, None, partial(getattr, new, "weight"))
