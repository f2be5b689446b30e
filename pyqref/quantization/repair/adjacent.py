"""Layers of a model between which a factor of a channel may move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pyqref import fx, nn
from pyqref._typing import Array, Module, Node
from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.tensor import flatten, from_numpy, relu

__all__ = [
    "TRANSPOSED",
    "Pair",
    "adjacent_layers",
    "grouped",
    "layer_of",
    "pairs_of",
    "set_bias",
    "set_weight",
    "ungrouped",
]

TRANSPOSED = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, *TRANSPOSED)
#: ``f(x / s) = f(x) / s`` for each channel and each positive s.
_HOMOGENEOUS = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.PReLU,
    nn.Identity,
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.MaxPool1d,
    nn.MaxPool2d,
    nn.MaxPool3d,
    nn.AvgPool1d,
    nn.AvgPool2d,
    nn.AvgPool3d,
    nn.AdaptiveAvgPool1d,
    nn.AdaptiveAvgPool2d,
    nn.AdaptiveAvgPool3d,
    nn.AdaptiveMaxPool1d,
    nn.AdaptiveMaxPool2d,
    nn.AdaptiveMaxPool3d,
    nn.Upsample,
)
_FUNCTIONS = (
    relu,
    F.relu,
    F.leaky_relu,
    F.dropout,
    F.max_pool1d,
    F.max_pool2d,
    F.max_pool3d,
    F.avg_pool1d,
    F.avg_pool2d,
    F.avg_pool3d,
    F.adaptive_avg_pool1d,
    F.adaptive_avg_pool2d,
    F.adaptive_avg_pool3d,
)
#: Nothing can pass, but after a change of the model that keeps its numbers or nearly so.
_REMEDIES = {
    nn.ReLU6: "replace it by nn.ReLU, which lets a factor pass",
    nn.BatchNorm1d: "fold it first, with pyqref.quantization.fuse_modules",
    nn.BatchNorm2d: "fold it first, with pyqref.quantization.fuse_modules",
    nn.BatchNorm3d: "fold it first, with pyqref.quantization.fuse_modules",
}


class Pair(NamedTuple):
    """Two layers with nothing between them that would hold a factor back.

    Attributes
    ----------
    first, second
        Paths of the layers.
    between
        Modules, functions and names of methods that are called between them.

    Examples
    --------
    >>> Pair("0", "2").between
    ()
    """

    first: str
    second: str
    between: tuple[Any, ...] = ()


def layer_of(module: Module) -> Any:
    """The layer with the weight: the module itself, or the first one of a fused module."""
    if isinstance(module, nni._FusedModule):
        module = module[0]
    return module if isinstance(module, _LAYERS) else None


def grouped(layer: Any, weight: Array | None = None) -> Array:
    """A weight as ``(groups, outputs, inputs, taps)``, outputs and inputs of one group."""
    array = layer.weight.detach().numpy() if weight is None else weight
    groups = getattr(layer, "groups", 1)
    if isinstance(layer, TRANSPOSED):
        parts = array.reshape(groups, array.shape[0] // groups, array.shape[1], -1)
        return parts.transpose(0, 2, 1, 3)
    return array.reshape(groups, array.shape[0] // groups, array.shape[1], -1)


def ungrouped(layer: Any, parts: Array) -> Array:
    """A weight in the shape of the layer's, from the form of :func:`grouped`."""
    if isinstance(layer, TRANSPOSED):
        parts = parts.transpose(0, 2, 1, 3)
    return np.ascontiguousarray(parts).reshape(tuple(layer.weight.shape))


def set_weight(layer: Any, parts: Array) -> None:
    """Give the layer a weight that has the form of :func:`grouped`."""
    layer.weight.data = from_numpy(ungrouped(layer, parts.astype(np.float32)))


def set_bias(layer: Any, bias: Array) -> None:
    """Give the layer a bias, which it may not have had."""
    values = from_numpy(np.ascontiguousarray(bias, np.float32))
    if layer.bias is None:
        layer.bias = nn.Parameter(values)
    else:
        layer.bias.data = values


def _module(model: Module, node: Node) -> Any:
    return model.get_submodule(str(node.target)) if node.op == "call_module" else None


def _lets_pass(model: Module, node: Node) -> bool:
    module = _module(model, node)
    if module is not None:
        return type(module) in _HOMOGENEOUS or _flattens(module, node)
    if node.op == "call_function":
        return node.target in _FUNCTIONS or _flattens(None, node)
    return node.op == "call_method" and node.target in ("relu", "relu_", "contiguous")


def _flattens(module: Any, node: Node) -> bool:
    """Return True if all but the batch becomes one dimension, a channel's numbers side by side."""
    if isinstance(module, nn.Flatten):
        return bool(module.start_dim == 1 and module.end_dim == -1)
    return node.target is flatten and tuple(node.args[1:]) == (1,) and not node.kwargs


def adjacent_layers(model: Module) -> list[Pair]:
    """Find the pairs of layers between which only homogeneous operations stand.

    Parameters
    ----------
    model
        A float model that can be traced. It is not changed.

    Returns
    -------
    list of Pair
        In the order of the first layers' calls.

    Warns
    -----
    NotRepairedWarning
        A ReLU6 or a batch normalization stands between two layers; the message says what to do.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.Sigmoid())
    >>> [(pair.first, pair.second) for pair in adjacent_layers(model)]
    [('0', '2')]
    """
    nodes = list(fx.Tracer().trace(model).nodes)
    calls = [str(node.target) for node in nodes if node.op == "call_module"]
    found = []
    for node in nodes:
        module = _module(model, node)
        if module is None or layer_of(module) is None or calls.count(str(node.target)) > 1:
            continue
        is_fused = isinstance(module, nni._FusedModule)
        between: list[Any] = list(module.children())[1:] if is_fused else []
        if not all(type(each) in _HOMOGENEOUS for each in between):
            continue
        following = _following(model, node, between)
        if following is not None and calls.count(str(following.target)) == 1:
            found.append(Pair(str(node.target), str(following.target), tuple(between)))
    return found


def _following(model: Module, node: Node, between: list[Any]) -> Node | None:
    """The node of the next layer; what is passed on the way is added to ``between``."""
    while len(node.users) == 1:
        (node,) = node.users
        module = _module(model, node)
        if module is not None and layer_of(module) is not None:
            return node
        if not _lets_pass(model, node):
            remedy = _REMEDIES.get(type(module))
            if remedy is not None:
                name = type(module).__name__
                message = f"{node.target}: {name} holds factors of channels back; {remedy}"
                warn(message, NotRepairedWarning)
            return None
        between.append(module if module is not None else node.target)
    return None


def pairs_of(model: Module, pairs: Sequence[Sequence[Any]] | None, caller: str) -> list[Pair]:
    """The pairs that a caller names, by path or by module, or those that are found."""
    if pairs is None:
        found = adjacent_layers(model)
        if not found:
            raise ValueError(
                f"{caller}: found no two adjacent layers in {type(model).__name__}; pass "
                "pairs=[(path of the first, path of the second), ...]"
            )
        return found
    paths = {id(module): path for path, module in model.named_modules()}
    made = []
    for group in pairs:
        names = [each if isinstance(each, str) else paths.get(id(each)) for each in group]
        if None in names:
            which = type(group[names.index(None)]).__name__
            raise ValueError(f"{caller}: pairs names a {which} that is no module of the model")
        made += [Pair(*both) for both in _neighbours([str(name) for name in names])]
    for pair in made:
        for path in pair[:2]:
            if layer_of(model.get_submodule(path)) is None:
                kind = type(model.get_submodule(path)).__name__
                raise TypeError(
                    f"{caller}: {path!r} in pairs must be a linear or convolution layer, got {kind}"
                )
    return made


def _neighbours(names: list[str]) -> Iterator[tuple[str, str]]:
    return pairwise(names)
