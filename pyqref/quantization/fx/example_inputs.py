"""Check that the example inputs of graph mode can be inputs of the model.

Nothing is computed with them: they are asked for since torch asks for them. What cannot be right
is a sign of a mistake all the same::

    prepare_fx(model, mapping, (x,))              a tuple of inputs
    prepare_fx(model, mapping, x)                 one input
    prepare_fx(model, mapping, {"x": x})          inputs by name, or one dictionary
    prepare_fx(model, mapping, None)              none to look at
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn import modules as nn
from pyqref.quantization.diagnostics import ExampleInputsWarning, warn

from ..._typing import Module
from .observed import is_observer_node

__all__ = ["warn_of_example_inputs"]

#: Layers that know the size of one dimension of their input: the attribute, the place of the
#: dimension counted from the end, and how many dimensions the input may have, if that is known.
_SIZES: list[tuple[Any, str, int, tuple[int, ...]]] = [
    (nn.Linear, "in_features", -1, ()),
    (nn.Conv1d, "in_channels", -2, (2, 3)),
    (nn.Conv2d, "in_channels", -3, (3, 4)),
    (nn.Conv3d, "in_channels", -4, (4, 5)),
    (nn.ConvTranspose1d, "in_channels", -2, (2, 3)),
    (nn.ConvTranspose2d, "in_channels", -3, (3, 4)),
    (nn.ConvTranspose3d, "in_channels", -4, (4, 5)),
    (nn.BatchNorm2d, "num_features", -3, (4,)),
    (nn.BatchNorm3d, "num_features", -4, (5,)),
    (nn.RNNBase, "input_size", -1, (2, 3)),
    (nn.RNNCellBase, "input_size", -1, (1, 2)),
]


def warn_of_example_inputs(
    asks: str, model: Module, prepared: GraphModule, example_inputs: object
) -> None:
    """Warn of inputs that the model cannot take.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model, prepared
        The user's model, and its graph.
    example_inputs
        A tuple of inputs; one input; inputs by name; or None.
    """
    if example_inputs is None:
        return
    signature = inspect.signature(model.forward)
    try:
        given = _bound(signature, example_inputs)
    except TypeError as error:
        warn(
            f"{asks}: example_inputs cannot be the inputs of the model, whose forward takes "
            f"{signature}: {error}; give the inputs that the model is called with, as a tuple "
            "such as (x,)",
            ExampleInputsWarning,
        )
        return
    modules = dict(prepared.named_modules(remove_duplicate=False))
    for node in prepared.graph.nodes:
        if node.op == "placeholder":
            shape = getattr(given.get(node.target), "shape", None)
            if shape is not None:
                _check_users(asks, node, node.target, tuple(shape), modules)


def _bound(signature: inspect.Signature, example_inputs: Any) -> Mapping[str, Any]:
    """The inputs by name."""
    if isinstance(example_inputs, Mapping) and all(
        isinstance(each, str) for each in example_inputs
    ):
        try:
            return signature.bind(**example_inputs).arguments
        except TypeError:
            return signature.bind(example_inputs).arguments
    is_several = isinstance(example_inputs, tuple | list)
    # What goes by name alone has no place in a tuple.
    named = [
        each.replace(default=None) if each.kind is each.KEYWORD_ONLY else each
        for each in signature.parameters.values()
    ]
    signature = signature.replace(parameters=named)
    return signature.bind(*(example_inputs if is_several else (example_inputs,))).arguments


def _check_users(
    asks: str, node: Node, name: str, shape: tuple[int, ...], modules: Mapping[str, Any]
) -> None:
    """Look at the layers that take an input as it is, or behind an observer."""
    for user in node.users:
        if user.op != "call_module" or user.args[:1] != (node,):
            continue
        if is_observer_node(user, dict(modules)):
            _check_users(asks, user, name, shape, modules)
            continue
        problem = _problem(modules[user.target], shape)
        if problem is not None:
            warn(
                f"{asks}: the example input {name!r} of shape {shape} does not fit the first "
                f"layer, {user.target!r}, {problem}; give an input as the model is called with",
                ExampleInputsWarning,
            )


def _problem(module: Any, shape: tuple[int, ...]) -> str | None:
    layer = module
    if isinstance(module, nn.Sequential) and not hasattr(module, "weight") and len(module):
        layer = module[0]
    for kind, attribute, place, dimensions in _SIZES:
        if not isinstance(layer, kind):
            continue
        size = getattr(layer, attribute)
        if dimensions and len(shape) not in dimensions:
            listed = " or ".join(map(str, dimensions))
            return f"whose input has {listed} dimensions"
        if len(shape) < -place or shape[place] != size:
            return f"which takes {size} in dimension {place}"
    return None
